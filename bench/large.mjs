// W8: one large integration with a literal tree. W10: first plans of many small manifests.
import { account, integrationName, literalManifest, schemaMap, tagName } from "./account.mjs";
import { peakMemory, roundRobin, runOnce } from "./measure.mjs";
import { dimsync, floor, floorOf, writeProject } from "./project.mjs";
import { expectCounts, mib, table, times, wall } from "./table.mjs";

export async function w8(bench) {
  const shape = { integrations: 1, schemas: 1, tables: bench.size(4_000), columns: 100 };
  await bench.begin({ shape, warm: true });
  const text = literalManifest("large", integrationName(0), schemaMap(shape));
  const folder = writeProject(bench, "w8", { "manifests/large.yaml": text });
  const contestants = [
    floor(bench, shape.integrations),
    { name: "dimsync plan, no change", ...dimsync(bench, folder, "plan", "--detailed-exitcode") },
  ];
  const runs = Math.min(bench.runs, 3);
  const walls = await roundRobin(contestants, runs);
  const rows = [["W8: one integration, 4,000 literal tables × 100 columns", "wall ms", "to F", "peak MiB"]];
  for (const contestant of contestants) {
    const own = walls[contestant.name];
    rows.push([contestant.name, wall(own), times(own, walls.F), mib(await peakMemory(contestant))]);
  }
  return `${table(rows)}\n\n${(text.length / 1e6).toFixed(1)} MB of YAML in one file. ${runs} runs; memory of one.`;
}

const header = (kind, name) => `apiVersion: dimsync/v1\nkind: ${kind}\nmetadata: { name: ${name} }\n`;

/** A tag that gets 500 resources. */
function tagManifest(i) {
  const resources = Array.from({ length: 500 }, (_, r) => `    - monitor: { id: m-${r} }\n`).join("");
  return `${header("Tag", `tag-${i}`)}spec:\n  name: ${tagName(i)}\n  taggedBy: bot@example.com\n  resources:\n${resources}`;
}

/** An integration that is found by its name, and its SchemaConfig, which needs no change. */
function integrationManifests(i, map) {
  const name = integrationName(i);
  return `${header("Integration", name)}spec: { match: { name: ${name} } }\n---\n${literalManifest(name, name, map)}`;
}

/** The first plan of so many, and of half as many: the ratio is 2 if the time grows linearly. */
async function growth(bench, { name, count, begin, manifest, paths, summary }) {
  const planOf = (many) => {
    const folder = writeProject(bench, `w10-${name}-${many}`, {
      "manifests/all.yaml": Array.from({ length: many }, (_, i) => manifest(i)).join("---\n"),
    });
    return { name: `${many.toLocaleString("en")} ${name}`, ...dimsync(bench, folder, "plan", "-q", ...allowed), before: () => begin(many) };
  };
  const half = planOf(Math.ceil(count / 2));
  const whole = planOf(count);
  const least = { ...floorOf(bench, paths), before: whole.before };
  await whole.before();
  await bench.counts();
  const { text } = await runOnce(whole);
  if (!text.includes(summary)) throw new Error(`The plan has no "${summary}":\n${text.slice(0, 2000)}`);
  expectCounts(await bench.counts(), { GET: paths.length }, name);
  const runs = Math.min(bench.runs, 3);
  const walls = await roundRobin([least, half, whole], runs);
  const rows = [];
  for (const contestant of [half, whole]) {
    const own = walls[contestant.name];
    const ratio = contestant === whole ? times(own, walls[half.name]) : "";
    rows.push([contestant.name, wall(own), ratio, contestant === whole ? times(own, walls.F) : "", mib(await peakMemory(contestant))]);
  }
  return rows;
}

const allowed = ["--allow", "maxChangedPercent=measured"];

export async function w10(bench) {
  const tags = bench.size(200);
  const integrations = bench.size(6_000);
  const small = { schemas: 1, tables: 2, columns: 5 };
  const map = schemaMap(small);
  const begin = (shape) => bench.beginOnce({ shape: { ...small, ...shape }, warm: true });
  const rows = [
    ["W10: first plan", "wall ms", "to half", "to F", "peak MiB"],
    ...(await growth(bench, {
      name: "tags × 500 resources",
      count: tags,
      begin: (many) => begin({ integrations: 1, tags: many }),
      manifest: tagManifest,
      summary: `${tags * 500} changes`,
      paths: ["/v1/tags", "/v1/users", ...account({ integrations: 0, tags }).tags.map(({ id }) => `/v1/tags/${id}`)],
    })),
    ...(await growth(bench, {
      name: "integrations with their SchemaConfigs",
      count: integrations,
      begin: (many) => begin({ integrations: many }),
      manifest: (i) => integrationManifests(i, map),
      summary: `${integrations} to record`,
      paths: ["/v1/integrations", ...account({ integrations }).integrations.map(({ id }) => `/v1/integrations/${id}/schemas`)],
    })),
  ];
  return `${table(rows)}\n\n${Math.min(bench.runs, 3)} runs; memory of one.`;
}
