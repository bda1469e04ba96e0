import { describe, expect, test } from "vitest";
import type { LiveSchemas } from "../../src/model/live.ts";
import type { PolicySpec, Resource } from "../../src/model/resource.ts";
import { makePolicyEvaluator } from "../../src/policies/evaluate.ts";
import type { PolicyFunction } from "../../src/policies/script.ts";
import { column, schema, table } from "../kinds/schema-config/fleet.ts";
import { resourceOf } from "../support/world.ts";

const today = "2026-06-01";
const place = { file: "policy.yaml", line: 7 };
const hashed = { severity: "error", message: "in clear", require: { hashed: true } } as const;
const orders = { names: ["orders", "Orders"], labels: { domain: "sales" } };

/** public: users (email in clear, Email_2 in clear and off, phone hashed, id key), archive (off: email); closed, a schema that is off: t (email). */
const account = (): LiveSchemas => ({
  public: schema({
    users: table({
      id: column({ isPrimaryKey: true }),
      email: column(),
      Email_2: column({ enabled: false }),
      phone: column({ hashed: true }),
    }),
    archive: table({ email: column() }, { enabled: false, syncMode: "full" }),
  }),
  closed: schema({ t: table({ email: column() }) }, { enabled: false }),
});

interface Case {
  readonly spec: Partial<PolicySpec>;
  readonly live?: LiveSchemas;
  readonly integration?: { readonly names: readonly string[]; readonly labels: Readonly<Record<string, string>> };
  readonly after?: Readonly<Record<string, boolean>>;
}

function judge({ spec, live = account(), integration = orders, after = {} }: Case): readonly string[] {
  const policy = resourceOf("Policy", "p", { ...hashed, ...spec }) as Resource<PolicySpec>;
  const { findings } = makePolicyEvaluator([policy], new Map(), today, () => place).judge({
    ...integration,
    address: "Integration/orders",
    live,
    after: new Map(Object.entries(after)),
    causeOf: () => undefined,
  });
  return findings.map(({ path }) => path);
}

const at = (text: string): string => {
  const [schemaName, tableName, columnName, key] = text.split(".");
  return `/schemas/${schemaName}${tableName ? `/tables/${tableName}` : ""}${columnName ? `/columns/${columnName}` : ""}/${key}`;
};
const email = at("public.users.email.hashed");
const name = (text: string | readonly string[]) => ({ column: { name: text } });

