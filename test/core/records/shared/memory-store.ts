import { emptyContent } from "../../../../src/core/records/facts.ts";
import type { PastWrite, Records } from "../../../../src/core/records/records.ts";
import { recordsOf } from "../../../../src/core/records/shared/records.ts";
import type { SharedStore, Version, WriteOutcome } from "../../../../src/core/records/shared/store.ts";
import { parseRecords, printRecords } from "../../../../src/core/records/text.ts";
import { tempFolder } from "../child.ts";
import { type TestClock, testClock } from "../clock.ts";

/** What becomes of a write; undefined: it is stored if its parent is the newest version. */
export type Fault = "unclear" | "unclear, but stored" | "refused" | "gone" | undefined;

interface MemoryVersion extends Version {
  readonly text: string;
  readonly past: PastWrite & { readonly subject: string };
}

/** Records in the memory of this process, as texts: the rules of all stores without git, a database or a file. */
export function memoryStore() {
  const clock: TestClock = testClock();
  const head = { target: "prod", id: "memory" };
  const written: MemoryVersion[] = [
    { version: "0", text: printRecords(head, emptyContent), past: { at: "", runId: "", subject: "" }, content: emptyContent },
  ];
  let faultOf: (write: number) => Fault = () => undefined;
  let writes = 0;
  let prepared = 0;
  const newest = (): MemoryVersion => written.at(-1) as MemoryVersion; // never empty
  const outcomeOf = async ({ version }: Version, parent: Version): Promise<WriteOutcome | "unchanged"> => {
    if (written.some((one) => one.version === version)) return { outcome: "stored", newest: newest().version };
    return newest().version === parent.version ? "unchanged" : { outcome: "lost", isGone: false };
  };
  const storeIn = (folder: string): SharedStore<MemoryVersion> => ({
    ...{ target: "prod", place: "the memory", folder, clock, ttlMs: 60_000, gatherMs: 100, waveSize: 16, outcomeOf },
    async read() {
      const { content } = parseRecords(newest().text);
      return { ...newest(), content: { ...content, state: { ...content.state, version: newest().version } } };
    },
    isAbandoned: ({ content: { lease } }, unmovedMs) => lease !== undefined && unmovedMs > lease.ttlMs,
    async prepare(_, { content, runId, subject }) {
      prepared += 1;
      const version = String(prepared);
      const next = { ...content, state: { ...content.state, version } };
      return { version, text: printRecords(head, next), past: { at: new Date().toISOString(), runId, subject }, content: next };
    },
    async swap(next, parent) {
      writes += 1;
      const fault = faultOf(writes);
      if (fault === "gone") return { outcome: "lost", isGone: true };
      if (fault === "refused" || fault === "unclear") return { outcome: fault, words: "no" };
      if (newest().version !== parent.version) return { outcome: "lost", isGone: false };
      written.push(next);
      return fault === undefined ? { outcome: "stored", newest: next.version } : { outcome: "unclear", words: "no response" };
    },
    history: async (limit) =>
      written
        .slice(1)
        .map(({ past }) => past)
        .toReversed()
        .slice(0, limit),
    close: async () => undefined,
  });
  return {
    clock,
    /** Opens the records as another machine would, which has its own folder. */
    open: async (folder?: string): Promise<Records> => recordsOf("git", storeIn(folder ?? (await tempFolder()))),
    /** What was stored, in words. */
    subjects: (): readonly string[] => written.slice(1).map(({ past }) => past.subject),
    /** What becomes of each write from now on, or from a later one on. */
    fail(next: Fault, from = 1): void {
      writes = 0;
      faultOf = (write) => (write >= from ? next : undefined);
    },
  };
}
