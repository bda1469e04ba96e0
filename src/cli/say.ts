import { visible } from "../core/base/text/control-characters.ts";
import type { Io } from "./io.ts";

/** Prints a message to stderr on one line, whatever names it contains, and a command to run on the next. */
export function say({ stderr }: Pick<Io, "stderr">, message: string, command?: string): void {
  stderr(`dimsync: ${visible(message)}\n${command === undefined ? "" : `  ${visible(command)}\n`}`);
}
