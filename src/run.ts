import { main } from "./cli.ts";
import { processIo } from "./commands/shared/io.ts";

/** Runs the command line in this process, which ends with its exit code. */
export async function run(argv: readonly string[]): Promise<void> {
  if (!folderExists()) {
    process.stderr.write("dimsync: E_USAGE: The working folder is gone. Change to one that is there.\n");
    process.exitCode = 1;
    return;
  }
  process.exitCode = await main(argv, processIo());
}

/** Whether the folder that this process was started in is still there; all relative paths would mean nothing. */
function folderExists(): boolean {
  try {
    process.cwd();
    return true;
  } catch {
    return false;
  }
}
