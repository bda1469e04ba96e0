import type { Address } from "../base/model/address.ts";
import { DimsyncError, LeaseLostError } from "../base/model/errors.ts";
import { shellWord } from "../base/text/shell.ts";
import type { Lease } from "./records.ts";

/** The records that an error refers to: "prod" and "refs/dimsync/prod of origin". */
export interface StorePlace {
  readonly target: string;
  readonly place: string;
  /** What to do if a write fails, as a sentence. Default: for a server. */
  readonly writeFix?: string;
}

/** E_RECORDS_GONE: the store is missing or was restored to an earlier state. `why` is a clause. */
export const recordsGone = ({ target, place }: StorePlace, why: string): DimsyncError =>
  new DimsyncError(
    "E_RECORDS_GONE",
    `The records of the target ${target} (${place}) cannot be used: ${why}. They show what dimsync has created. Without them it could create an object a second time, so nothing is sent. ` +
      "Restore the ref or the database as it was, or write an export into an empty store. Never start with empty records for an account in which dimsync has created objects.",
    { command: `dimsync records restore FILE -t ${shellWord(target)}` },
  );

/** E_RECORDS_GONE: the store has another id than the config names. */
export const recordsForeign = ({ target, place }: StorePlace, found: string, expected: string): DimsyncError =>
  new DimsyncError(
    "E_RECORDS_GONE",
    `The records of the target ${target} (${place}) cannot be used: their id is ${found.slice(0, 40) || "missing"}, and dimsync.yaml names ${expected}. ` +
      "Records of another store do not show what dimsync has created, and it could create an object a second time, so nothing is sent. " +
      "Correct the store or its id in dimsync.yaml. If someone replaced the records, restore the earlier ones.",
  );

/** E_RECORDS_READ: the store could not be reached. `why` is a clause. */
export const recordsUnreadable = (store: StorePlace, why: string, cause?: unknown): DimsyncError =>
  unreadable(store, why, { fix: "Check the address, the network and the permission to read.", cause });

/** E_RECORDS_READ: the store could not be understood. `why` is a clause. */
export const recordsInvalid = (store: StorePlace, why: string, cause?: unknown): DimsyncError =>
  unreadable(store, why, { fix: "If they are damaged, restore them as they were.", cause });

const unreadable = (
  { target, place }: StorePlace,
  why: string,
  { fix, cause }: { readonly fix: string; readonly cause: unknown },
): DimsyncError =>
  new DimsyncError(
    "E_RECORDS_READ",
    `The records of the target ${target} (${place}) cannot be read: ${clause(why)}. They show what dimsync has created, so it does nothing without them. ${fix}`,
    { cause },
  );

/** E_RECORDS_REFUSED: the store did not accept a write. `words` are the server's. */
export const recordsRefused = ({ target, place, writeFix }: StorePlace, words: string): DimsyncError =>
  new DimsyncError(
    "E_RECORDS_REFUSED",
    `The records of the target ${target} (${place}) cannot be written: ${clause(words) || "the write was rejected"}. dimsync creates nothing that it cannot record. ${writeFix ?? "Check that the token, key or role of this run may write, and that no rule or hook refuses the write."}`,
    { exit: 4 },
  );

/** E_RECORDS_UNCLEAR: a write was sent, and it is not known whether it was stored. `words` say what failed last. */
export const recordsUnclear = ({ target, place, writeFix }: StorePlace, words: string): DimsyncError =>
  new DimsyncError(
    "E_RECORDS_UNCLEAR",
    `dimsync could not determine whether a write to the records of the target ${target} (${place}) was stored: ${clause(words) || "there was no response"}. It creates nothing before its records are stored. ${writeFix ?? "Run the command again when the store can be reached."}`,
    { exit: 4 },
  );

/** Without the full stop at its end. */
const clause = (words: string): string => words.replace(/[.\s]+$/u, "");

/** E_RECORDS_CHANGED: another run wrote between reading and writing. */
export const recordsChanged = ({ target, place }: StorePlace): DimsyncError =>
  new DimsyncError(
    "E_RECORDS_CHANGED",
    `Another run changed the records of the target ${target} (${place}) after they were read, so nothing was sent. Run the command again.`,
    { exit: 4 },
  );

