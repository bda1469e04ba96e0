// W1 and W2: 50 integrations × 100 tables × 10 columns, each with a literal SchemaConfig in its own
// file.
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { integrationId, integrationName, literalManifest, schemaMap } from "./account.mjs";
import { peakMemory, roundRobin, runOnce } from "./measure.mjs";
import { dimsync, floor, writeProject } from "./project.mjs";
import { expectCounts, mib, table, times, wall } from "./table.mjs";

export const shape = { integrations: 50, schemas: 1, tables: 100, columns: 10 };

/** Writes the project. `reference(i)` names integration i; `change` edits the text of each manifest. The JSON copies are for jq. */
export function literalProject(bench, name, { reference = integrationName, change = (text) => text } = {}) {
  const map = schemaMap(shape);
  const files = {};
  let bytes = 0;
  for (let i = 0; i < shape.integrations; i++) {
    const text = change(literalManifest(integrationName(i), reference(i), map));
    bytes += text.length;
    files[`manifests/${integrationName(i)}.yaml`] = text;
    files[`json/${integrationName(i)}.json`] = JSON.stringify(parse(text));
  }
  return { folder: writeProject(bench, name, files), bytes };
}

function others(bench, folder, env = {}) {
  const schema = join(bench.root, "schema/schema-config.schema.json");
  const naive = [join(bench.root, "bench/naive.mjs"), bench.base, bench.key, join(folder, "manifests"), schema];
  return [
    { name: "naive Node script", command: [process.execPath, ...naive], env },
    { name: "bash + curl + jq", command: ["bash", join(bench.root, "bench/curl-jq.sh"), bench.base, bench.key, join(folder, "json")], env },
  ];
}

/** Terraform can only plan this with a provider for the service, and there is none. */
function terraformRow() {
  try {
    const [version] = execFileSync("terraform", ["version"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).split("\n");
    return [version, "no provider"];
  } catch {
    return ["Terraform", "not installed"];
  }
}

/** In one file each: what the fast YAML reader once left to the library. */
const unusual = {
  "a block scalar in each file": (text) => text.replace("metadata:\n", "metadata:\n  labels:\n    note: |\n      Ask the data team.\n"),
  "an anchor in each file": (text) => text.replace(/enabled: true([\s\S]*?)enabled: true/, "enabled: &on true$1enabled: *on"),
};

const forget = (folder) => {
  for (const name of [".dimsync", ".cache"]) rmSync(join(folder, name), { recursive: true, force: true });
};

export async function w1(bench) {
  await bench.begin({ shape, warm: true });
  const { folder, bytes } = literalProject(bench, "w1");
  const byId = literalProject(bench, "w1-ids", { reference: (i) => `{ id: ${integrationId(i)} }` });
  const planIn = (name, project) => ({ name, ...dimsync(bench, project, "plan", "--detailed-exitcode") });
  const plan = { ...planIn("dimsync plan, first run on a machine", folder), before: () => forget(folder) };

  await plan.before();
  await bench.counts();
  await runOnce(plan);
  expectCounts(await bench.counts(), { GET: shape.integrations + 1 }, "W1 by name");
  await runOnce(planIn("by id", byId.folder));
  // The address of schemas has the name of the live integration, which only the list shows.
  expectCounts(await bench.counts(), { GET: shape.integrations + 1 }, "W1 by id");

  // Node 20 keeps no compiled code.
  const compiled = planIn("dimsync plan, compiled code kept", literalProject(bench, "w1-compiled").folder);
  await runOnce(compiled);
  const odd = Object.entries(unusual).map(([name, change], i) => {
    const project = literalProject(bench, `w1-unusual-${i}`, { change }).folder;
    return { ...planIn(`dimsync plan, ${name}`, project), before: () => forget(project) };
  });
  const peers = others(bench, folder);
  const contestants = [
    { name: "node -e 0", command: [process.execPath, "-e", "0"] },
    floor(bench, shape.integrations),
    plan,
    compiled,
    ...odd,
    ...peers,
  ];
  const walls = await roundRobin(contestants, bench.runs);
  const rows = [["W1: plan, no change", "wall ms", "peak MiB", "to F", "to a first plan"]];
  for (const contestant of contestants) {
    const { name } = contestant;
    const peak = mib(await peakMemory(contestant, Math.min(bench.runs, 3)));
    rows.push([name, wall(walls[name]), peak, times(walls[name], walls.F), times(walls[name], walls[plan.name])]);
  }
  rows.push([...terraformRow(), "", "", ""]);
  return `${table(rows)}\n\n${(bytes / 1e6).toFixed(1)} MB of YAML in ${shape.integrations} files. Requests: ${shape.integrations + 1}, by name and by id (checked). Before each plan but those of the row "kept", the project's .dimsync folder and cache are removed.`;
}

export async function w2(bench) {
  const { folder } = literalProject(bench, "w2");
  // Both changes expose, so that they fit in one PATCH; 55 columns exceed the guard's limit.
  const unchanged = () => bench.begin({ shape, warm: true });
  const changed = () => bench.begin({ shape, warm: true, changed: [3, 13, 23, 33, 43] });
  const apply = {
    name: "dimsync apply",
    ...dimsync(bench, folder, "apply", "--yes", "--allow", "maxExposedColumns=measured"),
    before: changed,
  };
  const plan = { name: "dimsync plan, no change", ...dimsync(bench, folder, "plan"), before: unchanged };

  await apply.before();
  await bench.counts();
  await runOnce(apply);
  expectCounts(await bench.counts(), { GET: 56, PATCH: 5 }, "W2");
  await runOnce({ ...plan, command: [...plan.command, "--detailed-exitcode"] });

  const peers = others(bench, folder, { BENCH_APPLY: "1" }).map((other) => ({ ...other, before: changed }));
  const contestants = [plan, apply, ...peers];
  const walls = await roundRobin(contestants, bench.runs);
  const rows = [["W2: plan + apply, 5 of 50 differ", "wall ms", "peak MiB", "to own W1", "to dimsync apply"]];
  for (const contestant of contestants) {
    const { name } = contestant;
    const peak = mib(await peakMemory(contestant, Math.min(bench.runs, 3)));
    const toPlan = peers.includes(contestant) ? "" : times(walls[name], walls[plan.name]);
    rows.push([name, wall(walls[name]), peak, toPlan, times(walls[name], walls[apply.name])]);
  }
  return `${table(rows)}\n\nRequests: 51 GET to plan, one GET before each of 5 PATCH: 61 (checked). A plan afterwards is empty.`;
}
