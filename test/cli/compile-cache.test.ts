import { chmodSync, existsSync, readdirSync } from "node:fs";
import Module from "node:module";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { dimsync, type Ended, emptyFolder, quickstart, quickstartSecrets } from "./built-cli.ts";

const isKept = "enableCompileCache" in Module;

/** Runs `validate` with a folder for caches that only the user can write. */
function start() {
  const caches = emptyFolder();
  const cwd = quickstart();
  const validate = (env: Readonly<Record<string, string>> = {}): Promise<Ended> =>
    dimsync(["validate"], { cwd, env: { ...quickstartSecrets, NODE_COMPILE_CACHE: "", XDG_CACHE_HOME: caches, ...env } });
  return { caches, validate, kept: join(caches, "dimsync/compiled") };
}

const filesIn = (folder: string): readonly string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [entry.name] : []))
    : [];

describe.skipIf(!isKept)("compiled code", () => {
  test("is kept by one run for the next one, which prints the same", async () => {
    const { validate, kept } = start();
    const first = await validate();
    expect(first).toMatchObject({ code: 0, stderr: "" });
    expect(filesIn(kept).length).toBeGreaterThan(0);
    expect(await validate()).toEqual(first);
  });

  test.each<[string, Readonly<Record<string, string>>]>([
    ["with NODE_DISABLE_COMPILE_CACHE", { NODE_DISABLE_COMPILE_CACHE: "1" }],
    ["without a folder for caches", { XDG_CACHE_HOME: "" }],
  ])("is not kept %s", async (_, env) => {
    const { validate, kept } = start();
    expect(await validate(env)).toMatchObject({ code: 0 });
    expect(filesIn(kept)).toEqual([]);
  });

  test("is not kept if others can write the folder", async () => {
    const { caches, validate, kept } = start();
    chmodSync(caches, 0o777);
    expect(await validate()).toMatchObject({ code: 0 });
    expect(filesIn(kept)).toEqual([]);
  });
});

test.skipIf(isKept)("a Node.js that keeps no compiled code leaves no folder", async () => {
  const { validate, kept } = start();
  expect(await validate()).toMatchObject({ code: 0 });
  expect(existsSync(kept)).toBe(false);
});
