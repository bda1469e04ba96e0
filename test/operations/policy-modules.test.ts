import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadProject } from "../../src/manifests/project.ts";
import { loadPolicyModules } from "../../src/operations/policy-modules.ts";
import { writeProject } from "../support/project-folder.ts";

const policy = "apiVersion: dimsync/v1\nkind: Policy\nmetadata: { name: keys }\nspec: { severity: error, module: keys.mjs, message: m }\n";
const finding = (text: string): string => `export default () => [{ message: "${text}" }];\n`;

test("a module whose file changed is loaded again, as a controller with --watch needs it", async () => {
  const cwd = writeProject({ "policy.yaml": policy, "keys.mjs": finding("one") });
  const project = await loadProject({ cwd, env: {} });
  const found = async (): Promise<unknown> => {
    const tree = { integration: "orders", labels: {}, schemas: {} };
    return (await loadPolicyModules(project, { DIMSYNC_ALLOW_CODE: "1" })).get("Policy/keys")?.(tree as never);
  };
  expect(await found()).toEqual([{ message: "one" }]);
  writeFileSync(join(cwd, "keys.mjs"), finding("second"));
  expect(await found()).toEqual([{ message: "second" }]);
});
