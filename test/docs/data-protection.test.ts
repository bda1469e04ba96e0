// The policy of docs/data-protection.md finds violations.

import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { policyFindings } from "../../src/core/base/model/findings.ts";
import type { Plan } from "../../src/index.ts";
import { runCommand } from "../support/command.ts";
import { diagnosticsOf } from "../support/findings.ts";
import { configText, keyVariable, writeProject } from "../support/project-folder.ts";
import { startService } from "../support/service.ts";

const docs = readFileSync(new URL("../../docs/data-protection.md", import.meta.url), "utf8");

test("the policy of docs/data-protection.md is valid, and finds violations", async () => {
  const service = await startService();
  onTestFinished(() => service.close());
  const [, declared = ""] = /```yaml\n(.*?)```/su.exec(docs) ?? [];
  const folder = writeProject({
    "dimsync.yaml": configText(service.url),
    "manifests/orders.yaml":
      "apiVersion: dimsync/v1\nkind: Integration\nmetadata: { name: orders, labels: { domain: sales } }\nspec: { match: { name: Orders } }\n",
    "manifests/pii.yaml": declared,
  });
  const { stdout } = await runCommand(["plan", "-q", "-o", "json"], folder, { [keyVariable]: service.apiKey });
  const plan = JSON.parse(stdout) as Plan;
  const [policy, diagnostics] = [policyFindings(plan), diagnosticsOf(plan)];
  expect(diagnostics).toEqual([]);
  expect(policy.map(({ rule: by, path }) => `${by} ${path.split("/").slice(4).join("/")}`)).toEqual([
    "Policy/pii-must-be-hashed customers/columns/email/hashed",
    "Policy/pii-must-be-hashed customers/columns/phone/hashed",
    "Policy/pii-must-be-hashed users/columns/email/hashed",
  ]);
});
