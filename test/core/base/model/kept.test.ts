// Obligations: what is stored of them comes back as it was, and only a decision ends one.
import { expect, test } from "vitest";
import {
  type KeepingNodes,
  type KeptSchemas,
  keptById,
  keptJson,
  keptNow,
  namesDigest,
  newNames,
  withoutPlanned,
} from "../../../../src/core/base/model/kept.ts";

const [monday, tuesday] = ["2026-11-02T08:00:00.000Z", "2026-11-03T08:00:00.000Z"];
const hashed = (...columns: readonly string[]): KeepingNodes => ({ as: "hashed", by: "SchemaConfig/pii", isKept: true, columns });
const keeping = (...nodes: readonly KeepingNodes[]) => new Map([["public", new Map([["users", nodes]])]]);
const stays = () => false;
const identity = ["Shop", "shop-pg", "postgres", "d-12"];
const of = (schemas: KeptSchemas) => ({ identity, schemas });
const first = keptNow(undefined, keeping(hashed("email", "phone")), { since: monday, isGivenUp: stays });
const inUsers = (kept: KeptSchemas) => kept.get("public")?.get("users") ?? [];

test("a node is kept since a run found it first", () => {
  const later = keptNow(first, keeping(hashed("city", "email", "phone")), { since: tuesday, isGivenUp: stays });
  expect(inUsers(later)).toEqual([
    { as: "hashed", by: "SchemaConfig/pii", since: monday, columns: ["email", "phone"] },
    { as: "hashed", by: "SchemaConfig/pii", since: tuesday, columns: ["city"] },
  ]);
  expect(keptNow(first, keeping(hashed("email", "phone")), { since: tuesday, isGivenUp: stays })).toBe(first);
});

test("what the account never showed is not kept; what it shows no longer stays an obligation", () => {
  const unhashed = { ...hashed("email", "phone"), isKept: false };
  const planned = keptNow(undefined, keeping(unhashed), { since: tuesday, isGivenUp: stays });
  expect(withoutPlanned(planned, () => false).size).toBe(0);
  expect(inUsers(withoutPlanned(planned, ([, , column]) => column === "email"))).toEqual([
    { as: "hashed", by: "SchemaConfig/pii", since: tuesday, columns: ["email"] },
  ]);
  expect(inUsers(keptNow(first, keeping(unhashed), { since: tuesday, isGivenUp: stays }))).toEqual(inUsers(first));
});

test("what manifests give up is not kept any more, and nothing else is lost", () => {
  const judged: unknown[] = [];
  const next = keptNow(first, keeping(), {
    since: tuesday,
    isGivenUp(node) {
      judged.push(node);
      return node.path[2] === "phone";
    },
  });
  expect(judged).toEqual([
    { path: ["public", "users", "email"], as: "hashed", isWanted: false },
    { path: ["public", "users", "phone"], as: "hashed", isWanted: false },
  ]);
  expect(inUsers(next)).toEqual([{ as: "hashed", by: "SchemaConfig/pii", since: monday, columns: ["email"] }]);
});

test("a table and a schema can be kept themselves, and their names can be anything", () => {
  const off: KeepingNodes = { as: "disabled", by: "SchemaConfig/pii", isKept: true };
  const names = new Map([
    [
      "__proto__",
      new Map([
        [undefined, [off]],
        ["", [off, hashed("__proto__")]],
        ["orders_2025", [off]],
        ["orders_2026", [off]],
        ["\u{1f600}b", [off]],
        ["\u{1f601}a", [off]],
      ]),
    ],
  ]);
  const kept = keptNow(undefined, names, { since: monday, isGivenUp: stays });
  const text = JSON.stringify(keptJson(new Map([["8f1c", of(kept)]])));
  expect(keptById(JSON.parse(text)).get("8f1c")).toEqual(of(kept));
});

test("equal tables are stored once, and so are integrations of which the same is kept", () => {
  const other = keptNow(undefined, new Map([["public", new Map([["people", [hashed("email", "phone")]]])]]), {
    since: monday,
    isGivenUp: stays,
  });
  const again = keptNow(undefined, keeping(hashed("email", "phone")), { since: monday, isGivenUp: stays });
  const byId = new Map([
    ["b", of(other)],
    ["c", of(again)],
    ["a", of(first)],
  ]);
  expect(keptJson(byId)).toEqual({
    tables: [[{ as: "hashed", by: "SchemaConfig/pii", since: monday, columns: ["email", "phone"] }]],
    integrations: [
      { ids: { a: identity, c: identity }, schemas: { public: { names: ["0users"], nodes: [0] } } },
      { ids: { b: identity }, schemas: { public: { names: ["0people"], nodes: [0] } } },
    ],
  });
});

test("each table of a schema has its own nodes, and those at the end with the same ones share a number", () => {
  const [email, phone] = [[hashed("email")], [hashed("phone")]];
  const tables = new Map([
    ["a", email],
    ["b", phone],
    ["c", email],
    ["d", email],
  ]);
  const kept = keptNow(undefined, new Map([["public", tables]]), { since: monday, isGivenUp: stays });
  const json = keptJson(new Map([["8f1c", of(kept)]]));
  expect(json.integrations[0]?.schemas).toEqual({ public: { names: ["0a", "0b", "0c", "0d"], nodes: [0, 1, 0] } });
  expect(keptById(json).get("8f1c")).toEqual(of(kept));
});

test("a digest of names tells which one is new, and otherwise which ones may be", () => {
  const digest = namesDigest(["id", "email", "note"]);
  const found = (...live: readonly string[]) => newNames(digest, { live, gone: live.includes("email") ? [] : ["email"] });
  expect(found("id", "note")).toEqual({ names: [], isExact: true });
  expect(found("note", "contact", "id")).toEqual({ names: ["contact"], isExact: true });
  expect(found("id", "email", "note", "phone")).toEqual({ names: ["phone"], isExact: true });
  expect(found("id", "contact", "phone")).toEqual({ names: ["id", "contact", "phone"], isExact: false });
  expect(newNames(undefined, { live: ["id"], gone: [] })).toEqual({ names: ["id"], isExact: false });
});
