import { expect, test } from "vitest";
import { emptyLabelSelectors } from "../../../src/core/kinds/label-references.ts";
import type { Resource } from "../../../src/core/model/resource.ts";
import { resourceOf } from "../../support/accounts/view.ts";

const integrations = [
  resourceOf("Integration", "orders", {}, { labels: { domain: "sales", tier: "gold" } }),
  resourceOf("Integration", "billing", {}, { labels: { domain: "finance" } }),
];
const config = (integrations: object) => resourceOf("SchemaConfig", "c", { integrations });
const tag = (...resources: readonly object[]) => resourceOf("Tag", "t", { name: "T", resources });
const policy = (integration: object) => resourceOf("Policy", "p", { when: { integration } });

const rows: readonly [sentence: string, resource: Resource, problems: readonly string[]][] = [
  ["labels that an integration has", config({ labels: { domain: "sales" } }), []],
  ["labels of different integrations", config({ labels: { domain: "finance", tier: "gold" } }), ["/spec/integrations"]],
  ["names only, which may match live integrations", config({ names: ["shop-*"] }), []],
  ["names with labels that no integration has", config({ names: ["*"], labels: { domain: "salse" } }), ["/spec/integrations"]],
  ["a selector of a tag", tag({ integration: "orders" }, { integrations: { labels: { x: "y" } } }), ["/spec/resources/1/integrations"]],
  ["a selector of a policy", policy({ labels: { domain: "hr" } }), ["/spec/when/integration"]],
  ["a policy for all integrations", resourceOf("Policy", "p", { when: { column: {} } }), []],
];
test.each(rows)("%s", (_, resource, problems) => {
  expect(emptyLabelSelectors([...integrations, resource]).map(({ code, place }) => [code, place?.pointer])).toEqual(
    problems.map((pointer) => ["W_SELECTOR_EMPTY", pointer]),
  );
});

test("a similar label is suggested", () => {
  const [problem] = emptyLabelSelectors([...integrations, config({ labels: { domain: "salse" } })]);
  expect(problem?.message).toContain("Did you mean domain: sales?");
});
