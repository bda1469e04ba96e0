import { readFile } from "node:fs/promises";
import type { Context } from "../cli/context.ts";
import type { CiFlags } from "../cli/flags.ts";
import type { Plan } from "../model/plan.ts";
import type { Result } from "../model/result.ts";

/** The same run with additional outputs. */
export function withOutputs<Flags extends CiFlags>(context: Context<Flags>, outputs: readonly string[]): Context<Flags> {
  return { ...context, flags: { ...context.flags, output: [...context.flags.output, ...outputs] } };
}

/**
 * Reads what this process has just written with `-o json`: a plan or a drift report, or a list of
 * them.
 */
export async function plansIn(file: string): Promise<readonly Plan[]> {
  return listed(JSON.parse(await readFile(file, "utf8")) as Plan | readonly Plan[]);
}

/** As `plansIn` for the results of apply; an empty list if apply failed before it had one. */
export async function resultsIn(file: string): Promise<readonly Result[]> {
  const text = await readFile(file, "utf8").catch(() => "[]");
  return listed(JSON.parse(text) as Result | readonly Result[]);
}

const listed = <T extends object>(value: T | readonly T[]): readonly T[] => ("kind" in value ? [value as T] : (value as readonly T[]));
