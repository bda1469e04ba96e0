// Accepting drift makes the smallest edit, and gives a reason where it makes none.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { eachChange } from "../../../../src/core/base/model/changes.ts";
import { fromPointer } from "../../../../src/core/base/model/json/pointer.ts";
import { acceptDrift } from "../../../../src/core/drift/accept/accept.ts";
import type { AccountState } from "../../../../src/embedded/data/account.ts";
import { dayIn } from "../../../support/clock.ts";
import { diagnosticsOf } from "../../../support/findings.ts";
import { byHandSteps, readySteps } from "../../../support/steps.ts";
import { story } from "../account.ts";

const integration =
  "apiVersion: dimsync/v1\nkind: Integration\nmetadata: { name: orders } # ours\nspec:\n  match: { name: Orders }\n  expect: { paused: false }\n";
const config = (spec: string, name = "shops") =>
  `apiVersion: dimsync/v1\nkind: SchemaConfig\nmetadata: { name: ${name} }\nspec:\n  integration: orders\n${spec}`;

function column(state: AccountState, table: string, name: string, id = "8f1c") {
  const found = state.integrations.find((one) => one.id === id)?.schemas["public"]?.tables[table]?.columns[name];
  if (found === undefined) throw new Error(`no column ${table}.${name}`);
  return found;
}

const hashed = (table: string, name: string, value: boolean, id?: string) => (state: AccountState) => {
  column(state, table, name, id).hashed = value;
};

interface Row {
  readonly files: Readonly<Record<string, string>>;
  readonly change: (state: AccountState) => void;
  /** Lines that the edit removes (-) and adds (+). */
  readonly diff: readonly string[];
  /** The files that are edited. */
  readonly edited?: readonly string[];
}

