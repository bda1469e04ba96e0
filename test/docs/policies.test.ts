import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import type { Plan } from "../../src/index.ts";
import { runCommand } from "../support/command.ts";
import { configText, keyVariable, writeProject } from "../support/project-folder.ts";
import { startService } from "../support/service.ts";

const docs = readFileSync(new URL("../../docs/policies.md", import.meta.url), "utf8");
const blocks = (language: string): readonly string[] =>
  [...docs.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "gsu"))].map(([, text = ""]) => text);

test("the policies of docs/policies.md are valid, and find violations", async () => {
  const service = await startService();
  onTestFinished(() => service.close());
  const [declared = "", inJavaScript = ""] = blocks("yaml");
  const folder = writeProject({
    "dimsync.yaml": configText(service.url),
    "manifests/orders.yaml":
      "apiVersion: dimsync/v1\nkind: Integration\nmetadata: { name: orders, labels: { domain: sales } }\nspec: { match: { name: Orders } }\n",
    "manifests/pii.yaml": declared,
    "manifests/keys.yaml": `apiVersion: dimsync/v1\nkind: Policy\nmetadata: { name: keys }\n${inJavaScript}`,
    "policies/keys.mjs": blocks("js")[0] ?? "",
  });
  service.mutate((account) => {
    for (const column of Object.values(account.integrations[0]?.schemas["public"]?.tables["users"]?.columns ?? {}))
      column.isPrimaryKey = false;
  });
  const { stdout } = await runCommand(["plan", "-q", "-o", "json", "--allow-code"], folder, { [keyVariable]: service.apiKey });
  const { policy, diagnostics } = JSON.parse(stdout) as Plan;
  expect(diagnostics).toEqual([]);
  expect(policy.map(({ policy: by, path }) => `${by} ${path.split("/").slice(4).join("/")}`)).toEqual([
    "keys users",
    "pii-must-be-hashed customers/columns/email/hashed",
    "pii-must-be-hashed customers/columns/phone/hashed",
    "pii-must-be-hashed users/columns/email/hashed",
  ]);
});
