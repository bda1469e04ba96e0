import { readFile } from "node:fs/promises";
import type { Plan, Result } from "../model/plan.ts";
import { writeAtomic } from "../records/atomic.ts";
import type { Document } from "../render/index.ts";
import { lastSuccesses, metricsText } from "../render/metrics.ts";

/** Writes `--metrics FILE` whole, so that the collector never reads half of it. The last success of before is carried over. */
export async function writeMetrics(file: string, documents: readonly Document[]): Promise<void> {
  const before = await readFile(file, "utf8").catch(() => "");
  const text = metricsText(documents.filter(isRun), {
    finishedAtSeconds: Math.floor(Date.now() / 1000),
    // Since the process began.
    durationSeconds: Math.round(performance.now()) / 1000,
    lastSuccessSeconds: lastSuccesses(before),
  });
  // Whoever runs the collector is seldom who runs dimsync.
  await writeAtomic(file, text, { mode: 0o644 });
}

const isRun = (document: Document): document is Plan | Result => document.kind !== "Validation";
