import { randomUUID } from "node:crypto";
import type { Context } from "../../cli/context.ts";
import { loadOneProject } from "../../cli/project.ts";
import { say } from "../../cli/say.ts";
import { type Project, unknownManifest, withLocations } from "../../manifests/project.ts";
import type { Resource } from "../../model/resource.ts";
import type { Settings } from "../../model/settings/config.ts";
import { openRecords } from "../../operations/records/open.ts";
import type { Records, RecordsRun } from "../../records/records.ts";

export interface OpenedRecords {
  readonly records: RecordsRun;
  readonly settings: Settings;
  /** Throws E_UNKNOWN_ADDRESS. */
  readonly resourceAt: (address: string) => Resource;
  /** Prints what was recorded on stderr, once it is saved. */
  readonly say: (text: string) => void;
}

/** Opens the records of the only target, and closes them. */
export async function withStore<T>(context: Context, work: (records: Records, project: Project) => Promise<T>): Promise<T> {
  const project = await loadOneProject(context, { account: true });
  const opened = async (): Promise<T> => {
    const records = await openRecords(project.settings, context.io.env);
    return await work(records, project).finally(() => records.close());
  };
  return await withLocations(project, opened());
}

/** Runs `work` under the lease, so that no apply uses the records at the same time. */
export async function withRecords(context: Context, work: (opened: OpenedRecords) => Promise<void>): Promise<void> {
  const { io } = context;
  const lines: string[] = [];
  await withStore(context, async (store, { settings, resources }) => {
    const resourceAt = (address: string): Resource => {
      const found = resources.find((resource) => resource.address === address);
      if (found === undefined) throw unknownManifest(address, resources);
      return found;
    };
    const records = await store.begin({ runId: randomUUID(), waitMs: 0, signal: io.interrupted });
    try {
      await work({ records, settings, resourceAt, say: (text) => lines.push(text) });
    } finally {
      await records.release();
      for (const line of lines) say(io, line);
    }
  });
}
