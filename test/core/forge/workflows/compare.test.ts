import { expect, test } from "vitest";
import { workflowDifferences } from "../../../../src/core/forge/workflows/compare.ts";
import { ciFiles } from "../../../../src/core/forge/workflows/index.ts";

const options = { version: "1.0.0", targets: ["prod"], hosts: ["api.example.com"] };
const texts = { ...ciFiles("github", options), ...ciFiles("gitlab", options) };
const [plan, apply, gitlab] = [".github/workflows/dimsync-plan.yml", ".github/workflows/dimsync-apply.yml", "dimsync.gitlab-ci.yml"];

test.each<[string, string, readonly [string | RegExp, string], readonly string[]]>([
  ["another runner", plan, [/ubuntu-latest/gu, "self-hosted"], []],
  ["a comment, a timeout and a step of their own", plan, ["timeout-minutes: 30", "timeout-minutes: 5 # short"], []],
  [
    "a filter of paths",
    apply,
    ["    branches: [main]", "    branches: [main]\n    paths: ['manifests/**']"],
    ["paths: manifests/**, which init does not write"],
  ],
  ["another branch", plan, ["branches: [main]", "branches: [dev]"], ["branches: dev instead of main"]],
  ["no branch", plan, ["pull_request: { branches: [main] }", "pull_request:"], ["branches: main is missing"]],
  [
    "an event with the secrets of the repository",
    plan,
    ["  merge_group:", "  pull_request_target:"],
    ["event: pull_request_target, which init does not write"],
  ],
  ["a missing permission", plan, ["  pull-requests: write\n", ""], ["permissions: pull-requests: write is missing"]],
  [
    "all permissions",
    plan,
    [/permissions:\n.*\n.*\n/u, "permissions: write-all\n"],
    ["permissions: write-all instead of contents: read, pull-requests: write"],
  ],
  ["other targets", plan, ['target: ["prod"]', 'target: ["prod", "old"]'], ["targets: old, which init does not write"]],
  ["other hosts", gitlab, ["api.example.com", "old.example.com"], ["DIMSYNC_ALLOWED_HOSTS: old.example.com instead of api.example.com"]],
  [
    "the key that can write",
    plan,
    ["DIMSYNC_READ_KEY }}", "DIMSYNC_API_KEY }}"],
    [`DIMSYNC_API_KEY: $\{{ secrets.DIMSYNC_API_KEY }} instead of $\{{ secrets.DIMSYNC_READ_KEY }}`],
  ],
  ["an earlier version", gitlab, ["dimsync@1.0.0", "dimsync@0.9.0"], ["version: dimsync@0.9.0 instead of dimsync@1.0.0"]],
  [
    "an action of a tag",
    plan,
    [/actions\/checkout@\w+ # v6.0.2/u, "actions/checkout@v6"],
    ["actions that are not pinned: actions/checkout@v6, which init does not write"],
  ],
  ["only the last commit", plan, ["fetch-depth: 0", "fetch-depth: 1"], ["fetch-depth: 1 instead of 0"]],
  ["another command", apply, ["ci apply", "ci plan"], ["command: ci plan instead of ci apply"]],
])("a workflow with %s", (_, path, [from, to], differences) => {
  const expected = texts[path] ?? "";
  expect(workflowDifferences(expected.replace(from, to), expected)).toEqual(differences);
});

test("a file that is not YAML is not compared", () => {
  expect(workflowDifferences("a: [", "a: b")).toEqual(["it is not valid YAML"]);
});