const rows: Readonly<Record<string, Row>> = {
  "a literal is changed in place": {
    files: {
      "a.yaml": integration,
      "b.yaml": config("  schemas:\n    public:\n      tables:\n        users: { columns: { email: { hashed: true } } } # GDPR\n"),
    },
    change: hashed("users", "email", false),
    diff: [
      "-        users: { columns: { email: { hashed: true } } } # GDPR",
      "+        users: { columns: { email: { hashed: false } } } # GDPR",
    ],
  },
  "a rule is overridden by a literal after the existing literals": {
    files: {
      "a.yaml": integration,
      "b.yaml": config(
        "  rules:\n    - { id: pii, match: { table: users, column: email }, set: { hashed: true } } # why\n  schemas:\n    public:\n      tables:\n        users:\n          enabled: true # keep\n",
      ),
    },
    change: hashed("users", "email", false),
    diff: ["+          columns:", "+            email: { hashed: false }"],
  },
  "a rule is overridden by a new literal tree": {
    files: {
      "a.yaml": integration,
      "b.yaml": config("  rules:\n    - { id: pii, match: { table: users, column: email }, set: { hashed: true } } # why\n  # the end\n"),
    },
    change: hashed("users", "email", false),
    diff: ["+  schemas:", "+    public:", "+      tables:", "+        users: { columns: { email: { hashed: false } } }"],
  },
  "a rule of a shared RuleSet is overridden by a literal": {
    files: {
      "a.yaml": integration,
      "b.yaml": `${config("  rules: [{ use: pii }]\n  schemas: {}\n")}---\napiVersion: dimsync/v1\nkind: RuleSet\nmetadata: { name: pii }\nspec:\n  rules:\n    - { match: { table: users, column: email }, set: { hashed: true } }\n`,
    },
    change: hashed("users", "email", false),
    diff: ["-  schemas: {}", "+  schemas: { public: { tables: { users: { columns: { email: { hashed: false } } } } } }"],
  },
  "of two SchemaConfigs, the one whose literal decides is changed": {
    files: {
      "a.yaml": integration,
      "b.yaml": config("  schemas: { public: { tables: { users: { columns: { email: { hashed: true } } } } } }\n"),
      "c.yaml": config("  priority: 5\n  schemas: { public: { tables: { orders: { enabled: true } } } }\n", "top"),
    },
    change: hashed("users", "email", false),
    diff: [
      "-  schemas: { public: { tables: { users: { columns: { email: { hashed: true } } } } } }",
      "+  schemas: { public: { tables: { users: { columns: { email: { hashed: false } } } } } }",
    ],
  },
  "one integration of several gets its own SchemaConfig": {
    files: {
      "b.yaml":
        'apiVersion: dimsync/v1\nkind: SchemaConfig\nmetadata: { name: fleet }\nspec:\n  integrations: { names: ["shop-shard-*"] }\n  priority: 2\n  rules:\n    - { match: { table: payments, column: iban }, set: { hashed: true } }\n',
    },
    change: hashed("payments", "iban", false, "51a2"),
    diff: [
      "+---",
      "+# Accepted from the account: differs from SchemaConfig/fleet.",
      "+apiVersion: dimsync/v1",
      "+kind: SchemaConfig",
      "+metadata: { name: fleet-shop-shard-02 }",
      "+spec:",
      '+  integration: { id: "51a2" }',
      "+  priority: 3",
      "+  schemas:",
      "+    public:",
      "+      tables:",
      "+        payments: { columns: { iban: { hashed: false } } }",
    ],
  },
  "a rule of a SchemaConfig below another one is overridden in its own file": {
    files: {
      "a.yaml": integration,
      "b.yaml": config("  rules: [{ match: { table: users, column: email }, set: { hashed: true } }]\n"),
      "c.yaml": config("  priority: 5\n  schemas: { public: { tables: { orders: { enabled: true } } } }\n", "top"),
    },
    change: hashed("users", "email", false),
    diff: ["+  schemas:", "+    public:", "+      tables:", "+        users: { columns: { email: { hashed: false } } }"],
    edited: ["b.yaml"],
  },
  "a SchemaConfig of one integration above the one that decides takes the literal": {
    files: {
      "a.yaml": integration,
      "b.yaml":
        'apiVersion: dimsync/v1\nkind: SchemaConfig\nmetadata: { name: fleet }\nspec:\n  integrations: { names: ["ord*"] }\n  rules: [{ match: { table: users, column: email }, set: { hashed: true } }]\n',
      "c.yaml": config("  priority: 5\n  schemas: { public: { tables: { orders: { enabled: true } } } }\n", "own"),
    },
    change: hashed("users", "email", false),
    diff: [
      "-  schemas: { public: { tables: { orders: { enabled: true } } } }",
      "+  schemas: { public: { tables: { orders: { enabled: true }, users: { columns: { email: { hashed: false } } } } } }",
    ],
    edited: ["c.yaml"],
  },
  "the new SchemaConfig of an integration is in the file of its manifest": {
    files: {
      "a.yaml": integration,
      "b.yaml":
        'apiVersion: dimsync/v1\nkind: SchemaConfig\nmetadata: { name: fleet }\nspec:\n  integrations: { names: ["ord*"] }\n  rules: [{ match: { table: users, column: email }, set: { hashed: true } }]\n',
    },
    change: hashed("users", "email", false),
    diff: [
      "+---",
      "+# Accepted from the account: differs from SchemaConfig/fleet.",
      "+apiVersion: dimsync/v1",
      "+kind: SchemaConfig",
      "+metadata: { name: fleet-orders }",
      "+spec:",
      "+  integration: orders",
      "+  priority: 1",
      "+  schemas:",
      "+    public:",
      "+      tables:",
      "+        users: { columns: { email: { hashed: false } } }",
    ],
    edited: ["a.yaml"],
  },
  "an expectation of an integration": {
    files: { "a.yaml": integration },
    change: (state) => {
      for (const one of state.integrations) if (one.id === "8f1c") one.paused = true;
    },
    diff: ["-  expect: { paused: false }", "+  expect: { paused: true }"],
  },
  "the name in create of an integration that someone renamed": {
    files: {
      "a.yaml":
        'apiVersion: dimsync/v1\nkind: Integration\nmetadata: { name: orders, id: "8f1c" }\nspec:\n  destination: { id: d-12 }\n  create:\n    name: Orders # ours\n    sourceId: s-1\n    destinationSchema: orders\n    replicationFrequency: 1h\n',
    },
    change: (state) => {
      for (const one of state.integrations) if (one.id === "8f1c") one.name = "Sales";
    },
    diff: ["-    name: Orders # ours", "+    name: Sales # ours"],
  },
  "a tag's description and owner": {
    files: {
      "t.yaml":
        "apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: pii }\nspec:\n  name: PII\n  description: 'Contains personal data' # text\n  owner:\n    user: privacy@example.com # who\n",
    },
    change: (state) => {
      for (const tag of state.tags) if (tag.name === "PII") Object.assign(tag, { description: "It's ours: all of it", owner: "u-5" });
    },
    diff: [
      "-  description: 'Contains personal data' # text",
      "-  owner:",
      "-    user: privacy@example.com # who",
      "+  description: 'It''s ours: all of it' # text",
      "+  owner: u-5",
    ],
  },
  "an expectation of one table": {
    files: {
      "a.yaml": integration,
      "b.yaml": config("  expect:\n    - { match: { schema: public, table: orders }, syncMode: incremental, cursorField: updated_at }\n"),
    },
    change: (state) => {
      const table = state.integrations.find(({ id }) => id === "8f1c")?.schemas["public"]?.tables["orders"];
      if (table !== undefined) table.syncMode = "full_refresh";
    },
    diff: [
      "-    - { match: { schema: public, table: orders }, syncMode: incremental, cursorField: updated_at }",
      "+    - { match: { schema: public, table: orders }, syncMode: full_refresh, cursorField: updated_at }",
    ],
  },
};

