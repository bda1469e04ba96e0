import { spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { type ProgramName, program } from "../support/programs.mjs";
import { needs } from "../support/programs.ts";
import { sampleOf } from "../support/sample.ts";
import { builtCli, dimsyncHere, emptyFolder, ended, quickstart } from "./built-cli.ts";

// The typed words, whose last one is completed, and the expected completions. Run in a copy of the
// quick start.
const rows: Readonly<Record<string, readonly [typed: readonly string[], offered: readonly string[], not?: string]>> = {
  commands: [["dimsync", "pl"], ["plan"], "apply"],
  "commands after a flag and its value": [["dimsync", "-C", ".", "dri"], ["drift"]],
  "flags of a command": [["dimsync", "plan", "--det"], ["--detailed-exitcode"]],
  "flags of every command": [["dimsync", "plan", "--excl"], ["--exclude"]],
  "flags before a command": [["dimsync", "--tim"], ["--timeout"]],
  "output formats": [["dimsync", "plan", "-o", "m"], ["markdown"], "json"],
  "kinds for get": [["dimsync", "get", "Ta"], ["Tag"], "User"],
  schemas: [["dimsync", "schema", "Con"], ["Config"]],
  shells: [["dimsync", "completion", "z"], ["zsh"]],
  tasks: [["dimsync", "ci", "a"], ["apply"], "plan"],
  "addresses after a flag": [["dimsync", "plan", "--only", "Tag/"], ["Tag/pii"], "Asset/lake"],
  targets: [["dimsync", "plan", "-t", "de"], ["demo"], "plan"],
  "targets before a command": [["dimsync", "--target", "d"], ["demo"], "drift"],
  guards: [["dimsync", "apply", "--allow", "max"], ["maxCreates=", "maxExposedColumns=", "maxChangedPercent="], "policy="],
  "tables after the address of explain": [
    ["dimsync", "explain", "SchemaConfig/orders", "public.cu"],
    ["public.customers"],
    "public.payments",
  ],
  "schema paths after the address of explain": [["dimsync", "explain", "Schemas/orders", "pub"], ["public"], "plan"],
  "files with spaces in their names": [["dimsync", "plan", "--out", "my"], ["my plan.json"], "manifests"],
  "files after a format": [["dimsync", "plan", "-o", "markdown=my"], ["my plan.json"], "manifests"],
  "addresses of the project": [["dimsync", "bind", "Tag/"], ["Tag/pii"], "Asset/lake"],
};

/** A folder in which `dimsync` is the built command line. */
function folderOnPath(): string {
  const folder = emptyFolder();
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "bin/dimsync"), `#!/bin/sh\nexec "${process.execPath}" "${builtCli}" "$@"\n`, { mode: 0o755 });
  return join(folder, "bin");
}

