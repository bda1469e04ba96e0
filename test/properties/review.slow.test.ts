import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Plan } from "../../src/core/model/plan.ts";
import { startEmbeddedService } from "../../src/embedded/index.ts";
import { dayIn } from "../support/clock.ts";
import { runCommand } from "../support/command.ts";
import fc from "../support/fast-check.ts";
import { keyVariable, writeProject } from "../support/project-folder.ts";
import { runs } from "../support/sample.ts";

// What apply sends after the merge is what the plan of the pull request showed, and whatever makes the rules of the project weaker is named there.

/** What a pull request can do, and the codes of which one names it. */
const edits = {
  "remove the policy": ["policy-removed"],
  "make the policy a warning": ["policy-weakened", "policy-removed"],
  "narrow the policy": ["policy-weakened", "policy-removed"],
  "exempt a column": ["exemption-added", "policy-removed"],
  "raise a guard": ["guard-raised"],
  "turn a guard off": ["guard-off"],
  "lift a guard": ["allow-added"],
  "ignore an integration": ["ignore-added"],
  "ignore a table": ["ignore-added", "released"],
  "do not disable other tables": ["managed-less", "released"],
  "let existing findings pass": ["managed-less"],
  "remove a rule": ["protection-lost", "released"],
  "lose a label of a manifest": ["label-lost"],
  "lose a label of a file": ["label-lost"],
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
    `guards: { maxExposedColumns: ${has("raise a guard") ? 500 : 400}, maxChangedPercent: 100${has("turn a guard off") ? "" : ", outsideChanges: refuse"} }`,
    !has("let existing findings pass") && "policies: { existing: refuse }",
    has("lift a guard") && `allow: [{ guard: maxCreates, reason: one, until: ${inTwentyDays} }]`,
    has("ignore an integration") && 'ignore: [{ address: "Schemas/*", path: /schemas, reason: tidy }]',
    `vars: { text: ${has("describe a tag with a variable") ? "other" : "Contains personal data"} }`,
    `targets: { default: { baseUrl: "${url}", apiKey: { $secret: { env: ${keyVariable} } } } }`,
  );
  const orders = lines(
    "apiVersion: dimsync/v1\nkind: SchemaConfig\nmetadata: { name: orders }\nspec:\n  integration: { id: 8f1c }",
    !has("do not disable other tables") && "  unmatched: { tables: disable }",
    "  rules:\n    - { match: { table: '*s' }, set: { enabled: true } }",
    has("hash more") && "    - { match: { column: phone }, set: { hashed: true } }",
    !has("remove a rule") && "    - { id: names, match: { column: [email, contact_email] }, set: { hashed: true } }",
    "    - { id: labels, match: { label: [pii, file] }, set: { hashed: true } }",
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
  from: [{ csv: { file: labels.csv } }]
`;
  return {
    "dimsync.yaml": config,
    "labels.csv": `integration,schema,table,column,label\nOrders,public,users,id,file\n${has("lose a label of a file") ? "" : "Orders,public,customers,phone,file\n"}`,
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
  const folder = writeProject({});
  const git = (...args: readonly string[]): string =>
    execFileSync("git", ["-C", folder, "-c", "user.name=T", "-c", "user.email=t@example.com", ...args], { encoding: "utf8" });
  const run = (...argv: readonly string[]) => runCommand([...argv, "-q"], folder, { [keyVariable]: "key" });
  const commit = (files: Readonly<Record<string, string>>): void => {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    git("add", "-A");
    git("commit", "-qm", "change", "--allow-empty");
  };
  git("init", "-q", "-b", "main");
  commit(projectOf(service.url, []));
  const first = await run("apply", "--yes");
  expect(first.code, first.stdout + first.stderr).toBe(0);
  git("checkout", "-qb", "feature");
  commit(projectOf(service.url, done));
  const planned = await run("plan", "--base", "main", "-o", "json");
  const plan = JSON.parse(planned.stdout) as Plan;
  expect(plan.complete, planned.stdout).toBe(true);
  const codes = new Set<string>((plan.loosened ?? []).map(({ code }) => code));
  for (const edit of done) {
    const wanted: readonly string[] = edits[edit];
    // What a removed object contained is not compared one by one.
    if (wanted.length > 0) expect([edit, wanted.some((code) => codes.has(code))]).toEqual([edit, true]);
  }
  if (done.every((edit) => edits[edit].length === 0)) expect([...codes]).toEqual([]);
  git("checkout", "-q", "main");
  git("merge", "-q", "--no-edit", "feature");
  sent.length = 0;
  await run("apply", "--yes");
  const shown = plan.items.flatMap(({ requests }) => requests).map(({ method, path, body }) => ({ method, path, body }));
  // A guard that this pull request raised or that only a review has may let the merged manifests pass.
  if (sent.length > 0 || plan.executable) expect(sent).toEqual(shown);
}

test.each(names)("%s: it is named, and what is sent after the merge is what the plan showed", async (name) => {
  await review([name]);
});

test("the same for several of them at once", async () => {
  await fc.assert(fc.asyncProperty(fc.subarray(names, { minLength: 2, maxLength: 4 }), review), {
    numRuns: runs(4, 60),
    endOnFailure: true,
  });
});
