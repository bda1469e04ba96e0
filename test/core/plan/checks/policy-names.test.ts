// A literal name in a policy that nothing has is a warning at its line, because the policy checks less than it says.
import { expect, test } from "vitest";
import type { LiveSchemas } from "../../../../src/core/base/model/live.ts";
import type { Manifest, PolicySpec } from "../../../../src/core/base/model/manifest.ts";
import { policyNames } from "../../../../src/core/plan/checks/policy-names.ts";
import { resourceOf } from "../../../support/accounts/view.ts";
import { column, schema, table } from "../../kinds/schema-config/fleet.ts";

const live: LiveSchemas = { public: schema({ users: table({ email: column(), Phone: column() }), orders: table({ note: column() }) }) };

type When = NonNullable<PolicySpec["when"]>;

const warnings = (when: When, tree: LiveSchemas = live): readonly string[] => {
  const spec = { severity: "error", when, require: { hashed: true }, message: "must be hashed" };
  const names = policyNames([resourceOf("Policy", "pii", spec) as Manifest<PolicySpec>]);
  names.add({ names: ["shop"], labels: {}, live: tree });
  return names
    .problems(["shop", "forum"].map((name) => ({ names: [name], labels: {} })))
    .map(({ code, place, message }) => `${code} ${place?.pointer} ${message}`);
};

test.each<[string, When, readonly string[]]>([
  ["that exist", { schema: { name: "public" }, table: { name: ["users", "order*"] }, column: { name: "email" } }, []],
  ["in another case", { column: { name: "phone", ignoreCase: true } }, []],
  ["of a glob that matches in another case", { column: { name: ["*ssn*", "*EMAIL*"] } }, ["/spec/when/column/name/1"]],
  ["of a glob that ignores the case", { column: { name: "*EMAIL*", ignoreCase: true } }, []],
  ["of a glob", { column: { name: ["*ssn*", "!email"] } }, []],
  ["of integrations that it does not check", { integration: { names: ["billing"] }, column: { name: "emial" } }, []],
  ["of a column", { column: { name: ["email", "emial"] } }, ["/spec/when/column/name/1"]],
  ["of a table and a schema", { schema: { name: "pubilc" }, table: { name: "user" } }, ["/spec/when/schema/name", "/spec/when/table/name"]],
])("names %s", (_, when, pointers) => {
  expect(warnings(when).map((text) => text.split(" ").slice(0, 2).join(" "))).toEqual(pointers.map((pointer) => `W_NO_MATCH ${pointer}`));
});

test("the warning has a similar name, and how to write one that does not exist yet", () => {
  expect(warnings({ column: { name: "emial" } })).toEqual([
    'W_NO_MATCH /spec/when/column/name No column in the integrations that Policy/pii checks has the name "emial". Did you mean email? Correct it. If it may not exist yet, write a glob, such as "emial*".',
  ]);
});

test("a policy whose integrations are all unmanaged checks nothing, and says so", () => {
  expect(warnings({ integration: { names: ["for*"] }, column: { name: "emial" } })).toEqual([
    "W_NO_MATCH /spec/when/integration Policy/pii checks nothing. It selects forum, but policies check only integrations that have a manifest or that a SchemaConfig selects. Write one, or correct the policy.",
  ]);
  expect(warnings({ integration: { names: ["for*", "shop"] }, column: { name: "email" } })).toEqual([]);
});

test("a table whose columns were not read may have any", () => {
  expect(warnings({ column: { name: "emial" } }, { public: schema({ users: table(undefined) }) })).toEqual([]);
});
