// A process that compares accounts as `dimsync drift` does, one after the other: prints the processor time of
// one in ms, as JSON. Its argument is JSON: `library` (the path of index.js), `targets` ({ cwd, target }),
// `perSecond` (how many of them are started, as the controller spreads them), `seconds`.
import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";

const { library, targets, perSecond, seconds } = JSON.parse(process.argv[2]);
const { loadProject, drift } = await import(library);
const { env } = process;
const load = (each) => loadProject({ ...each, env });

/** Processor time in ms, with the programs that it ran, such as git. */
function cpuMs() {
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1].split(" ").map(Number);
  return (fields[11] + fields[12] + fields[13] + fields[14]) * 10;
}

/** Mean processor time of `once` for the targets, which starts `perSecond` times a second. */
async function measured(inputs, once) {
  const pass = async (count, paced) => {
    const started = performance.now();
    for (let index = 0; index < count; index++) {
      if (paced) await wait(Math.max(0, started + (index * 1000) / perSecond - performance.now()));
      await once(inputs[index % inputs.length]);
    }
  };
  await pass(200, false);
  const count = Math.round(perSecond * seconds);
  const before = cpuMs();
  await pass(count, true);
  return (cpuMs() - before) / count;
}

const loaded = await Promise.all(targets.map(load));
const driftMs = await measured(loaded, (project) => drift(project, { env }));
const withLoadMs = await measured(targets, async (each) => drift(await load(each), { env }));
console.log(JSON.stringify({ driftMs, withLoadMs }));
