import { isInCreation, readIfPossible, type ServiceError } from "../base/model/errors.ts";
import { type ExtendedCall, extendedCallOf, isNotOffered } from "../base/model/extended.ts";
import type { ChangeGroup, NotKept, ReadyStep, Step, StepEnd, Why } from "../base/model/plan.ts";
import type { Secret } from "../base/model/settings/secret.ts";
import type { Kind, Unit } from "../kinds/index.ts";
import type { NewestEntries, RunReads, WriteRun } from "../plan/index.ts";
import type { RunRecords } from "./waves.ts";

/** The context in which the items of one round are executed. */
export interface Execution {
  readonly run: WriteRun;
  readonly records: RunRecords;
  /** By the canonical JSON of their references. */
  readonly secrets: ReadonlyMap<string, Secret>;
  readonly auditLog: () => Promise<NewestEntries>;
  /** How items end that must not be sent, by id. */
  readonly endings: ReadonlyMap<string, Ending>;
  /** Adds a created object to the list that later rounds have read already. */
  readonly remember: RunReads["remember"];
}

/** One item to execute. */
export interface Started<Live = unknown> extends Execution {
  readonly item: ReadyStep;
  readonly kind: Kind<Unit, Live>;
}

/** How one step ended. */
export interface Ending extends Partial<Pick<Step, "liveId" | "changes">>, Partial<Why> {
  readonly outcome: StepEnd;
  /** Of a step that did not converge: the changes that the account has all the same. `changes` are the others. */
  readonly kept?: readonly ChangeGroup[];
  /** The values that the service accepted and did not keep. */
  readonly notKept?: readonly NotKept[];
}

/** A step and how it ended. */
export interface EndedStep extends Omit<Step, "outcome" | "why" | "changes">, Ending {
  readonly changes: Step["changes"];
}

export const ended = ({ why: _, outcome: __, ...step }: Step, ending: Ending): EndedStep => ({ ...step, ...ending });

const stillInCreation =
  "The service still creates the integration, so the request was not accepted. Run apply again later. client.schemaWaitSeconds limits how long apply waits for that.";

/**
 * The ending of an item whose request failed. It waits while the service still creates the integration. After a refused key,
 * nothing more is sent: all these items end with the same text.
 */
export function endingOf(error: ServiceError): Ending {
  const { code, status, sent, message, reason } = error;
  if (isInCreation(error)) return { outcome: "waits", code: "E_STILL_WAITING", message: `${stillInCreation} Its last answer: ${reason}` };
  if (status !== 401) return { outcome: "failed", code, message };
  if (sent === "never") return { outcome: "skipped", code, message: "Not sent, because the service refused the API key before." };
  return { outcome: "failed", code, message: reason };
}

/** The extended request of the item that the service does not have, as another item has found out. */
export const lackingCall = ({ item, run }: Started): ExtendedCall | undefined =>
  item.requests.map(extendedCallOf).find((call) => call !== undefined && run.missing?.has(call) === true);

/** The ending of an item whose extended request the service does not have. It is planned again without it. */
export const notOffered = (call: ExtendedCall): Ending => ({
  outcome: "skipped",
  code: "E_NOT_OFFERED",
  message: `This service does not have ${call}, although service.extended is true. Nothing was changed.`,
});

/** The extended request that failed because the service does not have it; undefined for any other failure. Remembers it for the rest of the run. */
export async function learnLacking<Live>({ item, kind, run }: Started<Live>, error: ServiceError): Promise<ExtendedCall | undefined> {
  const call = extendedCallOf(error);
  if (call === undefined || !isNotOffered(error)) return undefined;
  // A 404 may also mean that the object was deleted a moment before.
  const isThere =
    item.liveId === undefined || (await readIfPossible(async () => kind.update?.reread(item, run.writer.reads))) !== undefined;
  if (!isThere) return undefined;
  run.missing?.add(call);
  return call;
}

/** The object of an update or of a relation cannot be read before the write. Only a plan, which reads the lists, can tell whether it is gone. */
export const unreadBefore = ({ item }: Pick<Started, "item">): Ending => ({
  outcome: "failed",
  code: "E_READ_FAILED",
  message: `GET of ${item.liveId ?? item.address} returned 404 after the plan was made, so nothing was sent. Run plan: it says whether the account still has it.`,
});

/** Whether the item reached its desired state. */
export const isGood = (outcome: StepEnd): boolean => outcome === "done" || outcome === "recovered";
