// Obligations: what is stored of them comes back as it was, and only a decision ends one.
import { describe, expect, test } from "vitest";
import {
  type KeepingNodes,
  type KeptSchemas,
  type KeptTable,
  keptAs,
  keptById,
  keptJson,
  keptNow,
  namesDigest,
  newNames,
  withoutNodes,
  withoutPlanned,
} from "../../../../src/core/base/model/kept.ts";

const [monday, tuesday] = ["2026-11-02T08:00:00.000Z", "2026-11-03T08:00:00.000Z"];
const hashed = (...columns: readonly string[]): KeepingNodes => ({ as: "hashed", by: "SchemaConfig/pii", isKept: true, columns });
const disabled = (...columns: readonly string[]): KeepingNodes => ({ ...hashed(...columns), as: "disabled" });
const off: KeepingNodes = { as: "disabled", by: "SchemaConfig/pii", isKept: true };
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
  expect(withoutPlanned(planned, () => undefined).size).toBe(0);
  expect(inUsers(withoutPlanned(planned, ([, , column]) => (column === "email" ? "shown" : undefined)))).toEqual([
    { as: "hashed", by: "SchemaConfig/pii", since: tuesday, columns: ["email"] },
  ]);
  expect(inUsers(withoutPlanned(planned, () => "unseen"))).toEqual([
    { as: "hashed", by: "SchemaConfig/pii", since: tuesday, columns: ["email", "phone"], isUnseen: true },
  ]);
  expect(inUsers(keptNow(first, keeping(unhashed), { since: tuesday, isGivenUp: stays }))).toEqual(inUsers(first));
});

test("what manifests give up is not kept any more, and nothing else is lost", () => {
  const judged: unknown[] = [];
  const next = keptNow(first, keeping(), {
    since: tuesday,
    isGivenUp(...node) {
      judged.push(node);
      return node[0][2] === "phone";
    },
  });
  expect(judged).toEqual([
    [["public", "users", "email"], "hashed"],
    [["public", "users", "phone"], "hashed"],
  ]);
  expect(inUsers(next)).toEqual([{ as: "hashed", by: "SchemaConfig/pii", since: monday, columns: ["email"] }]);
});

test("nothing is left of a table, a schema and an integration of which all is given up", () => {
  const wanted = keeping({ ...hashed("email", "phone"), isKept: false });
  for (const now of [keeping(), wanted]) expect(keptNow(first, now, { since: tuesday, isGivenUp: () => true })).toEqual(new Map());
});

describe("what is kept of a table that the records know, if manifests keep", () => {
  const of = (more: Partial<KeptTable[number]> = {}): KeptTable[number] => ({
    ...{ as: "hashed", by: "SchemaConfig/pii", since: monday, among: ["a", "b", "c"], columns: ["email", "phone"] },
    ...more,
  });
  const itself: KeptTable = [
    { as: "disabled", by: "SchemaConfig/pii", since: monday, among: ["a", "b"] },
    of({ as: "disabled", columns: ["undefined"] }),
  ];
  const inUsersNow = (before: KeptTable, now: readonly KeepingNodes[], among: readonly string[] = ["a", "b", "c"]) =>
    inUsers(
      keptNow(new Map([["public", new Map([["users", before]])]]), keeping(...now), {
        since: tuesday,
        among: () => among,
        isGivenUp: stays,
      }),
    );

  test("the same: the same value", () => {
    const before = [of()];
    expect(inUsersNow(before, [hashed("email", "phone")], ["a", "b", "c"])).toBe(before);
  });

  test.each<[what: string, now: readonly KeepingNodes[], after: KeptTable, among?: readonly string[], before?: KeptTable]>([
    ["the same, beside other names", [hashed("email", "phone")], [of({ among: ["a", "b", "d"] })], ["a", "b", "d"]],
    ["the same, which it has not shown before", [hashed("email", "phone")], [of()], ["a", "b", "c"], [of({ isUnseen: true })]],
    [
      "one that it still does not show",
      [hashed("email"), { ...hashed("phone"), isKept: false }],
      [of({ columns: ["phone"], isUnseen: true }), of({ columns: ["email"] })],
      ["a", "b", "c"],
      [of({ isUnseen: true })],
    ],
    ["it by another SchemaConfig", [{ ...hashed("email", "phone"), by: "SchemaConfig/gdpr" }], [of({ by: "SchemaConfig/gdpr" })]],
    ["it in another way", [disabled("email", "phone")], [of({ as: "disabled", since: tuesday }), of()]],
    ["one column less", [hashed("phone")], [of()]],
    ["one column more", [hashed("email", "phone", "ssn")], [of(), of({ since: tuesday, columns: ["ssn"] })]],
    ["another column in place of one", [hashed("city", "phone")], [of(), of({ since: tuesday, columns: ["city"] })]],
    [
      "another column that is readable",
      [hashed("email", "phone"), { ...hashed("city"), isKept: false }],
      [of(), of({ since: tuesday, columns: ["city"], isPlanned: true })],
    ],
    [
      "the table and a column of it, beside other names",
      [off, disabled("undefined")],
      [
        of({ as: "disabled", among: ["d"], columns: ["undefined"] }),
        { as: "disabled", by: "SchemaConfig/pii", since: monday, among: ["d"] },
      ],
      ["d"],
      itself,
    ],
    ["nothing any more", [], [of({ as: "disabled", columns: ["undefined"] }), ...itself.slice(0, 1)], ["d"], itself],
  ])("%s", (_, now, after, among, before = [of()]) => {
    expect(inUsersNow(before, now, among)).toEqual(after);
  });
});

