// Every name that a manifest writes and nothing has is a problem at its line (promise N). One table for each kind of name; a new place needs a row.
import { describe, expect, test } from "vitest";
import type { Manifest } from "../../../src/core/base/model/manifest.ts";
import type { Problem } from "../../../src/core/base/model/problem.ts";
import { projectNameProblems, selectorProblems } from "../../../src/core/kinds/written-names.ts";
import { accountViewOf, liveIntegration, resourceOf } from "../../support/accounts/view.ts";

const integrations = [
  resourceOf("Integration", "orders", {}, { labels: { domain: "sales", tier: "gold" } }),
  resourceOf("Integration", "billing", {}, { labels: { domain: "finance" } }),
];
const config = (selector: object, more: object = {}) => resourceOf("SchemaConfig", "c", { integrations: selector, ...more });
const tag = (selector: object) => resourceOf("Tag", "t", { name: "T", resources: [{ integration: "orders" }, { integrations: selector }] });
const policy = (integration: object) => resourceOf("Policy", "p", { when: { integration } });

/** Every place where a manifest selects integrations. */
const places: readonly (readonly [pointer: string, written: (selector: object) => Manifest])[] = [
  ["/spec/integrations", config],
  ["/spec/when/integration", policy],
  ["/spec/resources/1/integrations", tag],
];
const shown = (problems: readonly Problem[]) => problems.map(({ code, place }) => `${code} ${place?.pointer}`);

describe("labels of selectors, from the manifests alone", () => {
  const rows: readonly [sentence: string, labels: object, problems: readonly string[], says?: string][] = [
    ["that an integration has", { domain: "sales" }, []],
    ["of different integrations", { domain: "finance", tier: "gold" }, ["W_NO_MATCH "]],
    ["that none has", { domain: "salse" }, ["E_UNKNOWN_REFERENCE /labels/domain"], "Did you mean domain: sales?"],
    ["of which none has one", { domain: "sales", tear: "gold" }, ["E_UNKNOWN_REFERENCE /labels/tear"], "Did you mean tier: gold?"],
    ["that only another target has", { domain: "hr" }, ["W_NO_MATCH "]],
  ];
  const elsewhere = [{ kind: "Integration", name: "people", labels: { domain: "hr" }, uses: [] }];
  for (const [pointer, written] of places)
    test.each(rows)(`${pointer}: %s`, (_sentence, labels, expected, says = "") => {
      const found = projectNameProblems([...integrations, written({ names: ["*"], labels })], elsewhere);
      expect(shown(found)).toEqual(expected.map((one) => one.replace(" ", ` ${pointer}`)));
      expect(found.map(({ message }) => message).join("")).toContain(says);
    });
});

