// Renaming, moving and deleting manifests never makes a reviewed column new, or an unreviewed one reviewed.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { eachChange } from "../../src/core/base/model/changes.ts";
import { findingsOf } from "../../src/core/base/model/findings.ts";
import type { Plan } from "../../src/core/base/model/plan.ts";
import { reviewedIn } from "../../src/core/columns/catalog/blocks.ts";
import { readCatalog } from "../../src/core/columns/catalog/file.ts";
import { runCommand } from "../support/command.ts";
import fc from "../support/fast-check.ts";
import { configText, keyVariable, writeProject } from "../support/project-folder.ts";
import { runs } from "../support/sample.ts";
import { startService } from "../support/service.ts";
import { readySteps } from "../support/steps.ts";

const ids = ["8f1c", "b27d", "51a1", "51a2"];

/** By live id. */
interface World {
  /** The name in the manifest of the integration, pinned to the id; undefined: it has none. */
  readonly names: Map<string, string | undefined>;
  /** The file of the manifest. */
  readonly files: Map<string, string>;
  /** Whether the integration has a SchemaConfig of its own, with a higher priority. */
  readonly own: Set<string>;
  /** What the service calls the integration. */
  readonly liveNames: Map<string, string>;
}

/** Renaming, moving, deleting and restoring manifests, renaming integrations in the service, and accepting in between. */
const step = fc.oneof(
  fc.record({ type: fc.constant("rename manifest" as const), id: fc.constantFrom(...ids), name: fc.constantFrom("a", "b", "c", "d") }),
  fc.record({ type: fc.constant("move manifest" as const), id: fc.constantFrom(...ids), name: fc.constantFrom("x", "y/z", "w") }),
  fc.record({ type: fc.constant("delete manifest" as const), id: fc.constantFrom(...ids), name: fc.constant("") }),
  fc.record({ type: fc.constant("own SchemaConfig" as const), id: fc.constantFrom(...ids), name: fc.constant("") }),
  fc.record({
    type: fc.constant("rename live" as const),
    id: fc.constantFrom(...ids),
    name: fc.constantFrom("a", "Shop", "Orders", "Billing 2"),
  }),
  fc.record({ type: fc.constant("accept" as const), id: fc.constantFrom(...ids), name: fc.constant("") }),
);

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

function change({ names, files, own, liveNames }: World, { type, id, name }: Step): void {
  if (type === "rename manifest" && ![...names.values()].includes(name)) names.set(id, name);
  if (type === "move manifest") files.set(id, name);
  if (type === "delete manifest") names.set(id, undefined);
  if (type === "rename live") liveNames.set(id, name);
  if (type === "own SchemaConfig" && !own.delete(id)) own.add(id);
}

const fleet = `apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: fleet }
spec: { integrations: { names: ["*"] }, unreviewed: disable }
`;

const manifestsOf = ({ names, files, own }: World): Readonly<Record<string, string>> => ({
  "manifests/fleet.yaml": fleet,
  ...Object.fromEntries(
    ids.map((id) => {
      const name = names.get(id);
      const integration = `apiVersion: dimsync/v1\nkind: Integration\nmetadata: { name: ${name}, id: "${id}" }\nspec: {}\n`;
      const config = `---\napiVersion: dimsync/v1\nkind: SchemaConfig\nmetadata: { name: own-${id} }\nspec: { integration: { id: "${id}" }, priority: 5 }\n`;
      return [`manifests/${files.get(id)}-${id}.yaml`, `${name === undefined ? "" : integration}${own.has(id) ? config : ""}`];
    }),
  ),
});

/** The reviewed tables of each integration, without names. */
function tablesIn(text: string): unknown {
  const { catalog = [] } = readCatalog(text, { file: "c.yaml" });
  return new Map([...reviewedIn(catalog)].map(([id, { tables }]) => [id, tables]));
}

test("renaming, moving and deleting manifests never makes a reviewed column new or an unreviewed one reviewed, and only switches off that", async () => {
  const service = await startService();
  onTestFinished(() => service.close());
  const config = configText(service.url, { catalog: "c.yaml" });
  const folder = writeProject({ "dimsync.yaml": config, "manifests/fleet.yaml": fleet });
  const run = (...argv: readonly string[]) => runCommand([...argv, "-q"], folder, { [keyVariable]: service.apiKey });
  const accepted = await run("catalog", "accept", "--all");
  expect(accepted.code).toBe(0);
  const catalog = readFileSync(join(folder, "c.yaml"), "utf8");
  const liveNames = new Map(service.state().integrations.map(({ id, name }) => [id, name]));
  // One column that nobody has reviewed.
  service.mutate(({ integrations }) => {
    const { columns = {} } = integrations.find(({ id }) => id === "8f1c")?.schemas["public"]?.tables["customers"] ?? {};
    columns["extra"] = { nameInDestination: "extra", enabled: true, hashed: false, isPrimaryKey: false };
  });
  expect(await run("catalog", "accept", "--all")).toMatchObject({ code: 0 });
  const [before, after] = [tablesIn(catalog), tablesIn(readFileSync(join(folder, "c.yaml"), "utf8"))];
  const steps = fc.array(step, { minLength: 1, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const world: World = {
        names: new Map(ids.map((id, index) => [id, index % 2 === 0 ? `m-${id}` : undefined])),
        files: new Map(ids.map((id) => [id, "first"])),
        own: new Set(),
        liveNames: new Map(liveNames),
      };
      writeFileSync(join(folder, "c.yaml"), catalog);
      let isAccepted = false;
      for (const one of all) {
        change(world, one);
        service.mutate((state) => {
          for (const integration of state.integrations) integration.name = world.liveNames.get(integration.id) ?? integration.name;
        });
        rmSync(join(folder, "manifests"), { recursive: true });
        for (const [path, text] of Object.entries(manifestsOf(world))) {
          mkdirSync(dirname(join(folder, path)), { recursive: true });
          writeFileSync(join(folder, path), text);
        }
        if (one.type === "accept") expect(await run("catalog", "accept", "--all")).toMatchObject({ code: 0 });
        isAccepted ||= one.type === "accept";
        expect(tablesIn(readFileSync(join(folder, "c.yaml"), "utf8"))).toEqual(isAccepted ? after : before);
        const { stdout } = await run("plan", "--protect-only", "-o", "json");
        const plan = JSON.parse(stdout) as Plan;
        expect(plan).toMatchObject({ complete: true });
        const extra = isAccepted ? [] : ["/schemas/public/tables/customers/columns/extra"];
        expect(findingsOf(plan, "columns").map(({ rule, path }) => [rule, path])).toEqual(extra.map((path) => ["new-column", path]));
        const ofSchemas = readySteps(plan).filter(({ address }) => address.startsWith("Schemas/"));
        expect(ofSchemas.flatMap((item) => [...eachChange(item)].map(({ path, after: value }) => [path, value]))).toEqual(
          extra.map((path) => [`${path}/enabled`, false]),
        );
      }
    }),
    { numRuns: runs(4, 200) },
  );
});
