// W1 and W2: 50 integrations × 100 tables × 10 columns, each with a literal SchemaConfig in its own
// file.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { integrationId, integrationName, literalManifest, schemaMap } from "./account.mjs";
import { peakMemory, roundRobin, runOnce } from "./measure.mjs";
import { dimsync, floor, writeProject } from "./project.mjs";
import { expectCounts, mib, table, times, wall } from "./table.mjs";
import { missingForTerraform, terraformProjects } from "./terraform.mjs";

export const shape = { integrations: 50, schemas: 1, tables: 100, columns: 10 };

/** Writes the project. `reference(i)` names integration i. The JSON copies are for jq, and `manifests` has the text and the schemas of each. */
export function literalProject(bench, name, { reference = integrationName } = {}) {
  const map = schemaMap(shape);
  const files = {};
  const manifests = [];
  let bytes = 0;
  for (let i = 0; i < shape.integrations; i++) {
    const text = literalManifest(integrationName(i), reference(i), map);
    bytes += text.length;
    files[`manifests/${integrationName(i)}.yaml`] = text;
    const manifest = parse(text);
    files[`json/${integrationName(i)}.json`] = JSON.stringify(manifest);
    manifests.push({ text, schemas: manifest.spec.schemas });
  }
  return { folder: writeProject(bench, name, files), bytes, manifests };
}

function others(bench, folder, env = {}) {
  const schema = join(bench.root, "schema/schema-config.schema.json");
  const naive = [join(bench.root, "bench/naive.mjs"), bench.base, bench.key, join(folder, "manifests"), schema];
  return [
    { name: "naive Node script", command: [process.execPath, ...naive], env },
    { name: "bash + curl + jq", command: ["bash", join(bench.root, "bench/curl-jq.sh"), bench.base, bench.key, join(folder, "json")], env },
  ];
}

/** A row that says what Terraform needs, if it cannot be measured here. */
function terraformMissing() {
  const missing = missingForTerraform();
  return missing === undefined ? [] : [["Terraform (lean provider)", missing, "", "", ""]];
}

/** Runs a contestant once. Throws if the service receives anything but these requests. */
async function expectRequests(bench, contestant, wanted) {
  await contestant.before?.();
  await bench.counts();
  await runOnce(contestant);
  expectCounts(await bench.counts(), wanted, contestant.name);
}

const forget = (folder) => {
  for (const name of [".dimsync", ".cache"]) rmSync(join(folder, name), { recursive: true, force: true });
};

export async function w1(bench) {
  await bench.begin({ shape, warm: true });
  const { folder, bytes, manifests } = literalProject(bench, "w1");
  const byId = literalProject(bench, "w1-ids", { reference: (i) => `{ id: ${integrationId(i)} }` });
  const planIn = (name, project) => ({ name, ...dimsync(bench, project, "plan", "--detailed-exitcode") });
  const plan = { ...planIn("dimsync plan", folder), before: () => forget(folder) };

  await expectRequests(bench, plan, { GET: shape.integrations + 1 });
  // The address of schemas has the name of the live integration, which only the list shows.
  await expectRequests(bench, planIn("dimsync plan, by id", byId.folder), { GET: shape.integrations + 1 });

  const terraform = await terraformProjects(bench, "w1", { manifests, args: ["plan", "-detailed-exitcode"] });
  for (const each of terraform) await expectRequests(bench, each, { GET: shape.integrations });
  const contestants = [
    { name: "node -e 0", command: [process.execPath, "-e", "0"] },
    floor(bench, shape.integrations),
    plan,
    ...others(bench, folder),
    ...terraform,
  ];
  const walls = await roundRobin(contestants, bench.runs);
  const rows = [["W1: plan, no change", "wall ms", "peak MiB", "to F", "to a plan"]];
  for (const contestant of contestants) {
    const { name } = contestant;
    const peak = mib(await peakMemory(contestant, Math.min(bench.runs, 3)));
    rows.push([name, wall(walls[name]), peak, times(walls[name], walls.F), times(walls[name], walls[plan.name])]);
  }
  rows.push(...terraformMissing());
  return `${table(rows)}\n\n${(bytes / 1e6).toFixed(1)} MB of YAML in ${shape.integrations} files. Requests: ${shape.integrations + 1}, by name and by id (checked). Before each plan, the project's .dimsync folder and cache are removed.`;
}

export async function w2(bench) {
  const { folder, manifests } = literalProject(bench, "w2");
  // Both changes expose, so that they fit in one PATCH; 55 columns exceed the guard's limit.
  const unchanged = () => bench.begin({ shape, warm: true });
  const changed = () => bench.begin({ shape, warm: true, changed: [3, 13, 23, 33, 43] });
  const apply = {
    name: "dimsync apply",
    ...dimsync(bench, folder, "apply", "--yes", "--allow", "maxExposedColumns=measured"),
    before: changed,
  };
  const plan = { name: "dimsync plan, no change", ...dimsync(bench, folder, "plan"), before: unchanged };

  await expectRequests(bench, apply, { GET: 56, PATCH: 5 });
  await runOnce({ ...plan, command: [...plan.command, "--detailed-exitcode"] });

  await unchanged();
  const terraform = await terraformProjects(bench, "w2", { manifests, args: ["apply", "-auto-approve"] });
  const peers = [...others(bench, folder, { BENCH_APPLY: "1" }), ...terraform].map(({ before, ...other }) => ({
    ...other,
    before: async () => {
      before?.();
      await changed();
    },
  }));
  for (const each of peers.filter(({ name }) => name.startsWith("Terraform")))
    await expectRequests(bench, each, { GET: shape.integrations, PATCH: 5 });
  const contestants = [plan, apply, ...peers];
  const walls = await roundRobin(contestants, bench.runs);
  const rows = [["W2: plan + apply, 5 of 50 differ", "wall ms", "peak MiB", "to own W1", "to dimsync apply"]];
  for (const contestant of contestants) {
    const { name } = contestant;
    const peak = mib(await peakMemory(contestant, Math.min(bench.runs, 3)));
    const toPlan = peers.includes(contestant) ? "" : times(walls[name], walls[plan.name]);
    rows.push([name, wall(walls[name]), peak, toPlan, times(walls[name], walls[apply.name])]);
  }
  rows.push(...terraformMissing());
  return `${table(rows)}\n\nRequests: 51 GET to plan, one GET before each of 5 PATCH: 61 (checked). A plan afterwards is empty.`;
}
