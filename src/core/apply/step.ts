import type { Address } from "../base/model/address.ts";
import { DimsyncError, isInCreation, readIfPossible, type ServiceError } from "../base/model/errors.ts";
import { refusingGuards } from "../base/model/findings.ts";
import { isObject, setOwn } from "../base/model/json/json.ts";
import {
  type ChangeGroup,
  type NotKept,
  type Plan,
  type ReadyStep,
  readySteps,
  type Step,
  type StepEnd,
  type Why,
} from "../base/model/plan.ts";
import { stopsApply } from "../base/model/problem.ts";
import { exponentialMs } from "../base/model/runtime/clock.ts";
import {
  type ExtendedCall,
  extendedCallOf,
  isNotOffered,
  type PlannedRequest,
  type SendableRequest,
  type SendableValue,
} from "../base/model/service.ts";
import { describeSecret, isSecretReference, type Secret, secretKey, secretsIn } from "../base/model/settings/secret.ts";
import type { Code } from "../base/model/titles.ts";
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

/** Whether this run has created the object. A 404 of an extended request means that the service does not have the request. */
export const isOfThisRun = ({ item, run }: Pick<Started, "item" | "run">): boolean =>
  [item.liveId, item.naturalKey?.["resourceId"]].some((id) => id !== undefined && run.rounds.fresh.has(id)) &&
  !item.requests.some((one) => extendedCallOf(one) !== undefined);

const stillInCreation =
  "The service still creates the integration, so the request was not accepted. Run apply again later. client.schemaWaitSeconds limits how long apply waits for that.";

/** Whether the service does not show yet what this run has created (`isNew`). */
const isNotShownYet = ({ status }: ServiceError, isNew: boolean): boolean => isNew && status === 404;

/**
 * The ending of an item whose request failed. It waits while the service still creates the integration. After a refused key,
 * nothing more is sent: all these items end with the same text.
 */
export function endingOf(error: ServiceError, isNew = false): Ending {
  const { code, status, sent, message, reason } = error;
  if (isInCreation(error) || isNotShownYet(error, isNew))
    return { outcome: "waits", code: "E_STILL_WAITING", message: `${stillInCreation} Its last answer: ${reason}` };
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

/** The service refuses a request while another one is at work. */
const busyStatuses: readonly (number | undefined)[] = [409, 423, 425];

/** Whether a request was refused because another one is at work, such as the creation of the integration. Then it is sent again. */
export const isBusy = (error: ServiceError, isNew: boolean): boolean =>
  error.sent === "answered" && (busyStatuses.includes(error.status) || isNotShownYet(error, isNew));

/**
 * Pauses while the service is busy, longer each time: for at most `client.schemaWaitSeconds` while it creates the integration, and for at
 * most `client.settleSeconds` otherwise. False: the time is over, or the run was interrupted.
 */
export function newBusyWait(
  { clock, project, signal, onProgress }: WriteRun,
  { address, isNew }: { readonly address: Address; readonly isNew: boolean },
): (error: ServiceError) => Promise<boolean> {
  const start = clock.now().getTime();
  const { schemaWaitMs, settleMs } = project.settings.client;
  let attempt = 0;
  return async (error) => {
    attempt += 1;
    const pauseMs = exponentialMs(attempt, 250, 4_000);
    const isCreating = isNew || isInCreation(error);
    const waitMs = isCreating ? schemaWaitMs : settleMs;
    if (clock.now().getTime() + pauseMs > start + waitMs || signal.aborted) return false;
    const cause = isCreating ? "the service still creates the integration" : "another request is at work";
    onProgress?.({ type: "step", phase: "wait", done: 0, total: 0, label: `${address}: ${cause}` });
    await clock.sleep(pauseMs, signal);
    return !signal.aborted;
  };
}

/**
 * The request with secrets instead of their references. The last step before sending; never stored.
 * Throws E_SECRET_MISSING.
 */
export function inlineSecrets({ method, path, body }: PlannedRequest, secrets: ReadonlyMap<string, Secret>): SendableRequest {
  const fill = (value: unknown): SendableValue => {
    if (isSecretReference(value)) {
      const secret = secrets.get(secretKey(value));
      if (secret === undefined)
        throw new DimsyncError(
          "E_SECRET_MISSING",
          `${describeSecret(value)} was not resolved before the first write, so nothing that needs it is sent.`,
        );
      return secret;
    }
    if (Array.isArray(value)) return value.map(fill);
    if (!isObject(value)) return value as SendableValue;
    const filled: Record<string, SendableValue> = {};
    for (const key of Object.keys(value)) setOwn(filled, key, fill(value[key]));
    return filled;
  };
  // The bodies of schemas have none, and can be large.
  if (secretsIn(body).length === 0) return { method, path, body };
  return { method, path, body: fill(body) as SendableRequest["body"] };
}

/** Why no item of a plan was started. */
export interface WhyNotRun {
  readonly code: Code;
  readonly message: string;
  readonly outcome: "skipped" | "blocked";
  /** The user or the system ended the run: what became of items that wait is open. */
  readonly isEnded?: true;
}

export const interrupted: WhyNotRun = {
  code: "E_INTERRUPTED",
  message: "The run was interrupted before this step started.",
  outcome: "skipped",
  isEnded: true,
};
export const declined: WhyNotRun = { code: "E_NOT_CONFIRMED", message: "The plan was not confirmed.", outcome: "blocked", isEnded: true };

/** Why a plan that is not executable can't be applied. */
export const refusal = (plan: Plan): WhyNotRun => ({ ...whyRefused(plan), outcome: "blocked" });

function whyRefused(plan: Plan): Pick<WhyNotRun, "code" | "message"> {
  const [guard] = refusingGuards(plan);
  if (guard !== undefined && !plan.findings.some(stopsApply))
    return { code: "E_GUARD", message: `The guard ${guard.rule} refuses: ${guard.message}` };
  return { code: "E_PROBLEMS", message: "The plan has errors, so nothing is sent." };
}

/** The results of items that were not started. */
export const notRun = (plan: Plan, { code, message, outcome }: WhyNotRun): readonly EndedStep[] =>
  readySteps(plan).map((step) => ended(step, { code, message, outcome }));
