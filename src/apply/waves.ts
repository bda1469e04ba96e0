import type { Intent } from "../records/journal-line.ts";
import type { RecordsRun } from "../records/records.ts";

// A shared store writes an intent in seconds, so the intents of creates that run side by side are
// gathered and written together. A wave is written when it is full, when every create that has begun
// waits for it, or when its oldest intent has waited long enough.

const longestWaitMs = 5_000;

/** The records as items use them. */
export interface RunRecords extends Pick<RecordsRun, "settle" | "bind" | "unbind" | "state" | "flush" | "take"> {
  /** Stores one intent, perhaps together with those of other items. Throws as `RecordsRun.intend` does. */
  readonly intend: (intent: Intent) => Promise<string>;
  /** Runs one item that will store an intent, so that it is known how many intents are still to come. */
  readonly during: <T>(work: () => Promise<T>) => Promise<T>;
}

interface Waiting {
  readonly intent: Intent;
  readonly resolve: (entryId: string) => void;
  readonly reject: (error: unknown) => void;
}

/** The records of a run, for many items at a time. */
export function gatherIntents(records: RecordsRun): RunRecords {
  const { settle, bind, unbind, state, flush, waveSize } = records;
  const same = { settle, bind, unbind, state, flush };
  if (waveSize <= 1)
    return {
      ...{ ...same, take: records.take, during: (work) => work() },
      intend: async (intent) => entryOf(await records.intend([intent])),
    };
  let begun = 0;
  let waiting: readonly Waiting[] = [];
  let timer: NodeJS.Timeout | undefined;
  let isFirstWritten = false;
  let afterFirst: readonly ((error?: unknown) => void)[] = [];

  const endFirst = (error?: unknown): void => {
    for (const resolve of afterFirst) resolve(error);
    afterFirst = [];
  };

  const write = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const wave = waiting;
    waiting = [];
    const written = records.intend(wave.map(({ intent }) => intent));
    written.then(
      (ids) => {
        isFirstWritten = true;
        endFirst();
        for (const [index, { resolve }] of wave.entries()) resolve(entryOf(ids.slice(index)));
      },
      (error: unknown) => {
        endFirst(error);
        for (const { reject } of wave) reject(error);
      },
    );
  };
  const look = (): void => {
    if (waiting.length === 0) return;
    if (waiting.length >= waveSize || waiting.length >= begun) write();
    else timer ??= setTimeout(write, longestWaitMs);
  };
  return {
    ...same,
    // The first wave takes the lease too: an update that begins at the same time waits for it.
    take: async () => {
      if (begun > 0 && !isFirstWritten) {
        const error = await new Promise<unknown>((resolve) => {
          afterFirst = [...afterFirst, resolve];
        });
        if (error !== undefined) throw error;
      }
      await records.take();
    },
    async during(work) {
      begun += 1;
      try {
        return await work();
      } finally {
        begun -= 1;
        look();
        if (begun === 0) endFirst();
      }
    },
    intend: (intent) =>
      new Promise((resolve, reject) => {
        waiting = [...waiting, { intent, resolve, reject }];
        look();
      }),
  };
}

function entryOf(ids: readonly string[]): string {
  const [id] = ids;
  if (id === undefined) throw new Error("an intent was stored without an id");
  return id;
}
