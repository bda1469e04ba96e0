import { statSync } from "node:fs";
import { resolve } from "node:path";
import { DimsyncError } from "../../model/errors.ts";
import type { ExitCode } from "../../model/exit.ts";
import { type AccountDifference, compareAccounts } from "../../snapshot/compare.ts";
import { comparisonOf, comparisonText } from "../../snapshot/comparison.ts";
import type { Context } from "../shared/context.ts";
import type { CompareFlags } from "../shared/flags.ts";
import { checkOutputs, deliverForms } from "../shared/output.ts";
import { loadOneProject } from "../shared/project.ts";
import { type OpenReads, openReads } from "./open-reads.ts";

/** `dimsync compare --from A --to B`: compares two targets or snapshots. Sends GET only; exit 2 if they differ. */
export async function runCompare(context: Context<CompareFlags>): Promise<ExitCode> {
  checkOutputs(context, ["human", "json"]);
  const { from, to } = context.flags;
  if (from === undefined || to === undefined)
    throw new DimsyncError("E_USAGE", "compare needs two targets or snapshot files.", {
      command: "dimsync compare --from staging --to prod",
    });
  const comparison = comparisonOf(from, to, await differencesBetween(context, from, to));
  await deliverForms(context, {
    human: ({ verbose }) => comparisonText(comparison, verbose),
    json: () => `${JSON.stringify(comparison, undefined, 2)}\n`,
  });
  return comparison.exit.code;
}

async function differencesBetween(context: Context<CompareFlags>, from: string, to: string): Promise<readonly AccountDifference[]> {
  const a = await openSide(context, from);
  try {
    const b = await openSide(context, to);
    try {
      const found: AccountDifference[] = [];
      for await (const difference of compareAccounts(a.reads, b.reads)) found.push(difference);
      return found;
    } finally {
      await b.close();
    }
  } finally {
    await a.close();
  }
}

/** An existing file, or a name that looks like one, is a snapshot; anything else is the name of a target. */
async function openSide(context: Context<CompareFlags>, name: string): Promise<OpenReads> {
  const { io, flags, cwd } = context;
  const file = resolve(cwd, name);
  const isFile = statSync(file, { throwIfNoEntry: false })?.isFile() === true;
  const run = { env: io.env, signal: io.interrupted };
  // A snapshot needs no project.
  if (isFile || /[/\\]|\.(?:json|gz)$/u.test(name)) return openReads(undefined, file, run);
  return openReads(await loadOneProject({ ...context, flags: { ...flags, target: [name], allTargets: false } }), undefined, run);
}
