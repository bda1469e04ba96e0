import { expect, test } from "vitest";
import { applyInTurn, artifactSuffix, splitOutputs } from "../../src/ci/apply-job.ts";
import type { ExitCode } from "../../src/model/exit.ts";

test.each<[string, readonly string[], Partial<ReturnType<typeof splitOutputs>>]>([
  ["a log is written for each target in turn", ["human", "ndjson"], { perTarget: ["human", "ndjson"], atEnd: [], isStdoutTaken: false }],
  ["a file is written at the end", ["junit=a.xml", "sarif=a.sarif"], { atEnd: ["junit=a.xml", "sarif=a.sarif"], isStdoutTaken: false }],
  ["one document on stdout is written at the end", ["json"], { perTarget: [], atEnd: ["json"], isStdoutTaken: true }],
  ["events in a file are collected", ["ndjson=e=1", "human"], { eventFiles: ["e=1"], perTarget: ["human"], atEnd: [] }],
])("%s", (_sentence, output, expected) => {
  expect(splitOutputs(output)).toMatchObject(expected);
});

test("targets are applied in turn, the bindings are kept after each, and an interruption ends the job", async () => {
  const done: string[] = [];
  const interruption = new AbortController();
  const step = (name: string, exit: ExitCode) => ({
    apply: async () => {
      done.push(`apply ${name}`);
      return exit;
    },
    keepBindings: async () => {
      done.push(`keep ${name}`);
      if (name === "b") interruption.abort();
      return 0 as const;
    },
  });
  expect(await applyInTurn([step("a", 4), step("b", 0), step("c", 0)], interruption.signal)).toEqual([4, 0, 0, 0]);
  expect(done).toEqual(["apply a", "keep a", "apply b", "keep b"]);
});

test.each([
  ["", ["prod"], "prod"],
  ["deploy/eu", ["a", "b"], "deploy-eu-a-b"],
  ["", ["p/r:o*d"], "p-r-o-d"],
])("the artifacts of folder %j and targets %j end with %s", (folder, targets, suffix) => {
  expect(artifactSuffix(folder, targets)).toBe(suffix);
});
