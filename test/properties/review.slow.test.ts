// What `ci apply` sends after the merge is what the comment on the pull request showed, and whatever makes the rules of the project weaker is named there.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loosenedOf } from "../../src/core/base/model/findings.ts";
import type { Plan } from "../../src/core/base/model/plan.ts";
import { startEmbeddedService } from "../../src/embedded/index.ts";
import { dbtManifest } from "../core/columns/labels/dbt-manifest.ts";
import { startReviewedRepository } from "../security/pull-request.ts";
import { dayIn } from "../support/clock.ts";
import fc from "../support/fast-check.ts";
import { runs, sampleOf } from "../support/sample.ts";
import { readySteps } from "../support/steps.ts";

/** What a pull request can do, and the codes of which one names it. */
const edits = {
  "remove the policy": ["policy-removed"],
  "make the policy a warning": ["policy-weakened", "policy-removed"],
  "narrow the policy": ["policy-weakened", "policy-removed"],
  "exempt a column": ["exemption-added", "policy-removed"],
  "raise a guard": ["guard-raised"],
  "lift a guard": ["allow-added"],
  "ignore an integration": ["ignore-added"],
  "ignore a table": ["ignore-added", "released"],
  "do not disable other tables": ["managed-less", "released"],
  "make the review less strict": ["managed-less"],
  "remove a rule": ["protection-lost", "released"],
  "lose a label of a manifest": ["label-lost"],
  "lose a label of a CSV file": ["label-lost"],
  "lose the meta of a column in dbt": ["label-lost"],
  "rename a column in dbt": ["label-lost"],
  "lose a table of dbt": ["label-lost"],
  "delete the SchemaConfig": ["released"],
  "read fewer files": ["managed-less"],
  "expose with a rule": [],
  "hash more": [],
  "describe a tag with a variable": [],
  "set attributes": [],
} as const;
type Edit = keyof typeof edits;
const names = Object.keys(edits) as Edit[];

function projectOf(url: string, done: readonly Edit[]): Readonly<Record<string, string>> {
  const has = (edit: Edit): boolean => done.includes(edit);
  const inTwentyDays = dayIn(20);
  const lines = (...all: readonly (string | false)[]): string => `${all.filter((one) => one !== false).join("\n")}\n`;
  const config = lines(
    "apiVersion: dimsync/v1\nkind: Config",
    has("read fewer files") ? "manifests: [manifests]" : "manifests: [manifests, more]",
    `guards: { maxExposedColumns: ${has("raise a guard") ? 500 : 400}, maxChangedPercent: 100 }`,
    !has("make the review less strict") && "review: strict",
    has("lift a guard") && `allow: [{ guard: maxCreates, reason: one, until: ${inTwentyDays} }]`,
    has("ignore an integration") && 'ignore: [{ address: "Schemas/*", path: /schemas, reason: tidy }]',
    `vars: { text: ${has("describe a tag with a variable") ? "other" : "Contains personal data"} }`,
    `targets: { prod: { baseUrl: "${url}", apiKey: { $secret: { env: DIMSYNC_API_KEY } } } }`,
  );
  const orders = lines(
    "apiVersion: dimsync/v1\nkind: SchemaConfig\nmetadata: { name: orders }\nspec:\n  integration: { id: 8f1c }",
    !has("do not disable other tables") && "  unmatched: { tables: disable }",
    "  rules:\n    - { match: { table: '*s' }, set: { enabled: true } }",
    has("hash more") && "    - { match: { column: phone }, set: { hashed: true } }",
    !has("remove a rule") && "    - { id: names, match: { column: [email, contact_email] }, set: { hashed: true } }",
    "    - { id: labels, match: { label: [pii, file, dbt] }, set: { hashed: true } }",
    has("expose with a rule") && "    - { id: open, match: { schema: public, table: users, column: email }, set: { hashed: false } }",
    has("ignore a table") && "    - { match: { table: customers }, ignore: true }",
  );
  const policy = lines(
    "apiVersion: dimsync/v1\nkind: Policy\nmetadata: { name: pii }\nspec:",
    `  severity: ${has("make the policy a warning") ? "warning" : "error"}`,
    `  when: { column: { name: [${has("narrow the policy") ? "email" : "email, contact_email"}] } }\n  require: { hashed: true }\n  message: readable`,
    has("exempt a column") && `  exemptions: [{ schema: public, table: users, column: email, reason: one, expires: ${dayIn(90)} }]`,
  );
  const labels = `apiVersion: dimsync/v1
kind: Classification
metadata: { name: personal }
spec:
  labels: [{ label: pii, match: { column: [${has("lose a label of a manifest") ? "nothing" : "actor_email"}] } }]
  from:
    - csv: { file: labels.csv }
    - dbt: { manifest: dbt/target/manifest.json, label: dbt, where: { meta: { contains_pii: true } } }
`;
  const personal = { meta: { contains_pii: true } };
  const customers = { schema: "orders", columns: { city: has("lose the meta of a column in dbt") ? {} : personal } };
  const payments = { schema: "orders", columns: { [has("rename a column in dbt") ? "payment_method" : "method"]: personal } };
  const products = has("lose a table of dbt") ? {} : { products: { schema: "orders", columns: { title: personal } } };
  return {
    "dimsync.yaml": config,
    "labels.csv": `integration,schema,table,column,label\nOrders,public,users,id,file\n${has("lose a label of a CSV file") ? "" : "Orders,public,customers,phone,file\n"}`,
    "dbt/target/manifest.json": dbtManifest({ customers, payments, ...products }),
    "manifests/orders.yaml": has("delete the SchemaConfig") ? "# nothing\n" : orders,
    "manifests/policy.yaml": has("remove the policy") ? "# nothing\n" : policy,
    "manifests/labels.yaml": labels,
    "manifests/tag.yaml": `apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: pii }\nspec: { name: PII, description: "\${var.text}" }\n`,
    "more/tag.yaml": "apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: gold }\nspec: { name: Gold }\n",
    ".gitattributes": has("set attributes") ? "*.yaml working-tree-encoding=UTF-8 eol=lf\n" : "",
    ".gitignore": ".dimsync/\n",
  };
}