test("equal tables that are first seen share one value if the names beside them are the same", () => {
  const nodes = [hashed("email"), disabled("ssn"), { ...hashed("phone"), isKept: false }];
  const onlyEmail = [hashed("email")];
  const [some, others] = [["a"], ["b"]];
  const tables = new Map(["t", "u", "v"].map((name) => [name, nodes]));
  const among = (schema: string, table: string | undefined) => (schema === "public" && table === "v" ? others : some);
  const kept = keptNow(undefined, new Map([["public", tables]]), { since: monday, among, isGivenUp: stays }).get("public");
  const facts = { by: "SchemaConfig/pii", since: monday, among: some };
  expect(kept?.get("t")).toEqual([
    { as: "disabled", columns: ["ssn"], ...facts },
    { as: "hashed", columns: ["phone"], isPlanned: true, ...facts },
    { as: "hashed", columns: ["email"], ...facts },
  ]);
  expect(kept?.get("u")).toBe(kept?.get("t"));
  expect(kept?.get("v")?.map((one) => one.among)).toEqual([others, others, others]);
  const email = ["t", "u"].map((name) => [name, onlyEmail] as const);
  const only = keptNow(undefined, new Map([["public", new Map(email)]]), { since: monday, among: () => some, isGivenUp: stays }).get(
    "public",
  );
  expect(only?.get("t")).toEqual([{ as: "hashed", columns: ["email"], ...facts }]);
  expect(only?.get("u")).toBe(only?.get("t"));
});

test("what a run did not send is not kept, and what was kept before it stays", () => {
  const now = keeping(hashed("email"), { ...hashed("phone"), isKept: false }, off);
  const planned = keptNow(undefined, new Map([...now, ["crm", new Map([["users", [{ ...off, isKept: false }]]])]]), {
    since: monday,
    isGivenUp: stays,
  });
  expect(withoutPlanned(planned, () => undefined)).toEqual(
    keptNow(undefined, keeping(hashed("email"), off), { since: monday, isGivenUp: stays }),
  );
  const sent = withoutPlanned(planned, (path, as) => (path.join(".") === "crm.users" && as === "disabled" ? "shown" : undefined));
  expect(sent.get("crm")?.get("users")).toEqual([{ as: "disabled", by: "SchemaConfig/pii", since: monday }]);
});

test("a node is given up with those below it, and nothing of the same name elsewhere", () => {
  const tables = new Map([
    ["users", [hashed("email", "phone"), disabled("ssn"), off]],
    ["logs", [off]],
  ]);
  const schemas = keptNow(undefined, new Map([...["public", "crm"].map((name) => [name, tables] as const)]), {
    since: monday,
    isGivenUp: stays,
  });
  const textOf = (left: KeptSchemas) =>
    [...left].map(
      ([schema, ofSchema]) =>
        `${schema}: ${[...ofSchema].map(([table, all]) => `${table} ${all.map(({ columns }) => columns ?? "*").join(" ")}`).join("; ")}`,
    );
  const crm = "crm: users ssn email,phone *; logs *";
  expect(textOf(schemas)).toEqual([crm.replace("crm", "public"), crm]);
  expect(textOf(withoutNodes(schemas, ["public", "users", "email"]))).toEqual(["public: users ssn phone *; logs *", crm]);
  expect(textOf(withoutNodes(schemas, ["public", "users", "ssn"]))).toEqual(["public: users email,phone *; logs *", crm]);
  expect(textOf(withoutNodes(schemas, ["public", "users"]))).toEqual(["public: logs *", crm]);
  expect(textOf(withoutNodes(schemas, ["public"]))).toEqual([crm]);
  expect(textOf(withoutNodes(schemas, undefined))).toEqual([]);
});

