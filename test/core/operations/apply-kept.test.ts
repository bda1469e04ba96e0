// What an apply keeps unreadable, or finds so, is an obligation in the records until a manifest gives it up.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { keptById } from "../../../src/core/base/model/kept.ts";
import { type AccountState, seedAccount } from "../../../src/embedded/index.ts";
import { inOneFile, type Running, withProject } from "../../properties/run.ts";
import { recordsIn } from "../../support/records.ts";
import { readySteps } from "../../support/steps.ts";

type Columns = Readonly<Record<string, { readonly enabled?: boolean; readonly hashed?: boolean }>>;

/** An account with one integration that has the table `users`. */
function accountWith(columns: Columns): AccountState {
  const account = seedAccount();
  const [first] = account.integrations;
  if (first === undefined) throw new Error("The seeded account has no integration.");
  account.integrations = [
    { ...first, schemas: { public: { nameInDestination: "p", enabled: true, tables: { users: tableOf(columns) } } } },
  ];
  return account;
}

const tableOf = (columns: Columns) => ({
  ...{ nameInDestination: "u", enabled: true, syncMode: "full_refresh" },
  columns: Object.fromEntries(
    Object.entries(columns).map(([name, column]) => [
      name,
      { nameInDestination: name, enabled: true, hashed: false, isPrimaryKey: false, ...column },
    ]),
  ),
});

const config = (...rules: readonly object[]) =>
  inOneFile([
    { apiVersion: "dimsync/v1", kind: "SchemaConfig", metadata: { name: "pii" }, spec: { integrations: { names: ["*"] }, rules } },
  ]);

const hash = (column: string) => ({ id: column, match: { column }, set: { hashed: true } });

/** "users.email hashed" by what is in the records. */
function keptIn({ folder }: Pick<Running, "folder">): readonly string[] {
  const [kept] = [...keptById(recordsIn(folder, "test").state.kept).values()];
  return [...(kept?.schemas ?? [])].flatMap(([schema, tables]) =>
    [...tables].flatMap(([table, nodes]) =>
      nodes.flatMap(({ as, columns = [""] }) => columns.map((column) => `${table ?? schema}.${column} ${as}`)),
    ),
  );
}

describe("an apply records", () => {
  test("what it has protected, and what it has found protected", async () => {
    const rules = config(hash("email"), { id: "off", match: { column: "ssn" }, set: { enabled: false } });
    await withProject(accountWith({ id: {}, email: {}, ssn: { enabled: false } }), rules, "camel", async (running) => {
      await running.apply();
      expect(keptIn(running)).toEqual(["users.ssn disabled", "users.email hashed"]);
      const before = recordsIn(running.folder, "test").state.kept;
      // Nothing changes any more, and each node keeps its date.
      await running.apply();
      expect(recordsIn(running.folder, "test").state.kept).toEqual(before);
    });
  });

  test("what it has found protected, also if it sends nothing", async () => {
    await withProject(accountWith({ email: { hashed: true } }), config(hash("email")), "camel", async (running) => {
      await running.apply();
      expect(keptIn(running)).toEqual(["users.email hashed"]);
    });
  });

  test("a table and a schema that are disabled themselves", async () => {
    const rules = config({ id: "table", match: { table: "users" }, set: { enabled: false } });
    await withProject(accountWith({ email: {} }), rules, "camel", async (running) => {
      await running.apply();
      expect(keptIn(running)).toEqual(["users. disabled"]);
    });
  });

  test("nothing of a plan that was declined", async () => {
    await withProject(accountWith({ email: {} }), config(hash("email")), "camel", async (running) => {
      await running.apply({ confirm: async () => false });
      expect(keptIn(running)).toEqual([]);
    });
  });
});

describe("an obligation", () => {
  const change = (state: AccountState, by: (columns: Record<string, { hashed?: boolean }>) => void) =>
    by(state.integrations[0]?.schemas?.["public"]?.tables["users"]?.columns ?? {});

  test("stays in the plan of an account in which a person removed the hash", async () => {
    await withProject(accountWith({ id: {}, email: {} }), config(hash("email")), "camel", async (running) => {
      await running.apply();
      const { kept } = recordsIn(running.folder, "test").state;
      running.mutate((state) => change(state, (columns) => Object.assign(columns["email"] ?? {}, { hashed: false })));
      const plan = await running.plan({ isRecording: true });
      expect(readySteps(plan)).toMatchObject([{ address: "Schemas/Orders" }]);
      expect(plan.kept).toEqual(kept);
    });
  });

  test("stays if the column is gone from the account", async () => {
    await withProject(accountWith({ id: {}, email: {}, phone: {} }), config(hash("email"), hash("phone")), "camel", async (running) => {
      await running.apply();
      running.mutate((state) => change(state, (columns) => delete columns["email"]));
      await running.apply();
      expect(keptIn(running)).toEqual(["users.email hashed", "users.phone hashed"]);
    });
  });

  // Nobody can have reviewed a change that is in no commit.
  test.each<[what: string, rules: readonly object[], kept: readonly string[]]>([
    ["ends if manifests say that the column is readable", [{ ...hash("email"), set: { hashed: false } }], ["users.phone hashed"]],
    ["stays if its rule is gone, and the account still keeps it", [], ["users.email hashed", "users.phone hashed"]],
  ])("%s, without a commit to compare with", async (_, rules, kept) => {
    await withProject(accountWith({ id: {}, email: {}, phone: {} }), config(hash("email"), hash("phone")), "camel", async (running) => {
      await running.apply();
      for (const [path, text] of Object.entries(config(...rules, hash("phone")))) writeFileSync(join(running.folder, path), text);
      await running.reload();
      expect((await running.apply({ allow: new Map([["maxExposedColumns", "test"]]) })).exit.code).toBe(0);
      expect(keptIn(running)).toEqual(kept);
    });
  });
});
