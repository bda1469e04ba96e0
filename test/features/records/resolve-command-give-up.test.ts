// A person can give up what is kept, and the records say who did.
import { describe, expect, test } from "vitest";
import { type KeptSchemas, type KeptTable, keptById, keptJson } from "../../../src/core/base/model/kept.ts";
import type { NodePath } from "../../../src/core/base/model/nodes.ts";
import { decided } from "../../../src/features/records/resolve-command.ts";

const since = "2026-11-02T08:00:00.000Z";
const at = "2026-11-28T10:12:00Z";
const nodes = (as: "hashed" | "disabled", columns?: readonly string[]) => ({
  ...{ as, by: "SchemaConfig/pii", since },
  ...(columns === undefined ? {} : { columns }),
});
const schemas = (): KeptSchemas =>
  new Map<string, ReadonlyMap<string | undefined, KeptTable>>([
    [
      "public",
      new Map<string | undefined, KeptTable>([
        ["users", [nodes("hashed", ["email", "phone"]), nodes("disabled", ["email"])]],
        ["logs", [nodes("disabled")]],
      ]),
    ],
    ["crm", new Map([[undefined, [nodes("disabled")]]])],
  ]);

const identity = (name: string) => [name, `${name}-pg`, "postgres", "d-12"];
const state = {
  kept: keptJson(
    new Map([
      ["a1", { identity: identity("Orders"), schemas: schemas() }],
      ["b2", { identity: identity("Billing"), schemas: schemas() }],
    ]),
  ),
  bindings: new Map([["Integration/orders", { id: "a1" }]]),
  covered: new Map([
    ["SchemaConfig/pii", new Map([["a1", "Orders"]])],
    ["Tag/gold", new Map(["a1", "b2"].map((id) => [id, `Shop ${id}`]))],
  ]),
};

/** "a1 public.users.email hashed", sorted. */
const textOf = (kept: Parameters<typeof keptById>[0] | undefined): readonly string[] =>
  [...keptById(kept ?? state.kept)].flatMap(([id, one]) =>
    [...one.schemas].flatMap(([schema, tables]) =>
      [...tables].flatMap(([table, all]) =>
        all.flatMap(({ as, columns = [undefined] }) =>
          columns.map((column) => `${id} ${[schema, table, column].filter((name) => name !== undefined).join(".")} ${as}`),
        ),
      ),
    ),
  );
const all = textOf(state.kept);

describe("a decision to give up", () => {
  test.each<[address: string, path: NodePath | undefined, gone: RegExp, count: number]>([
    ["Schemas/orders", ["public", "users", "email"], /^a1 public\.users\.email /u, 2],
    ["Schemas/orders", ["public", "users", "phone"], /^a1 public\.users\.phone /u, 1],
    ["Schemas/orders", ["public", "users"], /^a1 public\.users\./u, 3],
    ["Schemas/orders", ["public", "logs"], /^a1 public\.logs /u, 1],
    ["Schemas/orders", ["public"], /^a1 public/u, 4],
    ["Schemas/orders", ["crm"], /^a1 crm /u, 1],
    ["Schemas/orders", undefined, /^a1 /u, 5],
    ["Schemas/a1", undefined, /^a1 /u, 5],
    ["Schemas/Orders", undefined, /^a1 /u, 5],
    ["Schemas/Billing", undefined, /^b2 /u, 5],
  ])("%s %j takes exactly that out of the records", (address, path, gone, count) => {
    const { facts, said } = decided(state, { address, path, reason: "dropped", at });
    expect(textOf(facts.kept)).toEqual(all.filter((one) => !gone.test(one)));
    expect(all.length - textOf(facts.kept).length).toBe(count);
    expect(facts.givenUp).toEqual({ what: path === undefined ? address : `${address} ${path.join(".")}`, reason: "dropped", at });
    expect(said).toContain(`gave up ${count} hashed or disabled node`);
  });

  test.each<[address: string, path: NodePath | undefined, covered: Readonly<Record<string, readonly string[]>>]>([
    ["Schemas/orders", undefined, { "SchemaConfig/pii": [] }],
    ["Schemas/orders", ["public"], {}],
    ["Schemas/Billing", undefined, {}],
    ["Tag/gold#a1", undefined, { "Tag/gold": ["b2"] }],
  ])("%s %j ends what selectors covered", (address, path, covered) => {
    const { facts } = decided(state, { address, path, reason: "an experiment", at });
    expect(Object.fromEntries([...(facts.covered ?? [])].map(([of, ids]) => [of, [...ids.keys()]]))).toEqual(covered);
    if (address.includes("#")) expect(facts.kept).toBeUndefined();
  });

  test.each<[address: string, path: NodePath | undefined, hint: string]>([
    ["Schemas/Order", undefined, "Schemas/Orders"],
    ["Schemas/orders", ["public", "users", "id"], ""],
    ["Schemas/orders", ["sales"], ""],
    ["Tag/gold#c3", undefined, ""],
    ["Integration/orders", undefined, ""],
  ])("%s %j is an error: the records have nothing of it", (address, path, hint) => {
    expect(() => decided(state, { address, path, reason: "x", at })).toThrow(
      expect.objectContaining({ code: "E_UNKNOWN_ADDRESS", message: expect.stringContaining(hint) }),
    );
  });
});
