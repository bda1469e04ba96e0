// A policy finds every column that violates it, before and after the plan, and reads no column that it does not check.
import { describe, expect, test } from "vitest";
import type { PolicyFinding } from "../../../../src/core/base/model/findings.ts";
import type { LiveSchemas } from "../../../../src/core/base/model/live.ts";
import type { IntegrationSelector, Manifest, PolicyExemption, PolicySpec } from "../../../../src/core/base/model/manifest.ts";
import {
  newPolicyEvaluator as newEvaluator,
  type PolicyEvaluation,
  type PolicyTarget,
} from "../../../../src/core/columns/policies/evaluate.ts";
import { scan } from "../../../../src/core/kinds/schemas.ts";
import { resourceOf } from "../../../support/accounts/view.ts";
import { column, schema, table } from "../../kinds/schema-config/fleet.ts";

function newPolicyEvaluator(...input: Parameters<typeof newEvaluator>) {
  const evaluator = newEvaluator(...input);
  return {
    ...evaluator,
    evaluate: (of: PolicyTarget): PolicyEvaluation => {
      const { questions, options, end } = evaluator.ask(of);
      scan(of.live, questions, options);
      return end();
    },
  };
}

const today = "2026-06-01";
const place = { file: "policy.yaml", line: 7 };
const hashed = { severity: "error", message: "unhashed", require: { hashed: true } } as const;
const orders = { names: ["orders", "Orders"], labels: { domain: "sales" } };

/** public: users (email unhashed, Email_2 unhashed and disabled, phone hashed, id key), archive (disabled: email); closed, a disabled schema: t (email). */
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

const policyOf = (spec: unknown, name = "p"): Manifest<PolicySpec> => resourceOf("Policy", name, spec) as Manifest<PolicySpec>;
const options = { today, locate: () => place };

const target = (more: Partial<PolicyTarget> = {}): PolicyTarget => ({
  ...orders,
  address: "Integration/orders",
  live: account(),
  planned: new Map(),
  isCreated: false,
  causeOf: () => undefined,
  fixedBy: () => undefined,
  ...more,
});

const findingsIn = ({ spec, live = account(), integration = orders, after = {} }: Case): readonly PolicyFinding[] =>
  newPolicyEvaluator([policyOf({ ...hashed, ...spec })], options).evaluate(
    target({ ...integration, live, planned: new Map(Object.entries(after)) }),
  ).findings;

/** The findings after apply. */
const found = (given: Case): readonly string[] => findingsIn(given).flatMap(({ path, state }) => (state === "fixed" ? [] : [path]));

const at = (text: string): string => {
  const [schemaName, tableName, columnName, key] = text.split(".");
  return `/schemas/${schemaName}${tableName ? `/tables/${tableName}` : ""}${columnName ? `/columns/${columnName}` : ""}/${key}`;
};
const email = at("public.users.email.hashed");
const name = (text: string | readonly string[]) => ({ column: { name: text } });
const inIntegrations = (integration: IntegrationSelector): Case => ({
  spec: { when: { ...name("email"), integration } },
});
const exempt = (...exemptions: readonly Partial<PolicyExemption>[]): Case => ({
  spec: { when: name("email"), exemptions: exemptions.map((one) => ({ reason: "r", expires: "2027-06-01", ...one })) },
});

