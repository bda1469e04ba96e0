import { DimsyncError, messageOf, ServiceError } from "../../model/errors.ts";
import { systemClock } from "../../model/runtime/clock.ts";
import { version } from "../../model/runtime/version.ts";
import { accountName } from "../../model/settings/config.ts";
import { writeSnapshotFile } from "../../snapshot/file.ts";
import { type SnapshotHead, snapshotText } from "../../snapshot/snapshot.ts";
import type { AccountProject } from "../account.ts";
import { withReads } from "../reads.ts";
import type { RunEnvironment } from "../session.ts";

/** A snapshot that was written. */
export interface SnapshotTaken extends SnapshotHead {
  readonly integrations: number;
  /** Before compression. */
  readonly bytes: number;
  readonly compressed: boolean;
}

/** Writes the live state of the project's account to a file (absolute path). Sends GET only. Throws DimsyncError; the file is then unchanged. */
export async function takeSnapshot(project: AccountProject, file: string, run: RunEnvironment): Promise<SnapshotTaken> {
  const { settings } = project;
  const head: SnapshotHead = {
    takenAt: systemClock.now().toISOString(),
    target: settings.target,
    account: accountName(settings.baseUrl),
    tool: { name: "dimsync", version },
  };
  return withReads(project, run, async (reads) => {
    let integrations = 0;
    const pieces = snapshotText(reads, head, (done, total, label) => {
      integrations = done;
      run.onProgress?.({ type: "step", phase: "read", done, total, label });
    });
    const { bytes, compressed } = await writeSnapshotFile(file, pieces).catch((error: unknown) => notWritten(file, error));
    return { ...head, integrations, bytes, compressed };
  });
}

function notWritten(file: string, error: unknown): never {
  if (error instanceof ServiceError) throw error;
  const reason = messageOf(error);
  throw new DimsyncError("E_OUTPUT", `${file} could not be written: ${reason}. Write to another file.`, { cause: error });
}
