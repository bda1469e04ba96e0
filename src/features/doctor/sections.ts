import { type Entry, type Section, type Tone, untitled, word } from "../../core/render/blocks.ts";
import { counted } from "../../core/text/counts.ts";

/** What `dimsync doctor` found. */
export interface ShownChecks {
  readonly checks: readonly {
    readonly check: string;
    readonly state: "ok" | "warn" | "fail" | "skip";
    readonly found: string;
    /** What to do. */
    readonly advice?: string;
  }[];
}

const tones: Readonly<Record<ShownChecks["checks"][number]["state"], Tone>> = { ok: "good", warn: "warn", fail: "bad", skip: "quiet" };

/** Each check with what to do, then whether a plan can be made. */
export function doctorSections({ checks }: ShownChecks): readonly Section[] {
  const entries = checks.flatMap(({ check, state, found, advice }): readonly Entry[] => [
    { head: [[word(state, tones[state])], [check], [found]] },
    ...(advice === undefined ? [] : [{ head: [[], [], [advice]] }]),
  ]);
  const count = (wanted: string): number => checks.filter(({ state }) => state === wanted).length;
  const skipped = count("skip") === 0 ? "" : `, ${count("skip")} skipped`;
  const summary = count("fail") === 0 ? "Ready to plan." : "Fix the failed checks first.";
  const counts = `${count("ok")} ok, ${counted(count("warn"), "warning")}, ${count("fail")} failed${skipped}.`;
  return [untitled("checks", entries), untitled("summary", [{ head: [[`${summary} ${counts}`]] }])];
}
