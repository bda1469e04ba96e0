import { randomUUID } from "node:crypto";
import { type Project, withLocations } from "../../core/manifests/project.ts";
import { byText } from "../../core/model/address.ts";
import { DimsyncError } from "../../core/model/errors.ts";
import type { Environment } from "../../core/model/settings/env.ts";
import { withRecords } from "../../core/operations/open-records.ts";
import type { Lease, Records } from "../../core/records/records.ts";
import { type ByAddress, rememberedParts } from "../../core/records/remembered.ts";
import { describeLease, movedTo, recordsMoved } from "../../core/records/store-errors.ts";

const ofProject = <T>(project: Project, env: Environment, work: (records: Records) => Promise<T>): Promise<T> =>
  withLocations(project, withRecords(project.settings, env, work));

/** Locks a target until `until`, or until it is unlocked. Throws E_USAGE for a reason that only `records migrate` uses. */
export function lockTarget(
  project: Project,
  { reason, until }: { readonly reason: string; readonly until: Date | undefined },
  env: Environment,
): Promise<void> {
  if (movedTo(reason) !== undefined)
    throw new DimsyncError("E_USAGE", "records migrate uses this reason for a store that is left for good. Use other words.");
  const lock = { runId: randomUUID(), reason, ...(until === undefined ? {} : { until }) };
  return ofProject(project, env, (records) => records.lock(lock));
}

/** A lease, and who holds it in words. */
export type HeldLease = Lease & { readonly described: string };

const held = (lease: Lease): HeldLease => ({ ...lease, described: describeLease(lease) });

/** Ends the lease of a target. `confirm` is called before, and throws to leave it. Returns the lease; undefined if there is none. Throws E_RECORDS_MOVED. */
export const unlockTarget = (
  project: Project,
  confirm: (lease: HeldLease) => Promise<void>,
  env: Environment,
): Promise<HeldLease | undefined> =>
  ofProject(project, env, async (records) => {
    const lease = await records.lease();
    if (lease === undefined) return undefined;
    const to = movedTo(lease.reason);
    if (to !== undefined) throw recordsMoved({ target: project.settings.target, place: records.place }, to);
    await confirm(held(lease));
    const ended = await records.unlock();
    return ended === undefined ? undefined : held(ended);
  });

/** Everything that is known of a target. `holder`: who holds the lease, in words. */
export const recordsOf = (project: Project, env: Environment) =>
  ofProject(project, env, async (records) => {
    const [{ state, applied }, lease] = [await records.content(), await records.lease()];
    const { process: _, ...shownLease } = lease ?? {};
    const { version, bindings, created, open, forgotten, unlocked, longestSeen, columnsSeen, appliedCommit } = state;
    const shown = {
      kind: "Records" as const,
      target: project.settings.target,
      store: records.store,
      place: records.place,
      version,
      ...(lease === undefined ? {} : { lease: shownLease }),
      open,
      bindings: [...bindings].map(([address, binding]) => ({ address, ...binding })).sort((a, b) => byText(a.address, b.address)),
      created: [...created].map(([address, entry]) => ({ address, ...entry })).sort((a, b) => byText(a.address, b.address)),
      forgotten,
      applied: [...applied.values()],
      unlocked,
      ...{ lists: longestSeen, columns: columnsSeen, commit: appliedCommit },
      ...Object.fromEntries(rememberedParts.map((part) => [part, byKey(state[part])])),
    };
    const holder = lease === undefined ? undefined : [describeLease(lease), lease.reason].filter((text) => text !== undefined).join(": ");
    return { shown, holder };
  });

const byKey = (values: ByAddress<unknown>): object =>
  Object.fromEntries([...values].map(([address, keys]) => [address, Object.fromEntries(keys)]));

const mostWrites = 100;

/** The newest writes to the records of a target, newest first. */
export const recordsHistoryOf = (project: Project, env: Environment) =>
  ofProject(project, env, async (records) => {
    const { store, place } = records;
    return { target: project.settings.target, store, place, entries: await records.history(mostWrites) };
  });
