import type { Intent, RecordsRun } from "../records/index.ts";

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

/** Intents that are stored together, and the items that will bring more. */
interface Waves {
  readonly records: RecordsRun;
  /** Items that have begun and not ended. */
  begun: number;
  waiting: readonly Waiting[];
  timer: NodeJS.Timeout | undefined;
  isFirstWritten: boolean;
  /** Called when the first wave was written, or failed. */
  afterFirst: readonly ((error?: unknown) => void)[];
}

/** The records of a run, for many items at a time. */
export function gatherIntents(records: RecordsRun): RunRecords {
  const { settle, bind, unbind, state, flush } = records;
  const same = { settle, bind, unbind, state, flush };
  if (records.waveSize <= 1)
    return {
      ...same,
      take: records.take,
      during: (work) => work(),
      intend: async (intent) => entryOf(await records.intend([intent])),
    };
  const waves: Waves = { records, begun: 0, waiting: [], timer: undefined, isFirstWritten: false, afterFirst: [] };
  return {
    ...same,
    take: () => takeAfterFirst(waves),
    during: (work) => during(waves, work),
    intend: (intent) =>
      new Promise((resolve, reject) => {
        waves.waiting = [...waves.waiting, { intent, resolve, reject }];
        writeIfDue(waves);
      }),
  };
}

/** The first wave takes the lease too: an update that begins at the same time waits for it. */
async function takeAfterFirst(waves: Waves): Promise<void> {
  if (waves.begun > 0 && !waves.isFirstWritten) {
    const error = await new Promise<unknown>((resolve) => {
      waves.afterFirst = [...waves.afterFirst, resolve];
    });
    if (error !== undefined) throw error;
  }
  await waves.records.take();
}

async function during<T>(waves: Waves, work: () => Promise<T>): Promise<T> {
  waves.begun += 1;
  try {
    return await work();
  } finally {
    waves.begun -= 1;
    writeIfDue(waves);
    if (waves.begun === 0) endFirst(waves);
  }
}

function writeIfDue(waves: Waves): void {
  const { waiting, begun, records } = waves;
  if (waiting.length === 0) return;
  if (waiting.length >= records.waveSize || waiting.length >= begun) writeWave(waves);
  else waves.timer ??= setTimeout(() => writeWave(waves), longestWaitMs);
}

function writeWave(waves: Waves): void {
  clearTimeout(waves.timer);
  waves.timer = undefined;
  const wave = waves.waiting;
  waves.waiting = [];
  waves.records.intend(wave.map(({ intent }) => intent)).then(
    (ids) => {
      waves.isFirstWritten = true;
      endFirst(waves);
      for (const [index, { resolve }] of wave.entries()) resolve(entryOf(ids.slice(index)));
    },
    (error: unknown) => {
      endFirst(waves, error);
      for (const { reject } of wave) reject(error);
    },
  );
}

function endFirst(waves: Waves, error?: unknown): void {
  for (const resolve of waves.afterFirst) resolve(error);
  waves.afterFirst = [];
}

function entryOf(ids: readonly string[]): string {
  const [id] = ids;
  if (id === undefined) throw new Error("an intent was stored without an id");
  return id;
}
