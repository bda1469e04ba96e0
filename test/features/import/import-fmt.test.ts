import { expect, test } from "vitest";
import type { AccountState, SchemaMap } from "../../../src/embedded/index.ts";
import { seedAccount } from "../../../src/embedded/index.ts";
import { runFmt } from "../../../src/features/fmt/command.ts";
import type { FmtFlags } from "../../../src/features/fmt/index.ts";
import { openAccountProject } from "../../support/accounts/project.ts";

const column = { nameInDestination: "c", enabled: true, hashed: false, isPrimaryKey: false };

/** Tables, every third one disabled, with names that do not fit on one line. */
function manyTables(count: number, prefix: string): SchemaMap {
  const tables = Array.from({ length: count }, (_, index) => {
    const columns = { id: column, [`${prefix} e-mail`]: { ...column, hashed: true } };
    return [`${prefix}_${index}`, { nameInDestination: "t", enabled: index % 3 > 0, syncMode: "full", columns }];
  });
  return { [prefix]: { nameInDestination: "s", enabled: true, tables: Object.fromEntries(tables) } };
}

function withSchemas(schemas: SchemaMap): AccountState {
  const state = seedAccount();
  const [first] = state.integrations;
  if (first !== undefined) first.schemas = schemas;
  return state;
}

test.each<readonly [sentence: string, state: () => AccountState]>([
  ["the account of the examples", seedAccount],
  ["lists longer than a line", () => withSchemas(manyTables(60, "warehouse_table_with_a_long_name"))],
  ["names that need quotes", () => withSchemas(manyTables(3, "2026: täble"))],
  ["an empty schema", () => withSchemas({ public: { nameInDestination: "s", enabled: false, tables: {} } })],
])("import writes files in the form of dimsync fmt: %s", async (_sentence, state) => {
  for (const literal of [false, true]) {
    const project = await openAccountProject(state);
    try {
      expect((await project.importJson({ literal })).failures).toEqual([]);
      expect(Object.keys(await project.files()).length).toBeGreaterThan(2);
      expect(await project.run<FmtFlags>(runFmt, { check: true })).toEqual({ code: 0, out: "", err: "" });
    } finally {
      await project.close();
    }
  }
});