describe("what a policy finds", () => {
  test.each<[string, Case, readonly string[]]>([
    ["columns by name, in clear, where data flows", { spec: { when: name("email") } }, [email]],
    ["the case of a name counts", { spec: { when: name("EMAIL") } }, []],
    ["unless it does not", { spec: { when: { column: { name: "EMAIL", ignoreCase: true } } } }, [email]],
    [
      "every column that flows, for a condition that is empty",
      { spec: { when: { column: {} } } },
      [at("public.users.id.hashed"), email, at("public.users.Email_2.hashed")],
    ],
    ["enabled columns only, if asked", { spec: { when: { column: { enabled: true } } } }, [at("public.users.id.hashed"), email]],
    ["no keys, if asked", { spec: { when: { column: { isPrimaryKey: false, enabled: true } } } }, [email]],
    ["keys only, if asked", { spec: { when: { column: { isPrimaryKey: true } } } }, [at("public.users.id.hashed")]],
    ["columns of some tables", { spec: { when: { ...name("email"), table: { name: "users" }, schema: { name: "pub*" } } } }, [email]],
    ["none in tables of another name", { spec: { when: { ...name("*mail*"), table: { name: "clients" } } } }, []],
    ["none in schemas of another name", { spec: { when: { ...name("*mail*"), schema: { name: "private" } } } }, []],
    ["none in tables of another mode", { spec: { when: { ...name("*mail*"), table: { syncMode: "full" } } } }, []],
    ["what a list leaves out", { spec: { when: name(["*mail*", "!email"]) } }, [at("public.users.Email_2.hashed")]],
    [
      "columns that must be switched off",
      { spec: { when: name("phone"), require: { enabled: false } } },
      [at("public.users.phone.enabled")],
    ],
    [
      "both requirements",
      { spec: { when: name("email"), require: { enabled: false, hashed: true } } },
      [at("public.users.email.enabled"), email],
    ],
    [
      "tables that must be on",
      { spec: { when: { table: { name: "*" } }, require: { enabled: true } } },
      [at("public.archive..enabled"), at("closed.t..enabled")],
    ],
    [
      "tables that must be off: one in a schema that is off is",
      { spec: { when: { table: { name: "*" } }, require: { enabled: false } } },
      [at("public.users..enabled")],
    ],
    [
      "only tables that are on",
      { spec: { when: { table: { enabled: true } }, require: { enabled: false } } },
      [at("public.users..enabled")],
    ],
    ["schemas", { spec: { when: { schema: { name: "closed" } }, require: { enabled: true } } }, [at("closed...enabled")]],
    ["schemas that are on", { spec: { when: { schema: { enabled: true } }, require: { enabled: false } } }, [at("public...enabled")]],

    ["integrations by their manifest's name", { spec: { when: { ...name("email"), integration: { names: ["orders"] } } } }, [email]],
    ["and by their live name", { spec: { when: { ...name("email"), integration: { names: ["Ord*"] } } } }, [email]],
    ["no others", { spec: { when: { ...name("email"), integration: { names: ["billing"] } } } }, []],
    ["one that is left out by either name is out", { spec: { when: { ...name("email"), integration: { names: ["!Orders"] } } } }, []],
    ["everything but what is left out", { spec: { when: { ...name("email"), integration: { names: ["!billing"] } } } }, [email]],
    ["integrations by labels", { spec: { when: { ...name("email"), integration: { labels: { domain: "sales" } } } } }, [email]],
    ["all labels must hold", { spec: { when: { ...name("email"), integration: { labels: { domain: "sales", tier: "gold" } } } } }, []],
    [
      "a label that objects inherit is no label",
      { spec: { when: { ...name("email"), integration: { labels: { constructor: "x" } } } } },
      [],
    ],
    [
      "names and labels must both hold",
      { spec: { when: { ...name("email"), integration: { names: ["x"], labels: { domain: "sales" } } } } },
      [],
    ],

    ["the planned state: a column that will be hashed is fine", { spec: { when: name("email") }, after: { [email]: true } }, []],
    [
      "the planned state: a column that will be clear is not",
      { spec: { when: name("phone") }, after: { [at("public.users.phone.hashed")]: false } },
      [at("public.users.phone.hashed")],
    ],
    [
      "the planned state: a table that will flow is judged",
      { spec: { when: name("email") }, after: { [at("public.archive..enabled")]: true } },
      [email, at("public.archive.email.hashed")],
    ],
    [
      "the planned state: a schema that will flow, too",
      { spec: { when: name("email") }, after: { [at("closed...enabled")]: true } },
      [email, at("closed.t.email.hashed")],
    ],
    [
      "the planned state: a table that will not flow breaks nothing",
      { spec: { when: name("email") }, after: { [at("public.users..enabled")]: false } },
      [],
    ],

    [
      "nothing where an exemption means the node",
      { spec: { when: name("email"), exemptions: [{ schema: "public", table: "users", column: "email", reason: "r" }] } },
      [],
    ],
    ["an exemption may leave levels out", { spec: { when: name("email"), exemptions: [{ table: "u*", reason: "r" }] } }, []],
    [
      "an exemption for another integration",
      { spec: { when: name("email"), exemptions: [{ integration: "billing", reason: "r" }] } },
      [email],
    ],
    ["an exemption for another column", { spec: { when: name("email"), exemptions: [{ column: "phone", reason: "r" }] } }, [email]],
    [
      "an exemption of a column says nothing of its table",
      { spec: { when: { table: { name: "archive" } }, require: { enabled: true }, exemptions: [{ column: "*", reason: "r" }] } },
      [at("public.archive..enabled")],
    ],
    [
      "an exemption counts on its last day",
      { spec: { when: name("email"), exemptions: [{ column: "email", reason: "r", expires: today }] } },
      [],
    ],
    [
      "and no longer on the next",
      { spec: { when: name("email"), exemptions: [{ column: "email", reason: "r", expires: "2026-05-31" }] } },
      [email],
    ],
    [
      "one that expired does not hide one that counts",
      {
        spec: {
          when: name("email"),
          exemptions: [
            { column: "email", reason: "old", expires: "2026-05-31" },
            { column: "email", reason: "new" },
          ],
        },
      },
      [],
    ],
  ])("%s", (_sentence, given, expected) => {
    expect([...judge(given)].sort()).toEqual([...expected].sort());
  });

  test("hostile names are names", () => {
    const hostile = ["__proto__", "constructor", "a/b", "a.b", "100%", "..", " x ", "ü", "~0"];
    const ofName = <T>(value: () => T): Record<string, T> =>
      Object.assign(Object.create(null), Object.fromEntries(hostile.map((key) => [key, value()])));
    const live = ofName(() => schema(ofName(() => table(ofName(() => column())))));
    const found = judge({ spec: { when: name("*") }, live });
    expect(found).toHaveLength(hostile.length ** 3);
    expect(found).toContain("/schemas/__proto__/tables/a~1b/columns/~00/hashed");
    expect(judge({ spec: { when: name(hostile.map((key) => key)) }, live })).toEqual(found);
  });

  test("a finding carries policy, severity and message, and the policy's line where no manifest decides", () => {
    const policy = resourceOf("Policy", "pii", {
      ...hashed,
      severity: "warning",
      when: name("email"),
      exemptions: [{ column: "email", reason: "DPIA-41", expires: "2026-01-31" }],
    });
    const places: string[] = [];
    const locate = ({ pointer }: { readonly pointer: string }) => {
      places.push(pointer);
      return place;
    };
    const judged = { ...orders, address: "Integration/orders", live: account(), after: new Map(), causeOf: () => undefined };
    expect(makePolicyEvaluator([policy as Resource<PolicySpec>], new Map(), today, locate).judge(judged).findings).toEqual([
      {
        policy: "pii",
        severity: "warning",
        address: "Integration/orders",
        path: email,
        message: "in clear (its exemption, DPIA-41, expired on 2026-01-31)",
        ...place,
      },
    ]);
    expect(places).toEqual(["/spec/require/hashed"]);
  });

  test("tables whose columns are unknown are told, not passed over", () => {
    const policy = resourceOf("Policy", "pii", { ...hashed, when: { ...name("email"), table: { name: "s*" } } }) as Resource<PolicySpec>;
    const live = { public: schema({ secret: table(undefined), other: table(undefined), soff: table(undefined, { enabled: false }) }) };
    const { unseen, findings } = makePolicyEvaluator([policy], new Map(), today, () => place).judge({
      ...orders,
      address: "x",
      live,
      after: new Map(),
      causeOf: () => undefined,
    });
    expect([findings, unseen]).toEqual([[], [["public", "secret"]]]);
  });
});

