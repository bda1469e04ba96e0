import { visible } from "../../text/control-characters.ts";
import { counted } from "../../text/counts.ts";
import type { RenderOptions } from "../document.ts";
import { screenOf, wrap } from "./layout.ts";

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

export function doctorText({ checks }: ShownChecks, options: RenderOptions): string {
  const { paint, width } = screenOf(options);
  const paints = { ok: paint.green, warn: paint.yellow, fail: paint.red, skip: paint.dim };
  const names = Math.max(...checks.map(({ check }) => check.length));
  const indent = " ".repeat(names + 8);
  const lines = checks.flatMap(({ check, state, found, advice }) => {
    const [first = "", ...more] = wrap(visible(found), indent, width);
    const head = `${paints[state](state.padEnd(4))}  ${check.padEnd(names)}  `;
    return [head + first.trimStart(), ...more, ...wrap(visible(advice ?? ""), indent, width)];
  });
  const count = (wanted: string): number => checks.filter(({ state }) => state === wanted).length;
  const skipped = count("skip") === 0 ? "" : `, ${count("skip")} skipped`;
  const summary = count("fail") === 0 ? "Ready to plan." : "Fix the failed checks first.";
  const counts = `${count("ok")} ok, ${counted(count("warn"), "warning")}, ${count("fail")} failed${skipped}.`;
  return `${[...lines, "", ...wrap(`${summary} ${counts}`, "", width)].join("\n")}\n`;
}