async function review(done: readonly Edit[]): Promise<void> {
  const sent: { readonly method: string; readonly path: string; readonly body: unknown }[] = [];
  const service = await startEmbeddedService({
    apiKeys: { key: "bot@example.com" },
    onExchange: ({ method, path, requestBody }) => void (method === "GET" || sent.push({ method, path, body: requestBody })),
  });
  onTestFinished(service.close);
  const repository = await startReviewedRepository("key", projectOf(service.url, []));
  const first = await repository.mergeAndApply("main");
  expect(first.code, first.output).toBe(0);
  repository.commit("feature", projectOf(service.url, done));
  const planFile = join(repository.root, "plan.json");
  const planned = await repository.plan("feature", { flags: ["--out", planFile] });
  const plan = JSON.parse(readFileSync(planFile, "utf8")) as Plan;
  const comment = repository.comment();
  expect(plan.complete, planned.output).toBe(true);
  const codes = new Set<string>(loosenedOf(plan).map(({ rule }) => rule));
  for (const edit of done) {
    const wanted: readonly string[] = edits[edit];
    // What a removed object contained is not compared one by one.
    if (wanted.length > 0) expect([edit, wanted.some((code) => codes.has(code) && comment.includes(`\`${code}\``))]).toEqual([edit, true]);
  }
  if (done.every((edit) => edits[edit].length === 0)) expect([...codes]).toEqual([]);
  if (codes.size > 0) expect(comment).toContain("### This pull request also loosens");
  const labels = loosenedOf(plan).flatMap(({ rule, address }) => (rule === "label-lost" ? [address] : []));
  expect(labels, "each once").toEqual([...new Set(labels)]);
  sent.length = 0;
  const applied = await repository.mergeAndApply("feature");
  const shown = readySteps(plan)
    .flatMap(({ requests }) => requests)
    .map(({ method, path, body }) => ({ method, path, body }));
  // A guard that this pull request raised or that only a review has may let the merged manifests pass.
  if (sent.length > 0 || plan.executable) expect(sent, applied.output).toEqual(shown);
  // The comment has each object, and how many requests of each method there are.
  for (const { address } of sent.length === 0 ? [] : readySteps(plan).filter(({ requests }) => requests.length > 0))
    expect(comment).toContain(address.replace(/^Schemas\//u, "").replace(/#.*$/u, ""));
  for (const method of new Set(sent.map((one) => one.method)))
    expect(comment).toContain(`${sent.filter((one) => one.method === method).length} ${method}`);
}

// One edit for each set of codes: each takes two jobs in CI and their checkouts.
test.each(sampleOf(names, { name: "edits", kindOf: (name) => edits[name].join() }))(
  "%s: it is named, and what is sent after the merge is what the plan showed",
  async (name) => {
    await review([name]);
  },
);

test("the same for several of them at once", async () => {
  await fc.assert(fc.asyncProperty(fc.subarray(names, { minLength: 2, maxLength: 4 }), review), {
    numRuns: runs(4, 60),
    endOnFailure: true,
  });
});
