import type { Command } from "commander";
import { makeProgram } from "../../src/cli.ts";
import type { Io } from "../../src/commands/shared/io.ts";

/** An io whose output fails the test. */
const silent: Io = {
  stdout: (text) => {
    throw new Error(`stdout: ${text}`);
  },
  stderr: (text) => {
    throw new Error(`stderr: ${text}`);
  },
  stdoutIsTty: false,
  stderrIsTty: false,
  stdinIsTty: false,
  columns: 100,
  env: {},
  cwd: "/",
  ask: async () => "",
  interrupted: new AbortController().signal,
};

/** The commander program; `columns` is the width of its help. */
export const programOf = (columns = 100): Command => makeProgram({ ...silent, columns }, () => {}).program;

/** The commands in the help, in its order. Only completion scripts call the others. */
export const shownCommands = (program: Command): readonly Command[] => program.createHelp().visibleCommands(program);

export const commandNames = (): readonly string[] => shownCommands(programOf()).map((command) => command.name());
