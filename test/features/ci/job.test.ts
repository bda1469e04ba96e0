import { expect, test } from "vitest";
import { artifactSuffix } from "../../../src/features/ci/job.ts";

test.each([
  ["", ["prod"], "prod"],
  ["deploy/eu", ["a", "b"], "deploy-eu-a-b"],
  ["", ["p/r:o*d"], "p-r-o-d"],
])("the artifacts of folder %j and targets %j end with %s", (folder, targets, suffix) => {
  expect(artifactSuffix(folder, targets)).toBe(suffix);
});
