// Runs docs/adopt.md: writes yaml blocks that begin with a file's name, runs console blocks, and
// compares their output with the page. "…" on its own line matches any lines, within a line any
// text.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Ran } from "../support/command.ts";
import { runCommand } from "../support/command.ts";

interface Step {
  readonly title: string;
  readonly run: (folder: string) => Promise<void>;
}

const page = await readFile(new URL("../../docs/adopt.md", import.meta.url), "utf8");

function stepsOf(text: string): readonly Step[] {
  return [...text.matchAll(/^```(yaml|console)\n(.*?)^```$/gmsu)].flatMap(([, language, body = ""]): readonly Step[] => {
    const file = /^# (\S+\.yaml)\n/u.exec(body)?.[1];
    if (language === "yaml")
      return file === undefined ? [] : [{ title: `write ${file}`, run: (folder) => writeFile(join(folder, file), body) }];
    const [command = "", ...expected] = body.trimEnd().split("\n");
    return [{ title: command, run: async (folder) => matches(await type(command, folder), expected) }];
  });
}

/** The words of a line, as a shell splits it; the page only quotes globs. */
function type(command: string, folder: string): Promise<Ran> {
  const [prompt, program, ...argv] = command.split(" ").map((word) => word.replace(/^'(.*)'$/u, "$1"));
  expect([prompt, program]).toEqual(["$", "dimsync"]);
  return runCommand(argv, folder);
}

function matches({ code, stdout, stderr }: Ran, expected: readonly string[]): void {
  const pattern = expected
    .map((line) =>
      line === "…"
        ? "(?:.*\\n)*?"
        : `${line
            .split("…")
            .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/gu, "\\$&"))
            .join(".*")}\\n`,
    )
    .join("");
  expect({ code, stderr, stdout }).toEqual({ code: 0, stderr: "", stdout: expect.stringMatching(new RegExp(`^${pattern}$`, "u")) });
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "dimsync-adopt-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const steps = stepsOf(page);

test("the page has steps to run", () => {
  expect(steps.length).toBeGreaterThan(5);
});

test.each(steps)("$title", async ({ run }) => {
  await run(folder);
});