describe("a policy finds", () => {
  test.each<[string, Case, readonly string[]]>([
    ["unhashed columns by name, in replicated tables", { spec: { when: name("email") } }, [email]],
    ["names are case-sensitive", { spec: { when: name("EMAIL") } }, []],
    ["unless ignoreCase is set", { spec: { when: { column: { name: "EMAIL", ignoreCase: true } } } }, [email]],
    [
      "every column of a replicated table, if the condition is empty",
      { spec: { when: { column: {} } } },
      [at("public.users.id.hashed"), email, at("public.users.Email_2.hashed")],
    ],
    [
      "only enabled columns, if the condition says so",
      { spec: { when: { column: { enabled: true } } } },
      [at("public.users.id.hashed"), email],
    ],
    ["no primary keys, if the condition says so", { spec: { when: { column: { isPrimaryKey: false, enabled: true } } } }, [email]],
    ["only primary keys, if the condition says so", { spec: { when: { column: { isPrimaryKey: true } } } }, [at("public.users.id.hashed")]],
    ["nothing in schemas with another name", { spec: { when: { ...name("*mail*"), schema: { name: "private" } } } }, []],
    ["nothing in tables with another sync mode", { spec: { when: { ...name("*mail*"), table: { syncMode: "full" } } } }, []],
    ["not what a list excludes", { spec: { when: name(["*mail*", "!email"]) } }, [at("public.users.Email_2.hashed")]],
    ["columns that must be disabled", { spec: { when: name("phone"), require: { enabled: false } } }, [at("public.users.phone.enabled")]],
    [
      "both requirements",
      { spec: { when: name("email"), require: { enabled: false, hashed: true } } },
      [at("public.users.email.enabled"), email],
    ],
    [
      "tables that must be enabled",
      { spec: { when: { table: { name: "*" } }, require: { enabled: true } } },
      [at("public.archive..enabled"), at("closed.t..enabled")],
    ],
    [
      "tables that must be disabled, which those in a disabled schema are",
      { spec: { when: { table: { name: "*" } }, require: { enabled: false } } },
      [at("public.users..enabled")],
    ],
    [
      "only replicated tables, if the condition says so",
      { spec: { when: { table: { enabled: true } }, require: { enabled: false } } },
      [at("public.users..enabled")],
    ],
    ["schemas", { spec: { when: { schema: { name: "closed" } }, require: { enabled: true } } }, [at("closed...enabled")]],
    [
      "only enabled schemas, if the condition says so",
      { spec: { when: { schema: { enabled: true } }, require: { enabled: false } } },
      [at("public...enabled")],
    ],

    ["integrations by the name of their manifest", inIntegrations({ names: ["orders"] }), [email]],
    ["integrations by their live name", inIntegrations({ names: ["Ord*"] }), [email]],
    ["nothing in an integration that either of its names excludes", inIntegrations({ names: ["!Orders"] }), []],
    ["integrations by labels", inIntegrations({ labels: { domain: "sales" } }), [email]],
    ["nothing in an integration that lacks one of the labels", inIntegrations({ labels: { domain: "sales", tier: "gold" } }), []],
    ["nothing by a label that JavaScript objects inherit", inIntegrations({ labels: { constructor: "x" } }), []],

    ["the planned state: not a column that will be hashed", { spec: { when: name("email") }, after: { [email]: true } }, []],
    [
      "the planned state: a column that will be unhashed",
      { spec: { when: name("phone") }, after: { [at("public.users.phone.hashed")]: false } },
      [at("public.users.phone.hashed")],
    ],
    [
      "the planned state: columns of a table that will be replicated",
      { spec: { when: name("email") }, after: { [at("public.archive..enabled")]: true } },
      [email, at("public.archive.email.hashed")],
    ],
    [
      "the planned state: columns of a schema that will be replicated",
      { spec: { when: name("email") }, after: { [at("closed...enabled")]: true } },
      [email, at("closed.t.email.hashed")],
    ],
    [
      "the planned state: nothing in a table that will be disabled",
      { spec: { when: name("email") }, after: { [at("public.users..enabled")]: false } },
      [],
    ],

    ["nothing that an exemption covers", exempt({ schema: "public", table: "users", column: "email" }), []],
    ["nothing that an exemption without schema and column covers, on its longest time", exempt({ integration: "orders", table: "u*" }), []],
    ["a node whose exemption is for another integration", exempt({ integration: "billing" }), [email]],
    ["a node whose exemption is for another column", exempt({ integration: "orders", column: "phone" }), [email]],
    [
      "a table whose columns are exempt",
      {
        spec: {
          ...exempt({ integration: "orders", column: "*" }).spec,
          ...{ when: { table: { name: "archive" } }, require: { enabled: true } },
        },
      },
      [at("public.archive..enabled")],
    ],
    ["nothing that an exemption covers on its last day", exempt({ integration: "orders", column: "email", expires: today }), []],
    ["a node whose exemption expired yesterday", exempt({ integration: "orders", column: "email", expires: "2026-05-31" }), [email]],
    [
      "a node whose exemption ends in more than a year, and one whose exemption is for everything",
      exempt({ schema: "public", expires: "2027-06-02" }, { integration: "?*", column: "email", expires: today }),
      [email],
    ],
    [
      "nothing that a valid exemption covers beside an expired one",
      exempt({ integration: "orders", column: "email", expires: "2026-05-31" }, { integration: "orders", column: "email" }),
      [],
    ],
  ])("%s", (_sentence, given, expected) => {
    expect([...found(given)].sort()).toEqual([...expected].sort());
  });

  test("hostile names are ordinary names", () => {
    const hostile = ["__proto__", "constructor", "a/b", "a.b", "100%", "..", " x ", "ü", "~0"];
    const ofName = <T>(value: () => T): Record<string, T> =>
      Object.assign(Object.create(null), Object.fromEntries(hostile.map((key) => [key, value()])));
    const live = ofName(() => schema(ofName(() => table(ofName(() => column())))));
    const all = found({ spec: { when: name("*") }, live });
    expect(all).toHaveLength(hostile.length ** 3);
    expect(all).toContain("/schemas/__proto__/tables/a~1b/columns/~00/hashed");
    expect(found({ spec: { when: name(hostile) }, live })).toEqual(all);
  });

  test("a finding has policy, severity, state, values and message, and the line of the policy if no manifest decides the value", () => {
    const policy = policyOf(
      {
        ...hashed,
        severity: "warning",
        when: name("email"),
        exemptions: [{ integration: "orders", column: "email", reason: "DPIA-41", expires: "2026-01-31" }],
      },
      "pii",
    );
    const pointers: string[] = [];
    const locate = ({ pointer }: { readonly pointer: string }) => {
      pointers.push(pointer);
      return place;
    };
    expect(newPolicyEvaluator([policy], { ...options, locate }).evaluate(target()).findings).toEqual([
      {
        rule: "Policy/pii",
        severity: "warning",
        state: "existing",
        address: "Integration/orders",
        path: email,
        message: expect.stringMatching(
          /^unhashed \(its exemption, DPIA-41, expired on 2026-01-31: .+:\d+\. To keep the exemption, have it approved again and set a later date\)$/u,
        ),
        actual: false,
        required: true,
        ...place,
      },
    ]);
    expect(pointers).toEqual(["/spec/require/hashed", "/spec/exemptions/0/expires"]);
  });

  test("replicated tables with unknown columns are reported", () => {
    const policy = policyOf({ ...hashed, when: { ...name("email"), table: { name: "s*" } } });
    const live = { public: schema({ secret: table(undefined), other: table(undefined), soff: table(undefined, { enabled: false }) }) };
    const { tablesWithoutColumns, findings } = newPolicyEvaluator([policy], options).evaluate(target({ live }));
    expect([findings, tablesWithoutColumns]).toEqual([[], [["public", "secret"]]]);
  });
});

