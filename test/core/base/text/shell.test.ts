// A printed command line survives a shell, whatever the names in it.
import { describe, expect, test } from "vitest";
import { forTarget, shellWord, withFlags } from "../../../../src/core/base/text/shell.ts";

describe("a command line for a project with several targets", () => {
  test.each([
    ["names the target", "dimsync plan", "dimsync plan -t prod"],
    [
      "does so in each command",
      "dimsync plan --out p.json && dimsync apply p.json",
      "dimsync plan --out p.json -t prod && dimsync apply p.json -t prod",
    ],
    ["keeps a redirection at the end", "dimsync plan > a.txt", "dimsync plan -t prod > a.txt"],
    ["keeps a target that it names", "dimsync plan -t staging", "dimsync plan -t staging"],
    ["keeps a target in another form", "dimsync plan --target=staging", "dimsync plan --target=staging"],
    ["adds nothing to a command without a target", "dimsync show plan.json", "dimsync show plan.json"],
    ["adds nothing to a command that prints help", "dimsync drift --help", "dimsync drift --help"],
    ["adds nothing to another program", "dbt parse", "dbt parse"],
    ["adds nothing to flags", '--allow maxCreates="reason"', '--allow maxCreates="reason"'],
    ["reads quoted words", `dimsync lock --reason "a && b > c" `, `dimsync lock --reason "a && b > c" -t prod `],
    [
      "is not misled by a name",
      `dimsync bind ${shellWord("Tag/it's -t && dimsync plan\n=1")}`,
      `dimsync bind ${shellWord("Tag/it's -t && dimsync plan\n=1")} -t prod`,
    ],
  ])("%s", (_, line, expected) => {
    expect(forTarget(line, { target: "prod", severalTargets: true })).toBe(expected);
    expect(forTarget(expected, { target: "prod", severalTargets: true })).toBe(expected);
    expect(forTarget(line, { target: "prod" })).toBe(line);
  });

  test("quotes the target", () => {
    expect(forTarget("dimsync plan", { target: "my target", severalTargets: true })).toBe("dimsync plan -t 'my target'");
  });
});

test("flags of a run are added once", () => {
  const flags = [
    ["-C", "deploy"],
    ["-t", "prod"],
  ] as const;
  expect(withFlags("dimsync show plan.json", flags)).toBe("dimsync show plan.json -C deploy");
  expect(withFlags(withFlags("dimsync plan", flags), flags)).toBe("dimsync plan -C deploy -t prod");
});
