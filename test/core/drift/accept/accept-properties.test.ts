// After drift is accepted nothing differs, and every comment and variable is still there.

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { acceptDrift, writeEdits } from "../../../../src/core/drift/accept/accept.ts";
import { seedAccount } from "../../../../src/embedded/index.ts";
import { apply, drift, loadProject } from "../../../../src/index.ts";
import fc from "../../../support/fast-check.ts";
import { diagnosticsOf } from "../../../support/findings.ts";
import { configText, writeProject } from "../../../support/project-folder.ts";
import { runs } from "../../../support/sample.ts";
import { startService } from "../../../support/service.ts";
import { readySteps } from "../../../support/steps.ts";
import { env } from "../account.ts";

const reference = (name: string): string => `"$\{var.${name}}"`;
const columns = [
  ["8f1c", "users", "email"],
  ["8f1c", "users", "display_name"],
  ["8f1c", "customers", "email"],
  ["8f1c", "customers", "phone"],
  ["51a1", "payments", "iban"],
  ["51a2", "payments", "iban"],
] as const;

/** A literal tree of some columns, a comment on every line. */
const tree = fc.subarray(columns.filter(([id]) => id === "8f1c").map(([, table, column]) => [table, column] as const));
const literals = fc.tuple(tree, fc.boolean()).map(([chosen, isFlow]) => {
  const lines = ["users", "customers"].flatMap((table) => {
    const ofTable = chosen.filter(([name]) => name === table);
    if (ofTable.length === 0) return [];
    return isFlow
      ? [`        ${table}: { columns: { ${ofTable.map(([, column]) => `${column}: { hashed: true }`).join(", ")} } } # why`]
      : [
          `        ${table}: # why`,
          "          # above",
          "          columns: # these",
          ...ofTable.flatMap(([, column]) => [`            ${column}: # ${column}`, `              hashed: true # value`]),
        ];
  });
  return lines.length === 0 ? "" : ["  schemas: # tree", "    public:", "      tables:", ...lines, "  # end", ""].join("\n");
});
const match = fc.constantFrom(
  "{ match: { column: email }, set: { hashed: true } } # rule",
  `{ match: { column: "*name*" }, set: { hashed: true } } # rule`,
  "{ match: { table: payments, column: iban }, set: { hashed: true } } # rule",
  "{ match: { table: users, column: email }, set: { hashed: false } } # rule",
  "{ use: pii } # set",
);
const rules = fc
  .array(match, { maxLength: 3 })
  .map((list) => (list.length === 0 ? "" : `  rules:\n${list.map((rule) => `    - ${rule}\n`).join("")}`));

const config = (name: string, selects: string, body: readonly [number, string, string]): string =>
  `# ${name}\napiVersion: dimsync/v1\nkind: SchemaConfig\nmetadata: { name: ${name} } # name\nspec:\n  ${selects}\n  priority: ${body[0]} # order\n${body[1]}${body[2]}`;
const integration = `# ours\napiVersion: dimsync/v1\nkind: Integration\nmetadata: { name: orders } # name\nspec: { match: { name: ${reference("orders")} } } # match\n`;
const pii =
  "apiVersion: dimsync/v1\nkind: RuleSet\nmetadata: { name: pii } # set\nspec:\n  rules:\n    - { match: { column: phone }, set: { hashed: true } } # phones\n";

const world = fc.record({
  priorities: fc.shuffledSubarray([1, 2, 3], { minLength: 3, maxLength: 3 }),
  fleet: fc.tuple(rules, fc.constant("")),
  own: fc.tuple(rules, literals),
  other: fc.option(fc.tuple(rules, literals), { nil: undefined }),
  changed: fc.subarray([...columns], { minLength: 1 }),
});

test("after drift is accepted, nothing differs, and every comment and variable is still there", async () => {
  const service = await startService();
  onTestFinished(() => service.close());
  const guards = { maxExposedColumns: 1000, maxChangedPercent: 100 };
  const folder = writeProject({ "dimsync.yaml": configText(service.url, { guards, vars: { orders: "Orders" } }) });
  const manifests = join(folder, "manifests");
  const text = (): string =>
    readdirSync(manifests)
      .map((name) => readFileSync(join(manifests, name), "utf8"))
      .join("");
  const kept = (all: string): readonly string[] =>
    (all.match(/#.*|\$\{[^}]*\}/gu) ?? []).filter((one) => !one.startsWith("# Accepted")).sort();
  const load = () => loadProject({ cwd: folder, env: env(service) });
  await fc.assert(
    fc.asyncProperty(world, async ({ priorities: [first = 1, second = 2, third = 3], fleet, own, other, changed }) => {
      // What an earlier project kept is not this one's.
      for (const path of [manifests, join(folder, ".dimsync")]) rmSync(path, { recursive: true, force: true });
      mkdirSync(manifests);
      writeFileSync(
        join(manifests, "fleet.yaml"),
        config("fleet", 'integrations: { names: ["*"] } # all\n  missing: ignore', [first, ...fleet]),
      );
      writeFileSync(join(manifests, "rules.yaml"), pii);
      writeFileSync(join(manifests, "orders.yaml"), `${integration}---\n${config("own", "integration: orders # one", [second, ...own])}`);
      if (other !== undefined) writeFileSync(join(manifests, "more.yaml"), config("more", "integration: orders", [third, ...other]));
      service.mutate((state) => Object.assign(state, seedAccount()));
      const applied = await apply(await load(), { env: env(service) });
      expect(diagnosticsOf(applied).filter(({ severity }) => severity === "error")).toEqual([]);
      expect(applied.exit).toEqual({ code: 0, reasons: [] });
      service.mutate((state) => {
        for (const [id, table, name] of changed) {
          const column = state.integrations.find((one) => one.id === id)?.schemas["public"]?.tables[table]?.columns[name];
          if (column === undefined) throw new Error(`no column ${table}.${name}`);
          column.hashed = !column.hashed;
        }
      });
      const before = text();
      const report = await drift(await load(), { env: env(service), attribution: false });
      const { edits, accepted, unaccepted } = await acceptDrift(report, await load(), folder);
      await writeEdits(edits);
      expect(kept(text())).toEqual(kept(before));
      expect(unaccepted).toEqual([]);
      // Nothing else than the values changed in documents that exist.
      const rest = await drift(await load(), { env: env(service), attribution: false });
      expect(diagnosticsOf(rest).filter(({ severity }) => severity === "error")).toEqual([]);
      const left = readySteps(rest)
        .filter(({ verb }) => verb !== "bind")
        .flatMap(({ changes }) => changes.map((one) => ("count" in one ? one.count : 1)));
      expect(left.reduce((sum, count) => sum + count, 0)).toBe(0);
      if (accepted.length === 0) expect(text()).toBe(before);
    }),
    { numRuns: runs(6, 500) },
  );
});
