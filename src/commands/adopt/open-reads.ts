import type { Project } from "../../manifests/project.ts";
import { DimsyncError } from "../../model/errors.ts";
import type { Reads } from "../../model/service.ts";
import { openAccount } from "../../operations/account.ts";
import type { RunEnvironment } from "../../operations/session.ts";
import { readSnapshotFile } from "../../snapshot/file.ts";
import { readsOf } from "../../snapshot/snapshot.ts";

/** Reads of an account or a snapshot. `close` ends the connections. */
export interface OpenReads {
  readonly reads: Reads;
  readonly close: () => Promise<void>;
}

/** Opens the snapshot file if one is given, else the project's account. Throws DimsyncError. */
export async function openReads(
  project: Pick<Project, "settings"> | undefined,
  snapshotFile: string | undefined,
  { env, signal }: RunEnvironment,
): Promise<OpenReads> {
  if (snapshotFile !== undefined) return { reads: readsOf(await readSnapshotFile(snapshotFile)), close: async () => {} };
  if (project === undefined) throw new DimsyncError("E_NO_ACCOUNT", "There is neither a snapshot nor a target to read.");
  const account = await openAccount(project.settings, { readOnly: true, env, signal });
  return { reads: account.client.asReadOnly(), close: account.close };
}
