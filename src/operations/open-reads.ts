import type { Reads } from "../model/service.ts";
import { readSnapshotFile } from "../snapshot/file.ts";
import { readsOf } from "../snapshot/snapshot.ts";
import { type AccountProject, openAccount } from "./account.ts";
import { withColumnProgress } from "./column-progress.ts";
import type { RunEnvironment } from "./session.ts";

/** What is read: the account of a project, or a snapshot file (absolute path). */
export type ReadSource = AccountProject | { readonly snapshotFile: string };

/** Reads of an account or a snapshot. `close` ends the connections. */
export interface OpenReads {
  readonly reads: Reads;
  readonly close: () => Promise<void>;
}

/** Opens an account or a snapshot for reading. Throws DimsyncError. */
export async function openReads(source: ReadSource, { env, signal, onProgress }: RunEnvironment): Promise<OpenReads> {
  if ("snapshotFile" in source) return { reads: readsOf(await readSnapshotFile(source.snapshotFile)), close: async () => {} };
  const account = await openAccount(source, { readOnly: true, env, signal });
  return { reads: withColumnProgress(account.client.asReadOnly(), onProgress), close: account.close };
}
