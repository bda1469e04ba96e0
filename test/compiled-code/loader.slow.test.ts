import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { builtCli, dimsync, type Ended, emptyFolder, quickstart, quickstartSecrets, repository } from "../cli/built-cli.ts";

const isNode20 = process.versions.node.startsWith("20.");

/** A project, and a folder for caches that only the user can write. */
function start() {
  const caches = emptyFolder();
  const folder = quickstart();
  const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> =>
    dimsync(args, { cwd: folder, env: { ...quickstartSecrets, XDG_CACHE_HOME: caches, ...env } });
  const kept = (command: string): string => join(caches, "dimsync/compiled", `${command}.node20`);
  return { folder, run, kept };
}

describe.runIf(isNode20)("compiled code on Node.js 20", () => {
  test("is kept for each command by the second run, and the next one prints the same", async () => {
    const { run, kept } = start();
    const first = await run(["plan"]);
    expect(first).toMatchObject({ code: 0, stderr: "" });
    expect(headerOf(readFileSync(kept("plan"))).entries).toEqual([]);
    expect(await run(["plan"])).toEqual(first);
    const { mode, mtimeMs, ino } = statSync(kept("plan"));
    expect(mode & 0o777).toBe(0o600);
    const names = headerOf(readFileSync(kept("plan"))).entries.map(([name]) => name);
    expect(names).toEqual(expect.arrayContaining([expect.stringMatching(/^core-/u), expect.stringMatching(/^account-/u)]));
    expect(await run(["plan"])).toEqual(first);
    // Not written again.
    expect(statSync(kept("plan"))).toMatchObject({ mtimeMs, ino });
    expect(existsSync(kept("validate"))).toBe(false);
    await run(["validate"]);
    expect(existsSync(kept("validate"))).toBe(true);
  });

  test("is added for files that only a later run needs", async () => {
    const { run, kept } = start();
    for (let i = 0; i < 2; i++) await run(["plan"]);
    const before = statSync(kept("plan")).size;
    const json = await run(["plan", "-o", "json"]);
    const after = statSync(kept("plan"));
    expect(after.size).toBeGreaterThan(before);
    expect(JSON.parse((await run(["plan", "-o", "json"])).stdout)).toMatchObject({ summary: JSON.parse(json.stdout).summary });
    expect(statSync(kept("plan"))).toMatchObject({ ino: after.ino });
  });

  test.each([
    ["cut short", (path: string) => truncateSync(path, statSync(path).size - 100)],
    ["empty", (path: string) => truncateSync(path, 0)],
    ["something else", (path: string) => writeFileSync(path, "{}\n{}")],
    [
      "of another version of Node.js",
      (path: string) => writeFileSync(path, readFileSync(path, "latin1").replace(process.version, "v20.0.1"), "latin1"),
    ],
    ["with code that V8 does not accept", (path: string) => writeFileSync(path, withoutCode(readFileSync(path)))],
  ])("is compiled again if the file is %s", async (_, change) => {
    const { run, kept } = start();
    await run(["validate"]);
    const first = await run(["validate"]);
    const intact = readFileSync(kept("validate"));
    change(kept("validate"));
    expect(readFileSync(kept("validate")).equals(intact)).toBe(false);
    expect(await run(["validate"])).toEqual(first);
    expect(statSync(kept("validate")).size).toBeGreaterThan(intact.length / 2);
  });

  test("is never run for a source that changed, even if it is as long as before", async () => {
    const installed = emptyFolder();
    cpSync(dirname(builtCli), join(installed, "dist"), { recursive: true });
    cpSync(join(repository, "schema"), join(installed, "schema"), { recursive: true });
    const env = { ...quickstartSecrets, PATH: process.env["PATH"], XDG_CACHE_HOME: emptyFolder() };
    const validate = (): string =>
      spawnSync(process.execPath, [join(installed, "dist/bin.cjs"), "validate"], { cwd: quickstart(), env, encoding: "utf8" }).stdout;
    for (let i = 0; i < 3; i++) expect(validate()).toMatch(/^Valid: /u);
    const lib = join(installed, "dist/lib");
    for (const name of readdirSync(lib).filter((name) => name.startsWith("core-"))) {
      const code = readFileSync(join(lib, name), "utf8");
      expect(code).toContain("Valid: ");
      writeFileSync(join(lib, name), code.replace("Valid: ", "VALID: "));
    }
    expect(validate()).toMatch(/^VALID: /u);
    expect(validate()).toMatch(/^VALID: /u);
  });

  test("still loads the modules of policies", async () => {
    const { folder, run } = start();
    writeFileSync(
      join(folder, "manifests/policy.yaml"),
      "apiVersion: dimsync/v1\nkind: Policy\nmetadata: { name: keys }\nspec: { severity: warning, module: keys.mjs, message: m }\n",
    );
    writeFileSync(join(folder, "keys.mjs"), 'export default () => [{ message: "found by the module" }];\n');
    for (let i = 0; i < 3; i++) expect((await run(["plan", "--allow-code"])).stdout).toContain("found by the module");
  });

  test.each([
    ["in CI", { CI: "true" }],
    ["with NODE_DISABLE_COMPILE_CACHE", { NODE_DISABLE_COMPILE_CACHE: "1" }],
  ])("is not kept %s", async (_, env) => {
    const { run, kept } = start();
    expect(await run(["validate"], env)).toMatchObject({ code: 0 });
    expect(existsSync(kept("validate"))).toBe(false);
  });

  test("is not kept by a run that ends with an error", async () => {
    const { folder, run, kept } = start();
    writeFileSync(join(folder, "manifests/more.yaml"), "kind: Nothing\n");
    expect(await run(["validate"])).toMatchObject({ code: 1 });
    expect(existsSync(kept("validate"))).toBe(false);
  });

  test("is neither read nor kept if others can write the folder", async () => {
    const { run, kept } = start();
    await run(["validate"]);
    const before = statSync(kept("validate"));
    chmodSync(dirname(kept("validate")), 0o777);
    truncateSync(kept("validate"), 0);
    expect(await run(["validate"])).toMatchObject({ code: 0 });
    expect(statSync(kept("validate"))).toMatchObject({ ino: before.ino, size: 0 });
  });
});

interface Header {
  readonly entries: readonly [name: string, source: number, code: number][];
}
const headerOf = (bytes: Buffer): Header => JSON.parse(bytes.toString("utf8", 0, bytes.indexOf("\n"))) as Header;

/** The kept file, with zeros instead of the first bytes of V8's header. */
function withoutCode(bytes: Buffer): Buffer {
  const code = bytes.indexOf("\n") + 1 + (headerOf(bytes).entries[0]?.[1] ?? 0);
  return Buffer.from(bytes).fill(0, code, code + 16);
}
