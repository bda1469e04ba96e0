import type { OnProgress } from "../model/runtime/progress.ts";
import type { Reads } from "../model/service.ts";

// One event for each table would be most of an ndjson file.
const every = 100;

/** Reports how many of the tables that were asked for had their columns read with a request of their own, every hundred. */
export function withColumnProgress<R extends Pick<Reads, "columns">>(reads: R, onProgress: OnProgress | undefined): R {
  if (onProgress === undefined) return reads;
  let done = 0;
  let total = 0;
  const columns: Reads["columns"] = async (...path) => {
    total += 1;
    const read = await reads.columns(...path);
    done += 1;
    if (done % every === 0) onProgress({ type: "step", phase: "columns", done, total, label: "tables" });
    return read;
  };
  return { ...reads, columns };
}
