import { byText } from "../../core/model/address.ts";
import type { Exit } from "../../core/model/exit.ts";
import type { RegisterCount, RegisterRow } from "../../core/model/register.ts";

/** Adds up rows. */
export interface Tally {
  readonly add: (rows: readonly RegisterRow[]) => void;
  readonly counts: () => readonly RegisterCount[];
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

export function newTally(): Tally {
  const found = new Map<string, Mutable<RegisterCount>>();
  return {
    add(rows) {
      for (const row of rows) {
        const { integration, label } = row;
        const key = JSON.stringify([integration, label]);
        const count = found.get(key) ?? { integration, label, columns: 0, off: 0, hashed: 0, readable: 0, exempt: 0, breaking: 0 };
        found.set(key, count);
        count.columns++;
        if (!row.replicated) count.off++;
        else if (row.hashed) count.hashed++;
        else count.readable++;
        if (row.exemption !== "") count.exempt++;
        if (row.breaks.length > 0) count.breaking++;
      }
    },
    counts: () => [...found.values()].sort((a, b) => byText(a.integration, b.integration) || byText(a.label, b.label)),
  };
}

/** 3 if a column breaks a policy of severity error. */
export const registerExit = (summary: readonly RegisterCount[]): Exit =>
  summary.some(({ breaking }) => breaking > 0) ? { code: 3, reasons: ["policy"] } : { code: 0, reasons: [] };
