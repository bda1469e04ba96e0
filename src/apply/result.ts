import { applyExit } from "../engine/exit-codes.ts";
import { DimsyncError } from "../model/errors.ts";
import { combineExits } from "../model/exit.ts";
import type { GuardFinding, ItemResult, Plan, Result } from "../model/plan.ts";
import type { WriteSession } from "./apply.ts";

/** What an apply did, from the plans of all its rounds, the first one first. */
export function resultOf(
  session: WriteSession,
  rounds: readonly [Plan, ...Plan[]],
  items: readonly ItemResult[],
  startedAt: string,
): Result {
  const [first] = rounds;
  const last = rounds.at(-1) ?? first;
  const unique = <T>(of: (plan: Plan) => readonly T[], key: (value: T) => string): readonly T[] => [
    ...new Map(rounds.flatMap(of).map((value) => [key(value), value])).values(),
  ];
  const bindings = Object.fromEntries(
    [...session.records().bindings].sort(([a], [b]) => (a < b ? -1 : 1)).map(([address, { id }]) => [address, id]),
  );
  const result: Result = {
    formatVersion: "1.0",
    kind: "Result",
    runId: session.runId,
    planId: first.planId,
    startedAt,
    finishedAt: session.clock.now().toISOString(),
    tool: { name: "dimsync", version: session.version },
    target: first.target,
    account: first.account,
    items,
    manual: unique(
      ({ manual }) => manual,
      ({ id }) => id,
    ),
    guards: unique<GuardFinding>(
      ({ guards }) => guards,
      ({ guard, message }) => `${guard} ${message}`,
    ),
    policy: unique(({ policy }) => policy, JSON.stringify),
    diagnostics: unique(
      // What waited to be judged was judged in a later round, or waits in the last one still.
      (plan) => plan.diagnostics.filter(({ code }) => plan === last || code !== "I_POLICY_WAITS"),
      JSON.stringify,
    ),
    calls: session.calls(),
    bindings,
    exit: { code: 0, reasons: [] },
  };
  // A lock that another run has taken over stops this one as a signal does, and is no interruption by a person.
  const { signal } = session;
  const lostLock = signal.aborted && signal.reason instanceof DimsyncError ? signal.reason : undefined;
  const exit = applyExit(result, first.executable ? last : first, signal.aborted && lostLock === undefined);
  return { ...result, exit: lostLock === undefined ? exit : combineExits([exit, { code: lostLock.exit, reasons: ["lock-lost"] }]) };
}
