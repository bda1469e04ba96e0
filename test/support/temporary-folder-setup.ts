import { chmodSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { memoryFolder } from "./memory-folder.ts";

/**
 * All temporary files of a run are in one folder, which is removed at its end. The run fails
 * if a test left something in it: then dimsync may leave it on the machines of users too.
 */
export default function setup(): (() => void) | undefined {
  // Both projects call it.
  if (process.env["DIMSYNC_TESTS_TEMP"] !== undefined) return undefined;
  const folder = mkdtempSync(join(memoryFolder(), "dimsync-tests-"));
  // The database server runs as another user.
  chmodSync(folder, 0o755);
  process.env["DIMSYNC_TESTS_TEMP"] = folder;
  process.env["TMPDIR"] = folder;
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  process.once("exit", remove);
  return () => {
    const left = readdirSync(folder).filter((name) => name.startsWith("dimsync"));
    remove();
    if (left.length === 0) return;
    console.error(`The tests left ${left.length} temporary folders: ${left.slice(0, 20).join(", ")}`);
    // Vitest only prints an error that is thrown here.
    process.exitCode = 1;
  };
}