describe("accepting drift makes the smallest edit, and the next report has no drift", () => {
  test.each(Object.entries(rows))("%s", async (_, { files, change, diff, edited }) => {
    const { service, report, accept } = await story(files);
    // The manifests first match the seed, so that only the row's change is drift.
    const before = await report();
    service.mutate((state) => {
      for (const item of readySteps(before))
        for (const { path, after } of eachChange(item)) {
          const { liveId } = item;
          const [, , , table = "", , name = "", key] = fromPointer(path);
          if (key === "hashed" && liveId !== undefined) column(state, table, name, liveId).hashed = after === true;
        }
    });
    const left = await report();
    expect([left.counts.update, byHandSteps(left)]).toEqual([0, []]);

    service.mutate(change);
    const drifted = await report();
    expect(drifted.exit.code).toBe(2);
    const accepted = await accept();
    expect(accepted.unaccepted).toEqual([]);
    const shown = accepted.edits.flatMap((edit) => edit.diff.split("\n").filter((line) => /^[+-](?![+-][+-] )/u.test(line)));
    expect(shown).toEqual(diff);
    if (edited !== undefined) expect(accepted.edits.map(({ file }) => file.replace("manifests/", ""))).toEqual(edited);
    const after = await report();
    // A rule that no longer decides anything is only reported.
    expect(diagnosticsOf(after).filter(({ severity }) => severity !== "info")).toEqual([]);
    expect(after.exit.reasons).toEqual([]);
  });
});

test("differences that cannot be accepted are left unchanged, with a reason", async () => {
  const { service, read, accept } = await story(
    {
      "a.yaml": integration.replace("paused: false", "paused: '${" + "var.paused}'"),
      "t.yaml":
        "apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: gold }\nspec:\n  name: Gold\n  taggedBy: u-3\n  resources:\n    - integration: orders\n",
    },
    { vars: { paused: false } },
  );
  service.mutate((state) => {
    for (const one of state.integrations) if (one.id === "8f1c") one.paused = true;
  });
  const before = read("a.yaml");
  const { edits, accepted, unaccepted } = await accept();
  expect(edits).toEqual([]);
  expect(accepted).toEqual([]);
  expect(unaccepted).toEqual([
    { address: "Tag/gold#8f1c", path: "", why: expect.stringContaining("remove the resource") },
    { address: "Integration/orders", path: "/paused", why: expect.stringContaining("$" + "{var.paused}") },
  ]);
  expect(read("a.yaml")).toBe(before);
});

