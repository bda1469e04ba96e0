// A process that compares accounts as `dimsync drift` does, one after the other: prints the processor time of
// one in ms, as JSON. Its argument is JSON: `library` (the path of index.js), `targets` ({ cwd, target }),
// `perSecond` (how many of them are started, as the controller spreads them), `seconds`.
import { setTimeout as wait } from "node:timers/promises";

const { library, targets, perSecond, seconds } = JSON.parse(process.argv[2]);
const { loadProject, drift } = await import(library);
const { env } = process;
const load = (each) => loadProject({ ...each, env });
const loaded = await Promise.all(targets.map(load));

const variants = [
  { name: "driftMs", once: (index) => drift(loaded[index], { env }), ms: 0 },
  { name: "withLoadMs", once: async (index) => drift(await load(targets[index]), { env }), ms: 0 },
];
// Warm, and then in turn, so that both see the same machine. Programs that it runs, such as git, do not count.
for (let index = 0; index < 300; index++) await variants[index % 2].once(index % targets.length);
const count = Math.round((perSecond * seconds) / 2);
const started = performance.now();
for (let index = 0; index < 2 * count; index++) {
  const variant = variants[index % 2];
  await wait(Math.max(0, started + (index * 1000) / perSecond - performance.now()));
  const before = process.cpuUsage();
  await variant.once((index >> 1) % targets.length);
  const { user, system } = process.cpuUsage(before);
  variant.ms += (user + system) / 1000 / count;
}
console.log(JSON.stringify(Object.fromEntries(variants.map(({ name, ms }) => [name, ms]))));
