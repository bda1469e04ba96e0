// A plan is the same on disk, in memory and after apply, whatever its size.
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { eachChange } from "../../../src/core/base/model/changes.ts";
import { canonicalJson } from "../../../src/core/base/model/json/json.ts";
import type { Plan } from "../../../src/core/base/model/plan.ts";
import { readPlanFile, writePlanFile } from "../../../src/core/records/plan-file.ts";
import { renderers } from "../../../src/core/render/index.ts";
import { type AccountState, seedAccount } from "../../../src/embedded/index.ts";
import { inOneFile, withProject } from "../../properties/run.ts";
import { runs } from "../../support/sample.ts";
import { outcomes, readySteps } from "../../support/steps.ts";

/** An integration with so many unhashed columns in tables of a hundred. */
function accountWith(count: number): AccountState {
  const account = seedAccount();
  const [first] = account.integrations;
  if (first === undefined) throw new Error("The seeded account has no integration.");
  const column = { nameInDestination: "c", enabled: true, hashed: false, isPrimaryKey: false };
  const columnsOf = (table: number) =>
    Object.fromEntries(Array.from({ length: Math.min(100, count - table * 100) }, (_, i) => [`column_${i}`, { ...column }]));
  const tables = Object.fromEntries(
    Array.from({ length: Math.ceil(count / 100) }, (_, table) => [
      `table_${table}`,
      { nameInDestination: "t", enabled: true, syncMode: "full_refresh", columns: columnsOf(table) },
    ]),
  );
  account.integrations = [{ ...first, schemas: { public: { nameInDestination: "public", enabled: true, tables } } }];
  return account;
}

const manifests = inOneFile([
  {
    apiVersion: "dimsync/v1",
    kind: "SchemaConfig",
    metadata: { name: "fleet" },
    spec: { integrations: { names: ["*"] }, rules: [{ id: "all", match: { column: "column_*" }, set: { hashed: true } }] },
  },
]);

const requestsOf = (made: Plan): readonly string[] =>
  readySteps(made)
    .flatMap(({ requests }) => requests.map(({ method, path, body }) => `${method} ${path} ${canonicalJson(body)}`))
    .sort();

describe("a plan, the saved plan, and the result of applying it are the same", () => {
  test.each([1, 7, 8, 30, runs(500, 100_000)])("with %i changes", async (count) => {
    await withProject(accountWith(count), manifests, "camel", async ({ plan, apply, calls, folder }) => {
      const made = await plan();
      expect(readySteps(made).map(({ changes }) => changes)).toMatchObject([[{ field: "hashed", count, cause: { rule: "all" } }]]);
      const file = join(folder, "plan.json");
      await writePlanFile(file, made);
      const saved = await readPlanFile(file);
      expect(canonicalJson(saved)).toBe(canonicalJson(made));
      for (const format of ["human", "json", "markdown", "github"] as const)
        expect(renderers[format](saved, { color: false, verbose: false })).toBe(renderers[format](made, { color: false, verbose: false }));
      calls();
      const result = await apply({ saved });
      expect(outcomes(result).map(({ outcome, code, message }) => ({ outcome, code, message }))).toEqual([{ outcome: "done" }]);
      expect(outcomes(result)).toMatchObject([{ changes: readySteps(made)[0]?.changes }]);
      expect([...eachChange(outcomes(result)[0] ?? { changes: [] })]).toHaveLength(count);
      const sent = calls().filter(({ method }) => method !== "GET");
      expect(sent.map(({ method, path, requestBody }) => `${method} ${path} ${canonicalJson(requestBody)}`).sort()).toEqual(
        requestsOf(made),
      );
      expect(readySteps(await plan())).toEqual([]);
    });
  });
});
