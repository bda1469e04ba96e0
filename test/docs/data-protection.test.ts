// The policy of docs/data-protection.md finds violations.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { policyFindings } from "../../src/core/base/model/findings.ts";
import { diagnosticsOf } from "../support/findings.ts";
import { openProject } from "../support/open-project.ts";

const docs = readFileSync(new URL("../../docs/data-protection.md", import.meta.url), "utf8");

test("the policy of docs/data-protection.md is valid, and finds violations", async () => {
  const [, declared = ""] = /```yaml\n(.*?)```/su.exec(docs) ?? [];
  const { made } = await openProject({
    "manifests/orders.yaml":
      "apiVersion: dimsync/v1\nkind: Integration\nmetadata: { name: orders, labels: { domain: sales } }\nspec: { match: { name: Orders } }\n",
    "manifests/pii.yaml": declared,
  });
  const plan = await made("plan");
  expect(diagnosticsOf(plan)).toEqual([]);
  expect(policyFindings(plan).map(({ rule: by, path }) => `${by} ${path.split("/").slice(4).join("/")}`)).toEqual([
    "Policy/pii-must-be-hashed customers/columns/email/hashed",
    "Policy/pii-must-be-hashed customers/columns/phone/hashed",
    "Policy/pii-must-be-hashed users/columns/email/hashed",
  ]);
});
