import { DimsyncError, messageOf, ServiceError } from "../../core/model/errors.ts";
import { systemClock } from "../../core/model/runtime/clock.ts";
import { version } from "../../core/model/runtime/version.ts";
import { accountName } from "../../core/model/settings/config.ts";
import type { AccountProject } from "../../core/operations/account.ts";
import { withReads } from "../../core/operations/reads.ts";
import type { RunEnvironment } from "../../core/operations/session.ts";
import { writeSnapshotFile } from "../../core/snapshot/file.ts";
import { type SnapshotHead, snapshotText } from "../../core/snapshot/snapshot.ts";

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