test("columns are asked for where a policy judges them, and nowhere else", () => {
  const asked = (specs: readonly Partial<PolicySpec>[], functions: readonly number[] = []) => {
    const policies = specs.map((spec, index) => resourceOf("Policy", `p${index}`, { ...hashed, ...spec }) as Resource<PolicySpec>);
    const test = makePolicyEvaluator(
      policies,
      new Map(functions.map((index) => [`Policy/p${index}`, () => []])),
      today,
      () => place,
    ).judgedColumns(orders);
    return test === undefined ? undefined : [test("public", "users", undefined), test("public", "t", "full"), test("x", "users", "full")];
  };
  expect(asked([{ when: { table: { name: "users" } } }, { when: { schema: {} } }])).toBeUndefined();
  expect(asked([{ when: name("email") }])).toEqual([true, true, true]);
  expect(asked([{ when: { ...name("email"), table: { name: "users" } } }])).toEqual([true, false, true]);
  expect(asked([{ when: { ...name("email"), schema: { name: "public" }, table: { syncMode: "full" } } }])).toEqual([false, true, false]);
  expect(asked([{ when: { ...name("email"), integration: { names: ["billing"] } } }])).toBeUndefined();
  expect(asked([{ module: "x.js" }], [0])).toEqual([true, true, true]);
});