describe("names of selectors, with the account", () => {
  const account = accountViewOf(integrations, {
    integrations: [liveIntegration("a1", "Shop", "s1"), liveIntegration("a2", "Shop [EU]", "s2"), liveIntegration("a3", "", "s3")],
  });
  const rows: readonly [sentence: string, names: readonly string[], problems: readonly string[], says?: string][] = [
    ["of a manifest", ["orders"], []],
    ["of the account", ["Shop"], []],
    ["of the account, with glob signs", ["Shop [EU]"], []],
    ["an id of an integration without a name", ["a3"], []],
    ["that nothing has, beside one that exists", ["orders", "Shopp"], ["E_UNKNOWN_REFERENCE 1"], "Did you mean Shop?"],
    ["in another case", ["SHOP"], ["E_UNKNOWN_REFERENCE 0"], "Did you mean Shop?"],
    ["with a trailing blank", ["Shop "], ["E_UNKNOWN_REFERENCE 0"], 'Did you mean "Shop"?'],
    ["that is excluded", ["*", "!Shopp"], ["E_UNKNOWN_REFERENCE 1"]],
    ["a glob", ["Sh*"], []],
    ["a glob that matches nothing", ["orders", "shard-*"], ["W_NO_MATCH 1"]],
    ["a glob that would match in another case", ["SH*"], ["W_NO_MATCH 0"], "In another case it would match Shop, Shop [EU]."],
    ["of another target, or of an entry that cannot be read", ["orders", "people"], []],
    ["that exclude each other", ["Shop", "!Sh*"], ["W_NO_MATCH"]],
  ];
  for (const [pointer, written] of places)
    test.each(rows)(`${pointer}: %s`, (_sentence, names, expected, says = "") => {
      const found = selectorProblems([written({ names })], account, ["people"]);
      expect(shown(found)).toEqual(expected.map((one) => one.replace(/^(\w+) ?/u, `$1 ${pointer}${one.includes(" ") ? "/names/" : ""}`)));
      expect(found.map(({ message }) => message).join("")).toContain(says);
    });

  test.each([
    ["ignore", []],
    ["warn", ["W_NO_MATCH /spec/integrations/names/0"]],
    ["error", ["E_UNKNOWN_REFERENCE /spec/integrations/names/0"]],
  ])("missing: %s of a SchemaConfig decides for literal names", (missing, expected) => {
    expect(shown(selectorProblems([config({ names: ["Shopp", "orders"] }, { missing })], account, []))).toEqual(expected);
  });

  // The only word about them; one that matches nothing has a warning of its own.
  test.each<[integration: string, problems: readonly string[]]>([
    ["orders", []],
    ["Shop [EU]", []],
    ["Shopp", ["E_UNKNOWN_REFERENCE /spec/exemptions/1/integration"]],
    ["shard-*", []],
    ["people", []],
    ["Store", []],
  ])("an exemption for %s", (integration, expected) => {
    const exemptions = [{ schema: "public" }, { integration }];
    const manifest = resourceOf("Policy", "p", { when: { column: {} }, exemptions });
    const earlier = { ...account, kept: new Map([["a4", { identity: ["Store"], schemas: new Map() }]]) };
    expect(shown(selectorProblems([manifest], earlier, ["people"]))).toEqual(expected);
  });

  test("one whose rename is a finding of the plan is not reported again", () => {
    const renamed = { ...account, covered: new Map([["SchemaConfig/c" as const, new Map([["a1", "Store"]])]]) };
    expect(selectorProblems([config({ names: ["Store"] })], renamed, [])).toEqual([]);
  });
});

describe("RuleSets that nobody uses", () => {
  const rules = (...uses: readonly string[]) => ({ rules: uses.map((use) => ({ use })) });
  const set = (name: string, ...uses: readonly string[]) => resourceOf("RuleSet", name, rules(...uses));
  const rows: readonly [sentence: string, manifests: readonly Manifest[], problems: readonly string[]][] = [
    ["one that a SchemaConfig uses", [set("a"), resourceOf("SchemaConfig", "c", rules("a"))], []],
    ["one that a used RuleSet uses", [set("a"), set("b", "a"), resourceOf("SchemaConfig", "c", rules("b"))], []],
    ["one that another target uses", [set("shared")], []],
    ["one that nothing uses", [set("a")], ["W_UNUSED /metadata/name"]],
    ["two that only use each other", [set("a", "b"), set("b", "a")], ["W_UNUSED /metadata/name", "W_UNUSED /metadata/name"]],
  ];
  test.each(rows)("%s", (_sentence, manifests, expected) => {
    const elsewhere = [{ kind: "SchemaConfig", name: "c", labels: {}, uses: ["shared"] }];
    expect(shown(projectNameProblems(manifests, elsewhere))).toEqual(expected);
  });
});

test("two rules with one id are reported at the second", () => {
  const rule = (id: string) => ({ id, match: { column: "a" }, set: { hashed: true } });
  const manifest = resourceOf("SchemaConfig", "c", { integration: "orders", rules: [rule("a"), rule("b"), rule("a")] });
  expect(shown(projectNameProblems([manifest], []))).toEqual(["W_DUPLICATE_ID /spec/rules/2/id"]);
});
