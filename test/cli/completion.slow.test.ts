import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { builtCli, dimsync, emptyFolder, ended, quickstart } from "./built-cli.ts";

// What is typed, the last word being the one to complete, and what must be offered. Run in a copy of the quick start.
const rows: Readonly<Record<string, readonly [typed: readonly string[], offered: readonly string[], not?: string]>> = {
  commands: [["dimsync", "pl"], ["plan"], "apply"],
  "commands behind a flag and its value": [["dimsync", "-C", ".", "dri"], ["drift"]],
  "flags of a command": [["dimsync", "plan", "--det"], ["--detailed-exitcode"]],
  "flags of every command": [["dimsync", "plan", "--excl"], ["--exclude"]],
  "flags before a command": [["dimsync", "--tim"], ["--timeout"]],
  "output formats": [["dimsync", "plan", "-o", "m"], ["markdown"], "json"],
  "kinds to get": [["dimsync", "get", "Ta"], ["Tag"], "User"],
  schemas: [["dimsync", "schema", "Con"], ["Config"]],
  shells: [["dimsync", "completion", "z"], ["zsh"]],
  tasks: [["dimsync", "ci", "a"], ["apply"], "plan"],
  "addresses behind a flag": [["dimsync", "plan", "--only", "Tag/"], ["Tag/pii"], "Asset/lake"],
  "files whose names hold blanks": [["dimsync", "plan", "--out", "my"], ["my plan.json"], "manifests"],
  "files behind a format": [["dimsync", "plan", "-o", "markdown=my"], ["my plan.json"], "manifests"],
  "addresses of the project": [["dimsync", "bind", "Tag/"], ["Tag/pii"], "Asset/lake"],
};

/** A folder of which `dimsync` is the built command line. */
function folderOnPath(): string {
  const folder = emptyFolder();
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "bin/dimsync"), `#!/bin/sh\nexec "${process.execPath}" "${builtCli}" "$@"\n`, { mode: 0o755 });
  return join(folder, "bin");
}

async function inShell(shell: string, script: string): Promise<readonly string[]> {
  const cwd = quickstart();
  writeFileSync(join(cwd, "my plan.json"), "");
  const child = spawn(shell, ["-c", script], {
    cwd,
    env: { PATH: `${folderOnPath()}:${process.env["PATH"] ?? ""}`, HOME: emptyFolder(), TERM: "dumb" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { stdout, stderr } = await ended(child);
  expect(stderr).toBe("");
  return stdout.split("\n").filter((line) => line !== "");
}

const offers: Readonly<Record<string, (typed: readonly string[]) => string>> = {
  bash: (typed) =>
    // compopt works only while the shell itself completes.
    `compopt() { :; }; source <(dimsync completion bash); COMP_WORDS=(${typed
      .flatMap((word) => word.split(/(=)/u))
      .map(quote)
      .join(" ")}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _dimsync; printf '%s\\n' "\${COMPREPLY[@]}"`,
  zsh: (typed) =>
    // Stand-ins for what zsh's completion system does with the offers: keep those that begin with the word.
    `compdef() { :; }; offer() { local one; for one in "$@"; do [[ "$one" == "$PREFIX"* ]] && print -r -- "\${one%%:*}"; done; return 0 }
     compadd() { shift; offer "$@" }; _describe() { offer "\${(@P)2}" }; _files() { offer *(N) }; compset() { PREFIX="\${PREFIX#*=}" }
     source <(dimsync completion zsh); words=(${typed.map(quote).join(" ")}); CURRENT=${typed.length}; PREFIX=${quote(typed.at(-1) ?? "")}; _dimsync`,
  fish: (typed) =>
    `dimsync completion fish | source; complete -C ${quote(typed.join(" "))} | string replace -r '\\t.*' '' | string replace -r '^markdown=' '' | string unescape`,
};

const quote = (text: string): string => `'${text}'`;

for (const [shell, script] of Object.entries(offers)) {
  const isThere = spawnSync(shell, ["-c", "true"]).status === 0;
  describe.skipIf(!isThere)(`completion in ${shell}${isThere ? "" : " (skipped: it isn't installed)"}`, () => {
    for (const [what, [typed, offered, not]] of Object.entries(rows))
      test(`offers ${what}`, async () => {
        const lines = await inShell(shell, script(typed));
        expect(lines).toEqual(expect.arrayContaining([...offered]));
        if (not !== undefined) expect(lines).not.toContain(not);
      });
  });
}

test("completion and fmt need no target to be named", async () => {
  const targets = { a: { baseUrl: "embedded:a.json" }, b: { baseUrl: "embedded:b.json" } };
  const config = { apiVersion: "dimsync/v1", kind: "Config", manifests: ["manifests"], targets };
  const manifest = "apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: pii }\nspec: { name: PII }\n";
  const cwd = emptyFolder({ "dimsync.yaml": stringify(config), "manifests/tag.yaml": manifest });
  expect(await dimsync(["completion-addresses"], { cwd })).toEqual({ code: 0, stdout: "Tag/pii\n", stderr: "" });
  expect(await dimsync(["fmt", "--check"], { cwd })).toEqual({ code: 0, stdout: "", stderr: "" });
});

test("completion offers nothing hidden, and no address where the project is broken", async () => {
  expect((await dimsync(["completion", "bash"])).stdout).not.toMatch(/compgen -W "[^"$]*completion-addresses/u);
  const cwd = emptyFolder({ "dimsync.yaml": "kind: [\n" });
  expect(await dimsync(["completion-addresses"], { cwd })).toMatchObject({ code: 1, stdout: "" });
});
