import type { Reads } from "../model/service.ts";
import { readSnapshotFile } from "../snapshot/file.ts";
import { readsOf } from "../snapshot/snapshot.ts";
import { type AccountProject, withReadOnly } from "./account.ts";
import { type RunEnvironment, withColumnProgress } from "./session.ts";

/** What is read: the account of a project, or a snapshot file (absolute path). */
export type ReadSource = AccountProject | { readonly snapshotFile: string };

/** Runs `work` with reads of an account, or of the snapshot that it or the run names, and closes the connections. Throws DimsyncError. */
export async function withReads<T>(source: ReadSource, run: RunEnvironment, work: (reads: Reads) => Promise<T>): Promise<T> {
  if ("snapshotFile" in source) return await work(readsOf(await readSnapshotFile(source.snapshotFile)));
  if (run.snapshotFile !== undefined) return await work(readsOf(await readSnapshotFile(run.snapshotFile)));
  return await withReadOnly(source, run, (client) => work(withColumnProgress(client.asReadOnly(), run.onProgress)));
}
