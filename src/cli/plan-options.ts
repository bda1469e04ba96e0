import { DimsyncError } from "../core/base/model/errors.ts";
import { guardNames } from "../core/base/model/findings.ts";
import type { Plan } from "../core/base/model/plan.ts";
import { isEnabled } from "../core/base/model/settings/env.ts";
import { didYouMean } from "../core/base/text/suggest.ts";
import { namesMatcher } from "../core/kinds/index.ts";
import type { ApplyAccountOptions } from "../core/operations/index.ts";
import { everything, type FailOn, failOnNames, type PlanOptions, scopeOf } from "../core/plan/index.ts";
import type { Context } from "./context.ts";
import type { ApplyFlags, PlanFlags } from "./flags.ts";
import { say } from "./io.ts";
import { durationFlag } from "./project.ts";

/** The engine's options from the flags that plan, drift and apply share. Throws E_USAGE. */
export function planOptions(
  flags: Pick<PlanFlags, "only" | "exclude" | "allow" | "protectOnly" | "verbose"> & Partial<Pick<PlanFlags, "failOn">>,
): PlanOptions {
  return {
    scope: flags.only.length + flags.exclude.length === 0 ? everything : scopeOf(flags.only, flags.exclude, namesMatcher),
    allow: new Map(flags.allow.map(allowance)),
    // With --fail-on unmanaged, the report must name them.
    ...(flags.verbose === true || flags.failOn?.some((words) => words.includes("unmanaged")) === true ? { listUnmanaged: true } : {}),
    ...(flags.protectOnly === true ? { protectOnly: true } : {}),
  };
}

/** The options of apply, from its flags. Throws E_USAGE. */
export function applyOptions({ flags, io }: Context<ApplyFlags>): ApplyAccountOptions {
  return {
    ...planOptions(flags),
    lockTimeoutMs: flags.lockTimeout === undefined ? 0 : durationFlag("--lock-timeout", flags.lockTimeout),
    ...(flags.maxPlanAge === undefined ? {} : { maxPlanAgeMs: durationFlag("--max-plan-age", flags.maxPlanAge) }),
    onNotice: (text) => say(io, text),
    // Until then, nothing is held that the next run would miss, so the system may end the process.
    beforeFirstWrite: async () => void io.catchSignals?.(),
  };
}

/** Throws E_READ_ONLY for a run that may only read. */
export function refuseReadOnly({ io }: Context): void {
  if (isEnabled(io.env["DIMSYNC_READ_ONLY"]))
    throw new DimsyncError(
      "E_READ_ONLY",
      "apply writes to the account, but DIMSYNC_READ_ONLY is set. To see what it would change, run plan.",
      { command: "dimsync plan" },
    );
}

function allowance(text: string): readonly [string, string] {
  const at = text.indexOf("=");
  const name = at === -1 ? text : text.slice(0, at);
  const reason = at === -1 ? "" : text.slice(at + 1).trim();
  const names: readonly string[] = guardNames;
  if (!names.includes(name))
    throw new DimsyncError("E_USAGE", `Unknown guard ${JSON.stringify(name)}. Guards: ${names.join(", ")}.${didYouMean(name, names)}`);
  if (reason === "")
    throw new DimsyncError("E_USAGE", `--allow needs a reason, which is recorded in the result: --allow ${name}="reason".`);
  return [name, reason];
}

/** `--fail-on a,b` of the command that makes such a document. Throws E_USAGE for an unknown word. */
export function failOnFlags(texts: readonly string[], kind: Plan["kind"]): readonly FailOn[] {
  const known: readonly string[] = failOnNames[kind];
  const words = texts
    .flatMap((text) => text.split(","))
    .map((word) => word.trim())
    .filter((word) => word !== "");
  const unknown = words.find((word) => !known.includes(word));
  if (unknown !== undefined)
    throw new DimsyncError(
      "E_USAGE",
      `Unknown --fail-on value ${JSON.stringify(unknown)}. Known values: ${known.join(", ")}.${didYouMean(unknown, known)}`,
    );
  return failOnNames[kind].filter((name) => words.includes(name));
}
