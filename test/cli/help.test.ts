// The help lists every command, option and exit code, and every example in it is accepted.
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { commandGroups } from "../../src/cli/commands.ts";
import { afterHelp, examples } from "../../src/cli/help.ts";
import { formats } from "../../src/core/render/formats.ts";
import { dimsyncHere } from "./built-cli.ts";
import { commandNames, programOf, shownCommands } from "./program.ts";

describe("help", () => {
  test.each(commandNames())("of %s shows its usage and where the global options are", async (name) => {
    const { code, stdout, stderr } = await dimsyncHere([name, "--help"]);
    expect(stdout).toMatch(new RegExp(`^Usage: dimsync ${name}`, "u"));
    expect(stdout).toContain("dimsync --help");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });

  test("lists every command, then the options, then the exit codes", async () => {
    const { stdout } = await dimsyncHere(["--help"]);
    for (const name of commandNames()) expect(stdout).toMatch(new RegExp(`^ {2}${name}\\b`, "mu"));
    const parts = ["Every day:", "Inspect:", "Records:", "Set up:", "CI:", "Controller:", "Global options:", "Exit codes:"];
    const positions = parts.map((part) => stdout.indexOf(`\n${part}\n`));
    expect(positions).not.toContain(-1);
    expect(positions).toEqual([...positions].sort((a, b) => a - b));
    expect(stdout).not.toContain("(default: [])");
  });

  test("names every format of -o", async () => {
    const [line = ""] = /--output .*(?:\n {10,}.*)*/u.exec((await dimsyncHere(["--help"])).stdout) ?? [];
    for (const format of Object.keys(formats)) expect(line).toMatch(new RegExp(`\\b${format}\\b`, "u"));
  });

  test("begins with nine commands of every day", async () => {
    const { stdout } = await dimsyncHere(["--help"]);
    const [, group = ""] = /\nEvery day:\n(.*?)\n\n/su.exec(stdout) ?? [];
    const names = group.split("\n").map((line) => line.trim().split(/[ |]/u)[0]);
    expect(names).toEqual(["init", "import", "validate", "plan", "apply", "drift", "explain", "show", "catalog"]);
  });

  test("has the exit codes of docs/commands.md", async () => {
    const { stdout } = await dimsyncHere(["--help"]);
    const inHelp = stdout.slice(stdout.indexOf("\nExit codes:\n")).matchAll(/^ {2}(\d+) +.*$/gmu);
    const inPage = readFileSync("docs/commands.md", "utf8").matchAll(/^\| (\d+) \| .* \|$/gmu);
    expect([...inHelp].map((found) => found[1])).toEqual([...inPage].map((found) => found[1]));
  });

  test("of a command is the same before and after its name", async () => {
    const texts = await Promise.all(
      [
        ["plan", "--help"],
        ["--help", "plan"],
      ].map((args) => dimsyncHere(args)),
    );
    expect(new Set(texts.map(({ stdout }) => stdout)).size).toBe(1);
  });

  test("is what dimsync prints without arguments, as an error", async () => {
    const { code, stdout, stderr } = await dimsyncHere([]);
    expect(stderr).toMatch(/^Usage: dimsync/u);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  });

  test.each([60, 80, 120])("fits into %d columns", (columns) => {
    const program = programOf(columns);
    for (const command of [program, ...shownCommands(program)]) {
      const wide = command
        .helpInformation()
        .split("\n")
        .filter((line) => line.length > columns);
      expect(wide).toEqual([]);
    }
  });

  test.each([60, 80])("has exit codes and examples that fit into %d columns", (columns) => {
    const lines = afterHelp(programOf(columns), examples).split("\n");
    expect(lines.length).toBeGreaterThan(12);
    expect(lines.filter((line) => line.length > columns)).toEqual([]);
  });

  test("describes each command on one line of an 80-column terminal", () => {
    const program = programOf(80);
    const text = program.helpInformation();
    for (const command of shownCommands(program)) expect(text).toContain(` ${command.summary()}\n`);
  });

  test("has descriptions that begin with a capital letter and options that do not end with a full stop", () => {
    const program = programOf();
    for (const command of [program, ...shownCommands(program)]) {
      expect(command.description()).toMatch(/^[A-Z]/u);
      for (const { flags, description } of command.options) expect([flags, description]).toEqual([flags, expect.stringMatching(/[^.]$/u)]);
    }
  });
});

describe("examples", () => {
  const ofCommands = Object.values(commandGroups).flatMap((commands) => commands.flatMap((command) => command.examples ?? []));

  test.each([...examples, ...ofCommands])("%s is a command line that dimsync accepts", (line) => {
    for (const [, text = ""] of line.matchAll(/\bdimsync( [^#&|)]*)/gu)) {
      const words = (text.match(/(?:[^\s'"]|'[^']*'|"[^"]*")+/gu) ?? []).map((word) => word.replaceAll(/['"]/gu, ""));
      const program = programOf();
      const command = program.commands.find((one) => one.name() === words[0]);
      expect(command?.name()).toBe(words[0]);
      let ran: readonly string[] = [];
      command?.action(() => {
        ran = words;
      });
      program.parse(words, { from: "user" });
      expect(ran).toBe(words);
    }
  });
});
