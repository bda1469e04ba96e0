import { main } from "./cli.ts";
import { processIo } from "./commands/io.ts";

/** Runs the command line in this process, which ends with its exit code. */
export async function run(argv: readonly string[]): Promise<void> {
  process.exitCode = await main(argv, processIo());
}
