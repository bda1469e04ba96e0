import { randomUUID } from "node:crypto";
import type { Context } from "../../cli/context.ts";
import { loadOneProject } from "../../cli/project.ts";
import { say } from "../../cli/say.ts";
import { unknownManifest, withLocations } from "../../manifests/project.ts";
import type { Resource } from "../../model/resource.ts";
import type { Settings } from "../../model/settings/config.ts";
import { openRecords } from "../../operations/records/open.ts";
import type { RecordsRun } from "../../records/records.ts";

export interface OpenedRecords {
  readonly records: RecordsRun;
  readonly settings: Settings;
  /** Throws E_UNKNOWN_ADDRESS. */
  readonly resourceAt: (address: string) => Resource;
  /** Prints what was recorded on stderr, once it is saved. */
  readonly say: (text: string) => void;
}

/** Runs `work` under the lease, so that no apply uses the records at the same time. */
export async function withRecords(context: Context, work: (opened: OpenedRecords) => Promise<void>): Promise<void> {
  const { io } = context;
  const project = await loadOneProject(context, { account: true });
  const { settings, resources } = project;
  const store = await withLocations(project, openRecords(settings, io.env));
  const lines: string[] = [];
  const resourceAt = (address: string): Resource => {
    const found = resources.find((resource) => resource.address === address);
    if (found === undefined) throw unknownManifest(address, resources);
    return found;
  };
  try {
    const records = await store.begin({ runId: randomUUID(), waitMs: 0, signal: io.interrupted });
    try {
      await work({ records, settings, resourceAt, say: (text) => lines.push(text) });
    } finally {
      await records.release();
      for (const line of lines) say(io, line);
    }
  } finally {
    await store.close();
  }
}