describe("the state of a finding", () => {
  const off = { [at("public.users..enabled")]: false };
  const clearPhone = { [at("public.users.phone.hashed")]: false };
  const hashEmail = { [email]: true };
  test.each<[string, Case, readonly string[]]>([
    ["is existing if nothing is planned", { spec: { when: name("email") } }, [`existing ${email}`]],
    [
      "is existing if the plan changes something else",
      { spec: { when: name("email") }, after: { [at("closed...enabled")]: false } },
      [`existing ${email}`],
    ],
    ["is fixed if the plan changes the value", { spec: { when: name("email") }, after: hashEmail }, [`fixed ${email}`]],
    ["is fixed if the plan disables the table", { spec: { when: name("email") }, after: off }, [`fixed ${email}`]],
    [
      "is new if the plan changes the value",
      { spec: { when: name("phone") }, after: clearPhone },
      [`new ${at("public.users.phone.hashed")}`],
    ],
    [
      "is new for a column that the plan replicates, existing for others",
      { spec: { when: name("email") }, after: { [at("public.archive..enabled")]: true } },
      [`existing ${email}`, `new ${at("public.archive.email.hashed")}`],
    ],
    [
      "is per node: one plan can fix one and cause another",
      { spec: { when: name(["email", "phone"]) }, after: { ...hashEmail, ...clearPhone } },
      [`fixed ${email}`, `new ${at("public.users.phone.hashed")}`],
    ],
  ])("%s", (_sentence, given, expected) => {
    expect(
      findingsIn(given)
        .map(({ state, path }) => `${state} ${path}`)
        .sort(),
    ).toEqual([...expected].sort());
  });

  test("is new for everything in an integration that this run created", () => {
    const evaluator = newPolicyEvaluator([policyOf({ ...hashed, when: name("email") })], options);
    expect(evaluator.evaluate(target({ isCreated: true })).findings.map(({ state }) => state)).toEqual(["new"]);
  });

  test("comes with the value before and the value that is required, and with what fixes it", () => {
    const evaluator = newPolicyEvaluator([policyOf({ ...hashed, when: name("email") })], options);
    const fixedBy: PolicyTarget["fixedBy"] = (path, key) => ({ file: `${path.join(".")} ${key}`, line: 3 });
    const { findings } = evaluator.evaluate(target({ planned: new Map([[email, true]]), fixedBy }));
    expect(findings).toEqual([
      expect.objectContaining({ state: "fixed", actual: false, required: true, file: "public.users.email hashed", line: 3 }),
    ]);
  });
});

test("columns are needed in the tables that a policy checks, and nowhere else", () => {
  const needed = (specs: readonly Partial<PolicySpec>[]) => {
    const policies = specs.map((spec, index) => policyOf({ ...hashed, ...spec }, `p${index}`));
    const isNeeded = newPolicyEvaluator(policies, options).columnsNeeded(orders);
    return isNeeded === undefined
      ? undefined
      : [isNeeded("public", "users", undefined), isNeeded("public", "t", "full"), isNeeded("x", "users", "full")];
  };
  expect(needed([{ when: { table: { name: "users" } } }, { when: { schema: {} } }])).toBeUndefined();
  expect(needed([{ when: name("email") }])).toEqual([true, true, true]);
  expect(needed([{ when: { ...name("email"), table: { name: "users" } } }])).toEqual([true, false, true]);
  expect(needed([{ when: { ...name("email"), schema: { name: "public" }, table: { syncMode: "full" } } }])).toEqual([false, true, false]);
  expect(needed([{ when: { ...name("email"), integration: { names: ["billing"] } } }])).toBeUndefined();
});