test("a node is kept in one way, by its own name", () => {
  const kept = keptNow(undefined, keeping(hashed("email"), off), { since: monday, isGivenUp: stays });
  expect(keptAs(kept, ["public", "users", "email"], "hashed")).toBeDefined();
  expect(keptAs(kept, ["public", "users"], "disabled")).toBeDefined();
  for (const [path, as] of [
    [["public", "users", "email"], "disabled"],
    [["public", "users", "phone"], "hashed"],
    [["public", "users"], "hashed"],
    [["crm", "users", "email"], "hashed"],
  ] as const)
    expect(keptAs(kept, path, as)).toBeUndefined();
  expect(keptAs(undefined, ["public"], "disabled")).toBeUndefined();
});

test("a table and a schema can be kept themselves, and their names can be anything", () => {
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
    ["a", phone],
    ["b", email],
    ["c", phone],
    ["d", email],
    ["e", email],
  ]);
  const kept = keptNow(undefined, new Map([["public", tables]]), { since: monday, isGivenUp: stays });
  const json = keptJson(new Map([["8f1c", of(kept)]]));
  expect(json.integrations[0]?.schemas).toEqual({ public: { names: ["0a", "0b", "0c", "0d", "0e"], nodes: [0, 1, 0, 1] } });
  expect(keptById(json).get("8f1c")).toEqual(of(kept));
});

test("equal content gives equal JSON in whatever order it was found, and names are stored without what the one before has", () => {
  const long = "o".repeat(34);
  const names = ["orders_2025", undefined, `${long}abd`, "orders_2026", `${long}ab`, `${long}abc`, "orders"];
  const json = ([...schemas]: readonly string[], [...tables]: readonly (string | undefined)[]) => {
    const ofSchema = new Map(tables.map((name) => [name, [off]]));
    const kept = keptNow(undefined, new Map(schemas.map((name) => [name, ofSchema])), { since: monday, isGivenUp: stays });
    const found = keptJson(new Map([["8f1c", of(kept)]]));
    expect(keptById(found).get("8f1c")).toEqual(of(kept));
    return found;
  };
  const found = json(["crm", "public"], names);
  expect(JSON.stringify(json(["public", "crm"], names.toReversed()))).toBe(JSON.stringify(found));
  expect(found.integrations[0]?.schemas["crm"]?.names).toEqual([`0${long}ab`, "zbc", "zbd", "1rders", "6_2025", "a6"]);
});

test("a digest of names tells which one is new, and otherwise which ones may be", () => {
  const digest = namesDigest(["id", "email", "note"]);
  const found = (...live: readonly string[]) => newNames(digest, { live, gone: live.includes("email") ? [] : ["email"] });
  expect(found("id", "note")).toEqual({ names: [], isExact: true });
  expect(found("note", "contact", "id")).toEqual({ names: ["contact"], isExact: true });
  expect(found("id", "email", "note", "phone")).toEqual({ names: ["phone"], isExact: true });
  expect(found("id", "contact", "phone")).toEqual({ names: ["id", "contact", "phone"], isExact: false });
  // Another column is gone, too.
  expect(found("id", "contact")).toEqual({ names: ["id", "contact"], isExact: false });
  expect(newNames(undefined, { live: ["id"], gone: [] })).toEqual({ names: ["id"], isExact: false });
  const many = Array.from({ length: 40 }, (_, at) => `c${at}`);
  expect(newNames(namesDigest(many), { live: [...many, "phone"], gone: [] })).toEqual({ names: ["phone"], isExact: true });
});

// Hashes that collide, and one of 0.
test.each([
  [["id"], ["id", "pmzcadm_"], { names: ["pmzcadm_"], isExact: true }],
  [["liquid"], ["liquid", "costarring"], { names: ["liquid", "costarring"], isExact: false }],
  [["id"], ["id", "pmzcadm_", "fxdsatwp"], { names: ["id", "pmzcadm_", "fxdsatwp"], isExact: false }],
  [["id"], ["id", "contact", "pmzcadm_"], { names: ["id", "contact", "pmzcadm_"], isExact: false }],
])("a digest of %j hides nothing of %j", (before, live, found) => {
  expect(newNames(namesDigest(before), { live, gone: [] })).toEqual(found);
});
