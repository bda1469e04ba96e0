import { applyExit } from "../engine/exit-codes.ts";
import type { WriteSession } from "../engine/session.ts";
import { byText } from "../model/address.ts";
import { DimsyncError } from "../model/errors.ts";
import { combineExits, type Exit } from "../model/exit.ts";
import type { Held, Plan } from "../model/plan.ts";
import type { ItemResult, Result } from "../model/result.ts";

/** The result of an apply. `plans` are those of all its rounds, in order. */
export function resultOf(
  session: WriteSession,
  plans: readonly [Plan, ...Plan[]],
  { items, startedAt }: { readonly items: readonly ItemResult[]; readonly startedAt: string },
): Result {
  const [first] = plans;
  const last = plans.at(-1) ?? first;
  // Entries that waited were checked in a later round, so only the last plan's notes about waiting
  // are valid.
  const diagnostics = plans.flatMap((plan) => plan.diagnostics.filter(({ code }) => plan === last || code !== "I_POLICY_WAITS"));
  const bindings = [...session.records().bindings].sort(([a], [b]) => byText(a, b)).map(([address, { id }]) => [address, id] as const);
  const result: Result = {
    formatVersion: "2.0",
    kind: "Result",
    runId: session.writer.records.runId,
    planId: first.planId,
    startedAt,
    finishedAt: session.clock.now().toISOString(),
    tool: { name: "dimsync", version: session.version },
    target: first.target,
    account: first.account,
    items,
    ...(first.held === undefined ? {} : { held: heldBy(plans) }),
    manual: lastByKey(
      plans.flatMap(({ manual }) => manual),
      ({ id }) => id,
    ),
    guards: lastByKey(
      plans.flatMap(({ guards }) => guards),
      ({ guard, message }) => `${guard} ${message}`,
    ),
    policy: lastByKey(
      plans.flatMap(({ policy }) => policy),
      ({ policy, address, path, message }) => JSON.stringify([policy, address, path, message]),
    ),
    diagnostics: lastByKey(diagnostics, (diagnostic) => JSON.stringify(diagnostic)),
    calls: session.calls(),
    bindings: Object.fromEntries(bindings),
    exit: { code: 0, reasons: [] },
  };
  return { ...result, exit: exitOf(result, first.executable ? last : first, session.signal) };
}

/** What the run did not send. A later round has planned some addresses again. */
const heldBy = (plans: readonly Plan[]): readonly Held[] =>
  lastByKey(
    plans.flatMap(({ held = [] }) => held),
    ({ address, action }) => `${action ?? ""} ${address}`,
  );

/** One value per key: the last value, at the position of the first. */
const lastByKey = <T>(values: readonly T[], key: (value: T) => string): readonly T[] => [
  ...new Map(values.map((value) => [key(value), value])).values(),
];

/** A run that lost its lease is stopped by the same signal as one that the user interrupts, but was not interrupted. */
function exitOf(result: Result, plan: Plan, signal: AbortSignal): Exit {
  const lostLease = signal.aborted && signal.reason instanceof DimsyncError ? signal.reason : undefined;
  const exit = applyExit(result, plan, signal.aborted && lostLease === undefined);
  return lostLease === undefined ? exit : combineExits([exit, { code: lostLease.exit, reasons: ["lock-lost"] }]);
}