/** E_RECORDS_MOVED: the records are in another store now. `to`: what dimsync.yaml must name. */
export const recordsMoved = ({ target, place }: StorePlace, to: string): DimsyncError =>
  new DimsyncError(
    "E_RECORDS_MOVED",
    `The records of the target ${target} are no longer in ${place}. They were moved to ${to}. The old store stays closed: with two stores, dimsync could create an object a second time. Use the dimsync.yaml that names the new store; it is probably in a newer commit.`,
  );

// A store whose records were moved keeps a lease that never ends. Its reason says where they are.

const moved = "the records were moved to ";

/** The reason of the lease that stays in a store whose records were moved. `to`: what dimsync.yaml must name instead. */
export const movedReason = (to: string): string => `${moved}${to}`;

/** Where the records are now, if the reason is that of a store whose records were moved. */
export const movedTo = (reason: string | undefined): string | undefined =>
  reason?.startsWith(moved) === true ? reason.slice(moved.length) : undefined;

/** E_LOCKED: another run, or a user, holds the lease. E_RECORDS_MOVED: the store was left. */
export function leaseHeld(store: StorePlace, lease: Lease): DimsyncError {
  const to = movedTo(lease.reason);
  if (to !== undefined) return recordsMoved(store, to);
  const { target } = store;
  const why =
    lease.reason === undefined
      ? "Two runs at once could create the same object twice, and nothing can be deleted. Wait until that run has ended, or give this one time with --lock-timeout. If that run is gone, end its lease:"
      : `The reason: ${lease.reason}. To end the lock:`;
  return new DimsyncError("E_LOCKED", `The target ${target} is locked by ${describeLease(lease)}. ${why}`, {
    exit: 6,
    command: `dimsync records unlock -t ${shellWord(target)}`,
  });
}

/** E_LOCKED: this run had the lease and lost it. `now` is the current lease, if any. */
export function leaseLost({ target }: StorePlace, now: Lease | undefined): DimsyncError {
  const who = now === undefined ? "The lease of this run was ended" : `The lease of this run was taken over by ${describeLease(now)}`;
  return new LeaseLostError(
    `${who}. This run sends nothing more for the target ${target}. Run plan again to see the state of the account.`,
  );
}

/** E_LOCKED: nothing may be sent without a lease. */
export const noLease = ({ target }: StorePlace): DimsyncError =>
  new DimsyncError("E_LOCKED", `This run does not hold the lease of the target ${target}, so it sends nothing.`, { exit: 6 });

/** E_RECORDS_UNCLEAR: the connection to the store is lost, so the outcome of a request could not be recorded. */
export const connectionLost = ({ target, place }: StorePlace): DimsyncError =>
  new DimsyncError(
    "E_RECORDS_UNCLEAR",
    `The connection to the records of the target ${target} (${place}) was lost, so this request was not sent. Run the command again when the store can be reached.`,
    { exit: 4 },
  );

/** E_RECORDS_UNCLEAR: the last write of this run is too old, so another one may have taken over. */
export const leaseStale = ({ target, place }: StorePlace, ageMs: number): DimsyncError =>
  new DimsyncError(
    "E_RECORDS_UNCLEAR",
    `The last write to the records of the target ${target} (${place}) was ${Math.round(ageMs / 1000)} s ago. Another run may have taken over, so this one sends nothing more. Run the command again.`,
    { exit: 4 },
  );

/** E_PLAN_APPLIED: a saved plan is applied once. */
export const planApplied = (runId: string, at: string): DimsyncError =>
  new DimsyncError(
    "E_PLAN_APPLIED",
    `This plan was applied before, by the run ${runId} at ${at}. A saved plan can be applied only once, because a repeated create makes a second object. Make a new plan.`,
    { exit: 5 },
  );

/** E_DUPLICATE_BINDING: one live object cannot have two manifests. `place` is "FILE:LINE:COLUMN", or a store. */
export const duplicateBinding = (address: Address, other: Address, id: string, place: string): DimsyncError =>
  new DimsyncError(
    "E_DUPLICATE_BINDING",
    `${place}: ${address} and ${other} are both bound to the id ${id}, but one live object cannot have two manifests. Unbind the wrong one.`,
  );

/** "the run RUN (since T, URL)" or "a user (since T)". */
export function describeLease({ reason, runId, runUrl, since, until, holder }: Lease): string {
  const details = [holder, since === "" ? "" : `since ${since}`, until === undefined ? "" : `until ${until}`, runUrl ?? ""];
  const shown = details.filter((detail) => detail !== "").join(", ");
  const who = reason === undefined ? `the run ${runId}` : "a user";
  return shown === "" ? who : `${who} (${shown})`;
}
