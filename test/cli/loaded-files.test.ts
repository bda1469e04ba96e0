// A command loads no store of records that it does not use.
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

/** A text of each part of the program. */
const parts = {
  "the YAML reader": "YAMLException",
  "the kinds of manifests": "belong to other manifests",
  "the comparison with an account": "which failed in this run",
  "the records": "Without them it could create an object a second time",
  "the records in git": "force-with-lease",
  "the client of PostgreSQL": "SCRAM-SHA-256",
} as const;
type Part = keyof typeof parts;

const stores: readonly Part[] = ["the records in git", "the client of PostgreSQL"];
const account: readonly Part[] = ["the comparison with an account", "the records", ...stores];

it.each<[string, readonly Part[]]>([
  ["--help", ["the YAML reader", "the kinds of manifests", ...account]],
  ["validate", account],
  // Its records are in a folder.
  ["plan", stores],
])("%s does not load what it does not use", async (command, unused) => {
  const loaded = await loadedBy([command], quickstart());
  expect(loaded.length).toBeGreaterThan(1);
  const all = readdirSync(dirname(builtCli), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".cjs"))
    .map((path) => readFileSync(join(dirname(builtCli), path), "utf8"));
  for (const part of unused) {
    expect(all.some((text) => text.includes(parts[part]))).toBe(true);
    const users = loaded.filter((path) => readFileSync(path, "utf8").includes(parts[part]));
    expect(users, `${command} loads ${part}`).toEqual([]);
  }
});
