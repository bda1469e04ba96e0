import type { Command } from "commander";
import { makeProgram } from "../../src/cli/cli.ts";
import { capturedIo } from "../support/captured-io.ts";

/** The commander program; `columns` is the width of its help. */
export const programOf = (columns = 100): Command => makeProgram(capturedIo({ columns }).io, () => {}).program;

/** The commands in the help, in its order. */
export const shownCommands = (program: Command): readonly Command[] => program.createHelp().visibleCommands(program);

export const commandNames = (): readonly string[] => shownCommands(programOf()).map((command) => command.name());
