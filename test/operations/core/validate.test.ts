import { expect, it } from "vitest";
import { validateProject } from "../../../src/operations/core/validate.ts";
import { config, headings, load, manifest } from "../../manifests/project-on-disk.ts";

async function problemsOf(...manifests: readonly string[]): Promise<readonly string[]> {
  const project = await load({ "dimsync.yaml": config("manifests: [m.yaml]"), "m.yaml": manifests.join("---\n") });
  return headings((await validateProject(project)).diagnostics);
}

const orders = manifest("Integration", "orders", "spec: {}");
const sets = manifest("RuleSet", "pii", "spec:", '  rules: [{ match: { column: "*email*" }, set: { hashed: ja } }, { use: none }]');

// Line 6 is the first of the given lines.
const shops = (...lines: readonly string[]) => manifest("SchemaConfig", "shops", "spec:", "  integration: ordres", ...lines);

it.each<readonly [string, readonly string[], readonly string[]]>([
  [
    "of the wrong type, and all other problems of its document, each at its own line",
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
      "m.yaml:10:14 E_UNKNOWN_RULE_SET",
      "m.yaml:11:25 E_WRONG_VALUE",
      "m.yaml:5:16 W_REFERENCE_NOT_DECLARED",
    ],
  ],
  [
    "in a RuleSet, which other manifests then still use",
    [sets, shops("  rules: [{ use: pii }]")],
    ["m.yaml:5:58 E_WRONG_TYPE", "m.yaml:5:73 E_UNKNOWN_RULE_SET"],
  ],
  [
    "instead of a list, and the references beside it",
    [shops("  rules: 7"), orders],
    ["m.yaml:6:10 E_WRONG_TYPE", "m.yaml:5:16 W_REFERENCE_NOT_DECLARED"],
  ],
  ["without which nothing else means anything", [manifest("SchemaConfig", "shops", "spec: 7"), orders], ["m.yaml:4:7 E_WRONG_TYPE"]],
])("validate reports a value %s", async (_, manifests, wanted) => {
  expect(await problemsOf(...manifests)).toEqual(wanted);
});
