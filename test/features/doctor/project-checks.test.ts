import { expect, test } from "vitest";
import { nodeCheck } from "../../../src/features/doctor/project-checks.ts";

test.each([
  [{ node: "22.1.0" }, "ok", "dimsync 1.0.0 on Node 22.1.0."],
  [{ node: "20.18.3" }, "fail", "dimsync 1.0.0 on Node 20.18.3."],
  [{ node: "24.3.0", bun: "1.3.2" }, "warn", "dimsync 1.0.0 on Bun 1.3.2, which reports Node 24.3.0."],
  [{ node: "24.2.0", deno: "2.5.0" }, "warn", "dimsync 1.0.0 on Deno 2.5.0, which reports Node 24.2.0."],
] as const)("doctor names what dimsync runs on: %j", (versions, state, found) => {
  expect(nodeCheck("1.0.0", versions)).toMatchObject({ state, found });
});