describe("a policy in JavaScript", () => {
  const run = (judgement: PolicyFunction, { spec = {}, after = {} }: Partial<Case> = {}) => {
    const { require: _, ...rest } = hashed;
    const policy = resourceOf("Policy", "p", { ...rest, module: "p.mjs", ...spec }) as Resource<PolicySpec>;
    const live = account();
    const labels = { domain: "sales" };
    const said = makePolicyEvaluator([policy], new Map([["Policy/p", judgement]]), today, () => place).judge({
      names: ["orders"],
      labels,
      address: "Integration/orders",
      live,
      after: new Map(Object.entries(after)),
      causeOf: () => undefined,
    });
    expect([live, labels]).toEqual([account(), { domain: "sales" }]);
    return said;
  };
  const found = (judgement: PolicyFunction, given?: Partial<Case>) =>
    run(judgement, given).findings.map(({ path, message }) => `${path} ${message}`);

  test("gets name, labels and the planned tree, and its findings are findings", () => {
    const judgement: PolicyFunction = ({ integration, labels, schemas }) => [
      { path: email, message: `${integration} ${labels["domain"]} ${schemas["public"]?.tables["users"]?.columns?.["email"]?.hashed}` },
      { message: "as a whole" },
    ];
    expect(found(judgement, { after: { [email]: true } })).toEqual([`${email} orders sales true`, " as a whole"]);
  });
  test("can do to its data what it likes", () => {
    // Whatever a module does to what it was given, it does to its own copy: the world is compared in `run`.
    const vandal = (state: unknown): [] => {
      const { labels, schemas } = state as {
        labels: Record<string, string>;
        schemas: Record<string, { enabled: boolean; tables: Record<string, unknown> }>;
      };
      labels["domain"] = "none";
      for (const entry of Object.values(schemas)) {
        entry.enabled = false;
        for (const key of Object.keys(entry.tables)) delete entry.tables[key];
      }
      return [];
    };
    expect(found(vandal)).toEqual([]);
  });
  test("its findings may be exempt, too", () => {
    const judgement: PolicyFunction = () => [
      { path: "/schemas/public/tables/users/columns/email", message: "a" },
      { path: "/schemas/public", message: "b" },
      { message: "c" },
    ];
    expect(found(judgement, { spec: { exemptions: [{ table: "users", reason: "r" }] } })).toEqual(["/schemas/public b", " c"]);
    expect(found(judgement, { spec: { exemptions: [{ integration: "orders", reason: "r" }] } })).toEqual([]);
  });
  const broken: readonly (readonly [string, () => unknown, string])[] = [
    [
      "throws",
      () => {
        throw new TypeError("no such member\n    at secret (file.js:1)");
      },
      "threw TypeError: no such member",
    ],
    [
      "throws what is no error",
      () => {
        throw "x".repeat(500);
      },
      `threw ${"x".repeat(200)}…`,
    ],
    ["returns nothing", () => undefined, "returned nothing and no list"],
    ["returns a number", () => 3, "returned a value of type number and no list"],
    ["is asynchronous", () => Promise.resolve([]), "returned a promise; a policy can't wait for anything"],
    ["returns something else in its list", () => [{ message: "ok" }, "text"], "returned a list whose element 1 is no { path, message }"],
    ["gives no message", () => [{ path: "/schemas" }], "returned a list whose element 0 is no { path, message }"],
    [
      "gives a path in another form",
      () => [{ path: "public.users", message: "m" }],
      "returned a list whose element 0 has a path that is no JSON Pointer, such as /schemas/public/tables/users",
    ],
  ];
  test.each(broken)("one that %s is a fault, with nothing of its stack", (_sentence, judgement, why) => {
    expect(run(judgement as PolicyFunction)).toMatchObject({ findings: [], faults: [{ why }] });
  });
});