test("a live value that a policy of severity error does not allow is not accepted", async () => {
  const { service, read, accept, report } = await story({
    "a.yaml": integration,
    "b.yaml": config(
      "  schemas:\n    public:\n      tables:\n        customers: { enabled: true, columns: { phone: { hashed: true } } }\n        users: { enabled: false, columns: { email: { hashed: true } } }\n",
    ),
    "p.yaml": `apiVersion: dimsync/v1\nkind: Policy\nmetadata: { name: pii }\nspec:\n  severity: error\n  when: { column: { name: email, enabled: true } }\n  require: { hashed: true }\n  message: personal data\n  exemptions: [{ schema: public, table: customers, reason: test, expires: ${dayIn(9)} }]\n`,
  });
  service.mutate((state) => {
    for (const name of ["email", "phone"]) column(state, "customers", name).hashed = name === "email";
    column(state, "users", "email").hashed = true;
    Object.assign(state.integrations.find(({ id }) => id === "8f1c")?.schemas["public"]?.tables["users"] ?? {}, { enabled: false });
  });
  service.mutate((state) => {
    column(state, "users", "email").hashed = false;
    Object.assign(state.integrations.find(({ id }) => id === "8f1c")?.schemas["public"]?.tables["users"] ?? {}, { enabled: true });
  });
  const before = read("b.yaml");
  const { accepted, unaccepted } = await accept();
  expect(accepted).toHaveLength(1);
  expect(unaccepted.map(({ path, why }) => [path, why])).toEqual(
    ["/schemas/public/tables/users/columns/email/hashed", "/schemas/public/tables/users/enabled"].map((path) => [
      path,
      "Policy/pii does not allow the live value. Run apply to revert it, or add an exemption to the policy.",
    ]),
  );
  expect(read("b.yaml")).toBe(before.replace("phone: { hashed: true }", "phone: { hashed: false }"));
  expect(
    readySteps(await report())
      .filter(({ verb }) => verb === "update")
      .flatMap(({ changes }) => changes),
  ).toHaveLength(2);
});

test.each([
  ["config", "The manifests changed here, not the account."],
  ["conflict", "Both the manifests and the account changed here."],
] as const)("a difference whose origin is %s is not accepted: %s", async (origin, why) => {
  const at = await story({
    "b.yaml": `${integration}---\n${config("  schemas: { public: { tables: { users: { columns: { email: { hashed: true } } } } } }\n")}`,
  });
  const report = await at.report();
  const steps = report.steps.map((step) => ({ ...step, changes: step.changes.map((change) => ({ ...change, origin })) }));
  const { edits, unaccepted } = await acceptDrift({ ...report, steps }, await at.load(), at.folder);
  expect(edits).toEqual([]);
  expect(unaccepted).toEqual([{ address: "Schemas/orders", path: expect.stringMatching(/email/u), why: expect.stringContaining(why) }]);
});

test("a difference of one account is accepted for this target alone, although others load the same rule", async () => {
  const { service, report, load, folder } = await story({
    "b.yaml":
      'apiVersion: dimsync/v1\nkind: SchemaConfig\nmetadata: { name: fleet }\nspec:\n  integrations: { names: ["shop-shard-*"] }\n  rules:\n    - { match: { table: payments, column: iban }, set: { hashed: true } }\n',
  });
  service.mutate((state) => {
    column(state, "payments", "iban", "51a2").hashed = false;
  });
  const { edits } = await acceptDrift({ ...(await report()), severalTargets: true }, await load(), folder);
  expect(edits.map(({ diff }) => diff).join("")).toMatch(
    /# Accepted from the account of test: [\s\S]*metadata: \{ name: fleet-shop-shard-02-test, targets: \[test\] \}/u,
  );
});

test("a byte order mark and all other bytes stay", async () => {
  const { service, read, accept, folder } = await story({ "a.yaml": "" });
  writeFileSync(join(folder, "manifests/a.yaml"), `\ufeff# first\r\n${integration.replaceAll("\n", "\r\n")}`);
  service.mutate((state) => {
    for (const one of state.integrations) if (one.id === "8f1c") one.paused = true;
  });
  const before = read("a.yaml");
  await accept();
  expect(read("a.yaml")).toBe(before.replace("paused: false", "paused: true"));
});
