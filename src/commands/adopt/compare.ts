import { statSync } from "node:fs";
import { resolve } from "node:path";
import { DimsyncError } from "../../model/errors.ts";
import type { Exit, ExitCode } from "../../model/exit.ts";
import { type AccountDifference, compareAccounts } from "../../snapshot/compare.ts";
import { visible } from "../../text/control-characters.ts";
import type { Context } from "../shared/context.ts";
import type { CompareFlags } from "../shared/flags.ts";
import { checkOutputs, deliverForms } from "../shared/output.ts";
import { loadOneProject } from "../shared/project.ts";
import { openReads } from "./snapshot.ts";

/** What `dimsync compare -o json` prints. */
export interface Comparison {
  readonly kind: "Comparison";
  readonly from: string;
  readonly to: string;
  readonly differences: readonly AccountDifference[];
  readonly exit: Exit;
}

/** `dimsync compare --from A --to B`: two targets, or snapshots, side by side. Sends GET only; exit 2 where they differ. */
export async function runCompare(context: Context<CompareFlags>): Promise<ExitCode> {
  const { flags } = context;
  checkOutputs(context, ["human", "json"]);
  const { from, to } = flags;
  if (from === undefined || to === undefined)
    throw new DimsyncError("E_USAGE", "compare takes two targets or snapshot files: dimsync compare --from staging --to prod");
  const a = await openSide(context, from);
  try {
    const b = await openSide(context, to);
    try {
      const differences: AccountDifference[] = [];
      for await (const difference of compareAccounts(a.reads, b.reads)) differences.push(difference);
      const exit: Exit = differences.length === 0 ? { code: 0, reasons: [] } : { code: 2, reasons: ["differences"] };
      const comparison: Comparison = { kind: "Comparison", from, to, differences, exit };
      await deliverForms(context, {
        human: ({ verbose }) => humanText(comparison, verbose),
        json: () => `${JSON.stringify(comparison, undefined, 2)}\n`,
      });
      return exit.code;
    } finally {
      await b.close();
    }
  } finally {
    await a.close();
  }
}

/** What is a file, or has a name like one, is a snapshot; anything else is the name of a target. */
async function openSide(context: Context<CompareFlags>, name: string) {
  const { io, flags, cwd } = context;
  const file = resolve(cwd, name);
  const isFile = statSync(file, { throwIfNoEntry: false })?.isFile() === true;
  const run = { env: io.env, signal: io.interrupted };
  // A snapshot needs no project.
  if (isFile || /[/\\]|\.(?:json|gz)$/u.test(name)) return openReads({ settings: undefined }, file, run);
  const project = await loadOneProject({ ...context, flags: { ...flags, target: [name], allTargets: false } });
  return openReads(project, undefined, run);
}

/** Differences of one object shown without --verbose. */
const shownPerObject = 20;

function humanText({ from, to, differences }: Comparison, verbose: boolean): string {
  if (differences.length === 0) return `${visible(from)} and ${visible(to)} are alike.\n`;
  const byObject = new Map<string, AccountDifference[]>();
  for (const difference of differences) byObject.set(difference.object, [...(byObject.get(difference.object) ?? []), difference]);
  const lines = [`from  ${from}`, `to    ${to}`, ""];
  for (const [object, found] of byObject) {
    lines.push(object);
    const shown = verbose ? found : found.slice(0, shownPerObject);
    for (const { path, from: one, to: other } of shown)
      lines.push(
        path === ""
          ? `  only in ${one === undefined ? "to" : "from"}, as ${JSON.stringify(one ?? other)}`
          : `  ${path.slice(1)}: ${valueText(one)} → ${valueText(other)}`,
      );
    if (shown.length < found.length) lines.push(`  and ${found.length - shown.length} more; --verbose shows all`);
  }
  lines.push("", `${differences.length} differences in ${byObject.size} objects.`);
  return `${lines.map(visible).join("\n")}\n`;
}

const valueText = (value: unknown): string => (value === undefined ? "(none)" : JSON.stringify(value));
