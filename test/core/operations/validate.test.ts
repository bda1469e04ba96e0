// validate reports each problem once, for all targets.

import { expect, it } from "vitest";
import { validateProject, validateProjects } from "../../../src/core/operations/validate.ts";
import { diagnosticsOf } from "../../support/findings.ts";
import { config, headings, load, manifest } from "../manifests/project-on-disk.ts";

async function problemsOf(...manifests: readonly string[]): Promise<readonly string[]> {
  const project = await load({ "dimsync.yaml": config("manifests: [m.yaml]"), "m.yaml": manifests.join("---\n") });
  return headings(diagnosticsOf(await validateProject(project)));
}

const orders = manifest("Integration", "orders", "spec: {}");
const sets = manifest("RuleSet", "pii", "spec:", '  rules: [{ match: { column: "*email*" }, set: { hashed: ja } }, { use: none }]');

// Line 6 is the first of the given lines.
const shops = (...lines: readonly string[]) => manifest("SchemaConfig", "shops", "spec:", "  integration: ordres", ...lines);

it.each<readonly [string, readonly string[], readonly string[]]>([
  [
    "of the wrong type, and the others that its document has by itself, each at its own line",
    [
      shops(
        "  missing: 7",
        "  rules:",
        "    - { match: { tabel: a }, set: { hashed: yes } }",
        "    - { match: { table: b }, set: { hashed: yes } }",
        "    - { use: pii-colums }",
        "    - { match: { table: [] }, set: { enabled: true } }",
        "    - { match: { table: d, label: none }, set: { hashed: true } }",
      ),
      orders,
    ],
    [
      "m.yaml:6:12 E_WRONG_VALUE",
      "m.yaml:8:18 E_UNKNOWN_KEY",
      "m.yaml:8:45 E_WRONG_TYPE",
      "m.yaml:9:45 E_WRONG_TYPE",
      "m.yaml:11:25 E_WRONG_VALUE",
    ],
  ],
  ["in a RuleSet, which other manifests then still use", [sets, shops("  rules: [{ use: pii }]")], ["m.yaml:5:58 E_WRONG_TYPE"]],
  ["instead of a list, and not the references beside it", [shops("  rules: 7"), orders], ["m.yaml:6:10 E_WRONG_TYPE"]],
  ["without which nothing else means anything", [manifest("SchemaConfig", "shops", "spec: 7"), orders], ["m.yaml:4:7 E_WRONG_TYPE"]],
])("validate reports a value %s", async (_, manifests, wanted) => {
  expect(await problemsOf(...manifests)).toEqual(wanted);
});

it.each<readonly [string, readonly string[], readonly string[]]>([
  ["with a spec that must be a map", ["spec: 7"], ["pii.yaml:4:7 E_WRONG_TYPE"]],
  ["with rules that must be a list", ["spec: { rules: 7 }"], ["pii.yaml:4:16 E_WRONG_TYPE"]],
  ["without a spec", [], ["pii.yaml:1:1 E_MISSING_KEY"]],
  ["with a second spec", ["spec: { rules: [] }", "spec: 7"], ["pii.yaml:5:1 E_DUPLICATE_KEY"]],
])("validate reports a RuleSet %s once, and not each SchemaConfig that uses it", async (_, lines, wanted) => {
  const uses = manifest("SchemaConfig", "shops", "spec:", "  integration: ordres", "  rules: [{ use: pii }, { use: pi }]");
  const project = await load({
    "dimsync.yaml": config("manifests: [pii.yaml, m.yaml]"),
    "pii.yaml": manifest("RuleSet", "pii", ...lines),
    "m.yaml": uses,
  });
  expect(headings(diagnosticsOf(await validateProject(project)))).toEqual(["m.yaml:6:32 E_UNKNOWN_REFERENCE", ...wanted]);
});

it.each([
  ["kind", "apiVersion: dimsync/v1\nkind: Ruleset\nmetadata: { name: email-rules }\nspec: { rules: [] }\n", "E_UNKNOWN_KIND"],
  ["name", "apiVersion: dimsync/v1\nkind: RuleSet\nmetadata: { nmae: email-rules }\nspec: { rules: [] }\n", "E_UNKNOWN_KEY"],
])("validate reports a RuleSet with an unknown %s once", async (_, text, code) => {
  const project = await load({
    "dimsync.yaml": config("manifests: [pii.yaml, m.yaml]"),
    "pii.yaml": text,
    "m.yaml": manifest("SchemaConfig", "shops", "spec:", "  integration: ordres", "  rules: [{ use: email-rules }]"),
  });
  expect(diagnosticsOf(await validateProject(project)).map((one) => one.code)).toEqual([code]);
});

it("several targets are one document: what is wrong in one of them only says so", async () => {
  const files = {
    "dimsync.yaml": config("manifests: [m.yaml]", "targets: { prod: {}, dev: { vars: { name: X } } }"),
    "m.yaml": `${manifest("Tag", "pii", "spec: { name: 12 }")}---\n${manifest("Asset", "a", `spec: { name: "\${var.name}" }`)}`,
  };
  const projects = [await load(files, { target: "prod" }), await load(files, { target: "dev" })];
  const found = await validateProjects(projects);
  const { targets, manifests } = found;
  const diagnostics = diagnosticsOf(found);
  expect([targets, manifests, headings(diagnostics)]).toEqual([
    ["prod", "dev"],
    1,
    ["m.yaml:4:15 E_WRONG_TYPE", "m.yaml:9:15 E_WRONG_SUBSTITUTION"],
  ]);
  expect(diagnostics.map(({ message }) => / Only in .*/u.exec(message)?.[0])).toEqual([undefined, " Only in target prod."]);
});
