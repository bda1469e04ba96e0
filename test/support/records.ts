import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Project } from "../../src/core/manifests/project.ts";
import { emptyContent } from "../../src/core/records/facts.ts";
import { recordsFile } from "../../src/core/records/folder/index.ts";
import type { OpenIntent } from "../../src/core/records/history.ts";
import type { Records, RecordsState } from "../../src/core/records/records.ts";
import type { RecordsContent } from "../../src/core/records/shared/store.ts";
import { parseRecords, printRecords } from "../../src/core/records/text.ts";

/** Changes the records of a folder, except for its bindings, as no run would. */
export function editRecords(folder: string, target: string, change: (content: RecordsContent) => Partial<RecordsContent>): void {
  const content = recordsIn(folder, target);
  const file = recordsFile(folder, target);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, printRecords({ target, id: "" }, { ...content, ...change(content) }));
}

/** The records of a folder, except for its bindings. */
export function recordsIn(folder: string, target: string): RecordsContent {
  const file = recordsFile(folder, target);
  return existsSync(file) ? parseRecords(readFileSync(file, "utf8")).content : emptyContent;
}

/** The project, with another time-to-live of its leases. */
export function withTtl(project: Project, ttlMs: number): Project {
  const { records } = project.settings;
  return records.store === "git" || records.store === "postgres"
    ? { ...project, settings: { ...project.settings, records: { ...records, ttlMs } } }
    : project;
}

/** As if the runs that were unlocked could not send anything any more. */
export async function letGracePass(records: Records): Promise<void> {
  const content = await records.content();
  const { state } = content;
  const unlocked = state.unlocked.map((run) => ({ ...run, at: "2026-01-01T00:00:00.000Z" }));
  await records.replace({ ...content, state: { ...state, unlocked } }, () => true);
}

/** As if the run had been killed when it had the responses to its creates. `sent`: digests of what it sent, by address. */
export function unsettled({ state }: RecordsContent, sent: RecordsState["bindings"] = new Map()): Partial<RecordsContent> {
  const open = [...state.created].map(([address, { entryId, id: answeredId, naturalKey }]): OpenIntent => {
    const { id: _, ...record } = sent.get(address) ?? { id: "" };
    return {
      ...{
        entryId,
        answeredId,
        address,
        kind: address.split("/")[0] ?? "",
        runId: "killed",
        method: "POST",
        path: "/v1/x",
        bodyDigest: "",
      },
      ...{ at: "2026-01-01T00:00:00.000Z", record },
      ...(naturalKey === undefined ? {} : { naturalKey }),
    };
  });
  return { state: { ...state, open, created: new Map() } };
}
