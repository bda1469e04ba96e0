import { readFile } from "node:fs/promises";
import { DimsyncError, messageOf } from "../core/model/errors.ts";
import type { Plan, Result } from "../core/model/plan.ts";
import { masked } from "../core/model/settings/secret.ts";
import { writeAtomic } from "../core/records/files/atomic.ts";
import type { Document } from "../core/render/index.ts";
import { lastSuccesses, metricsText } from "../core/render/machine/metrics.ts";

/** Writes `--metrics FILE` atomically, so that the collector never reads half of it. Keeps the time of the last success. Throws E_OUTPUT. */
export async function writeMetrics(file: string, documents: readonly Document[]): Promise<void> {
  const before = await readFile(file, "utf8").catch(() => "");
  const text = metricsText(documents.filter(isRun), {
    finishedAtSeconds: Math.floor(Date.now() / 1000),
    // Since the process started.
    durationSeconds: Math.round(performance.now()) / 1000,
    lastSuccessSeconds: lastSuccesses(before),
  });
  // The collector usually runs as another user.
  await writeAtomic(file, masked(text), { mode: 0o644 }).catch((error: unknown) => {
    throw new DimsyncError("E_OUTPUT", `${file} could not be written: ${messageOf(error)}. Use another file for --metrics.`, {
      cause: error,
    });
  });
}

const isRun = (document: Document): document is Plan | Result => document.kind !== "Validation";