/** The lines that a shell prints for a script, in a copy of the quick start if no folder is given. */
async function inShell(shell: ProgramName, script: string, cwd: string = quickstart()): Promise<readonly string[]> {
  writeFileSync(join(cwd, "my plan.json"), "");
  const child = spawn(program(shell), ["-c", script], {
    cwd,
    env: { PATH: `${folderOnPath()}:${process.env["PATH"] ?? ""}`, HOME: emptyFolder(), TERM: "dumb" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const { stdout, stderr } = await ended(child);
  expect(stderr).toBe("");
  return stdout.split("\n").filter((line) => line !== "");
}

interface Shell {
  /** Loads the completion of dimsync. */
  readonly load: string;
  /** Prints the completions of the last word, one a line. */
  readonly complete: (typed: readonly string[]) => string;
}

const shells: Readonly<Record<"bash" | "zsh" | "fish", Shell>> = {
  bash: {
    // compopt only works while the shell completes.
    load: "compopt() { :; }; source <(dimsync completion bash)",
    complete: (typed) =>
      `COMP_WORDS=(${typed
        .flatMap((word) => word.split(/(=)/u))
        .map(quote)
        .join(" ")}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _dimsync; printf '%s\\n' "\${COMPREPLY[@]}"`,
  },
  zsh: {
    // Replacements for zsh's completion functions: they keep the completions that begin with the
    // word.
    load: `compdef() { :; }; offer() { local one; for one in "$@"; do [[ "$one" == "$PREFIX"* ]] && print -r -- "\${one%%:*}"; done; return 0 }
     compadd() { shift; offer "$@" }; _describe() { offer "\${(@P)2}" }; _files() { offer *(N) }; compset() { PREFIX="\${PREFIX#*=}" }
     source <(dimsync completion zsh)`,
    complete: (typed) => `words=(${typed.map(quote).join(" ")}); CURRENT=${typed.length}; PREFIX=${quote(typed.at(-1) ?? "")}; _dimsync`,
  },
  fish: {
    load: "dimsync completion fish | source",
    complete: (typed) =>
      `complete -C ${quote(typed.join(" "))} | string replace -r '\\t.*' '' | string replace -r '^markdown=' '' | string unescape`,
  },
};

const quote = (text: string): string => `'${text}'`;

for (const [shell, { load, complete }] of Object.entries(shells) as readonly (readonly [keyof typeof shells, Shell])[])
  describe(`completion in ${shell}`, needs(shell), () => {
    const sample = sampleOf(Object.entries(rows), {
      name: `completion in ${shell}`,
      // Shells differ in files, and in words with characters that they split at.
      kindOf: ([what]) => (/^files|^guards|tables/u.test(what) ? what : "words"),
      most: () => 5,
    });
    // One shell completes all of them: each would load the completion again.
    const completed = new Map<string, readonly string[]>();
    const heading = "### ";
    test("loads, and completes without a message", async () => {
      const each = sample.map(([what, [typed]]) => `echo ${quote(heading + what)}\n${complete(typed)}`);
      for (const line of await inShell(shell, [load, ...each].join("\n"))) {
        if (line.startsWith(heading)) completed.set(line.slice(heading.length), []);
        else {
          const [what = "", lines = []] = [...completed].at(-1) ?? [];
          completed.set(what, [...lines, line]);
        }
      }
      expect([...completed.keys()]).toEqual(sample.map(([what]) => what));
    });
    for (const [what, [, offered, not]] of sample)
      test(`offers ${what}`, () => {
        const lines = completed.get(what) ?? [];
        expect(lines).toEqual(expect.arrayContaining([...offered]));
        if (not !== undefined) expect(lines).not.toContain(not);
      });
    test("runs nothing that a name of the project says", async () => {
      const heard = join(emptyFolder(), "heard");
      const hostile = `$(touch\${IFS}${heard})`;
      const account = { baseUrl: "embedded:a.json" };
      const config = { apiVersion: "dimsync/v1", kind: "Config", manifests: ["manifests"], targets: { [hostile]: account, good: account } };
      const manifest = `apiVersion: dimsync/v1\nkind: SchemaConfig\nmetadata: { name: a }\nspec: { integration: { id: "1" }, schemas: { "${hostile}": {}, plain: {} } }\n`;
      const cwd = emptyFolder({ "dimsync.yaml": stringify(config), "manifests/a.yaml": manifest });
      const typed = [
        ["dimsync", "plan", "-t", ""],
        ["dimsync", "explain", "SchemaConfig/a", ""],
      ];
      const lines = await inShell(shell, [load, ...typed.map(complete)].join("\n"), cwd);
      expect(existsSync(heard)).toBe(false);
      expect(lines).toEqual(["good", "plain"]);
    });
  });

test("completion and fmt need no target", async () => {
  const targets = { a: { baseUrl: "embedded:a.json" }, b: { baseUrl: "embedded:b.json" } };
  const config = { apiVersion: "dimsync/v1", kind: "Config", manifests: ["manifests"], targets };
  const manifest = "apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: pii }\nspec: { name: PII }\n";
  const cwd = emptyFolder({ "dimsync.yaml": stringify(config), "manifests/tag.yaml": manifest });
  expect(await dimsyncHere(["completion-words", "dimsync plan --only"], { cwd })).toEqual({ code: 0, stdout: "Tag/pii\n", stderr: "" });
  expect(await dimsyncHere(["fmt", "--check"], { cwd })).toEqual({ code: 0, stdout: "", stderr: "" });
});

test("completion offers no hidden commands, and no addresses if the project has errors", async () => {
  const { stdout } = await dimsyncHere(["completion-words", "dimsync"]);
  expect(stdout).toMatch(/^completion$/mu);
  expect(stdout).not.toMatch(/^completion-/mu);
  const cwd = emptyFolder({ "dimsync.yaml": "kind: [\n" });
  expect(await dimsyncHere(["completion-words", "dimsync plan --only"], { cwd })).toMatchObject({ code: 1, stdout: "" });
});
