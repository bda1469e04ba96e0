import { mkdtempSync, rmSync } from "node:fs";
import { cp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { builtCli } from "../cli/built-cli.ts";
import { withoutPrograms } from "../support/without-programs.ts";

/**
 * A copy of the built command line for all tests of a file, since dist/ may be rebuilt at any time, with an empty PATH, so
 * that a run finds no other program. Returns the program's path once the tests have begun.
 */
export function copyForAll(): () => string {
  withoutPrograms();
  let folder = "";
  let program = "";
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "dimsync-cli-"));
    await cp(dirname(builtCli), folder, { recursive: true });
    program = join(folder, basename(builtCli));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return () => program;
}

/** The operations that kill-at.mjs lists at the end of a process, such as "rename dimsync.bindings.yaml.*.tmp". */
export const operationsIn = (stderr: string): readonly string[] =>
  [...stderr.matchAll(/^operation: (.*)$/gmu)].map(([, operation = ""]) =>
    operation.replaceAll(/[0-9a-f]{16}/gu, "*").replace(/dimsync-test-.*/u, "folder"),
  );
