// Files are written under Yarn Plug'n'Play too.
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { dimsync, quickstart, quickstartSecrets } from "../../../cli/built-cli.ts";

const handles = fileURLToPath(new URL("pnp-handles.cjs", import.meta.url));

test.each([
  { args: ["plan", "--out", "plan.json"], code: 0 },
  { args: ["apply", "--yes"], code: 0 },
  { args: ["import"], code: 1 },
  { args: ["bind", "Asset/lake=d-1"], code: 0 },
  { args: ["validate", "-o", "json=problems.json"], code: 0 },
])("$args writes its files under Yarn Plug'n'Play", async ({ args, code }) => {
  const env = { ...quickstartSecrets, NODE_OPTIONS: `--require ${JSON.stringify(handles)}` };
  const ended = await dimsync(args, { cwd: quickstart(), env });
  expect({ code: ended.code, errors: ended.stderr.match(/^.*(?:E_|not implemented|argument must).*$/mu) }).toEqual({ code, errors: null });
});
