import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { builtCli, dimsync, emptyFolder, quickstart, quickstartSecrets } from "./built-cli.ts";

const hook = `process.on("exit", () => require("node:fs").writeFileSync(process.env.LOADED_FILE, Object.keys(require.cache).join("\\n")));`;

/** The program's files that a command loads. */
async function loadedBy(args: readonly string[], cwd: string): Promise<readonly string[]> {
  const folder = emptyFolder({ "hook.cjs": hook });
  const file = join(folder, "loaded");
  const env = {
    NODE_OPTIONS: `--require=${join(folder, "hook.cjs")}`,
    LOADED_FILE: file,
    ...quickstartSecrets,
  };
  const { code, stderr } = await dimsync(args, { cwd, env });
  expect(code, stderr).toBe(0);
  const program = dirname(builtCli);
  return readFileSync(file, "utf8")
    .split("\n")
    .filter((path) => path.startsWith(program));
}

/** Texts of the git store and of the library for PostgreSQL. */
const marks = ["force-with-lease", "SCRAM-SHA-256"];

it("loads neither the git and PostgreSQL stores for records in a folder", async () => {
  const folder = quickstart();
  const loaded = await loadedBy(["plan"], folder);
  expect(loaded.length).toBeGreaterThan(1);
  const all = readdirSync(dirname(builtCli), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".cjs"))
    .map((path) => readFileSync(join(dirname(builtCli), path), "utf8"));
  for (const mark of marks) {
    expect(all.some((text) => text.includes(mark))).toBe(true);
    expect(loaded.filter((path) => readFileSync(path, "utf8").includes(mark))).toEqual([]);
  }
});
