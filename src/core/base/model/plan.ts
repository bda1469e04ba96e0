import type { Address } from "./address.ts";
import type { LabelOrigin } from "./columns.ts";
import type { Attribution, Cause, Finding, NamedObject, Origin, Plan, Result, Step, UnmanagedTable, Why } from "./documents.generated.d.ts";
import type { JsonValue } from "./json/json.ts";
import type { Pointer } from "./json/pointer.ts";
import type { Nodes } from "./nodes.ts";
import { type Locate, placeText, type SourceLocation } from "./problem.ts";

export type * from "./documents.generated.d.ts";

/** The steps with this standing, in the order of the document. */
export const stepsOf = <S extends Pick<Step, "standing">>(
  { steps }: { readonly steps: readonly S[] },
  standing: Step["standing"],
): readonly S[] => steps.filter((step) => step.standing === standing);

/** Why a step is not sent; an empty message if it says nothing. */
export const whyOf = ({ why }: Pick<Step, "why">): Why => why ?? { message: "" };

/** What a step does that is not "none". */
export type Action = Exclude<Step["verb"], "none">;

/** A step that apply sends. */
export interface ReadyStep extends Step {
  readonly standing: "ready";
  readonly verb: Action;
}

/** The steps that apply sends, in its order. */
export const readySteps = ({ steps }: Pick<Plan | Result, "steps">): readonly ReadyStep[] =>
  steps.filter((step): step is ReadyStep => step.standing === "ready" && step.verb !== "none");

/** How a step that apply started, or did not start, ended. */
export type Outcome = NonNullable<Step["outcome"]>;

/** How a step ended, as people read it: what is blocked or waits has that as its standing in a result. */
export type StepEnd = Outcome | "blocked" | "waits";

/** How a step of a result ended. Undefined: it is not one that apply sends. */
export const outcomeOf = ({ outcome, standing }: Pick<Step, "outcome" | "standing">): StepEnd | undefined =>
  outcome ?? (standing === "blocked" ? "blocked" : standing === "waits" ? "waits" : undefined);

/** The steps of a result that apply has sent, or could not send. */
export const endedSteps = ({ steps }: Pick<Result, "steps">): readonly Step[] => steps.filter((step) => outcomeOf(step) !== undefined);

/** Whether it adds or removes the relation of a tag. */
export const isOfRelation = ({ verb }: Pick<ReadyStep, "verb">): boolean => verb === "relate" || verb === "unrelate";

/** "protects": less data is readable after the change; "exposes": more. */
export type Risk = "protects" | "exposes" | "neutral";

/** What a difference means in a drift report. "exposed": the account protects less than the manifests; "stricter": more. */
export type ReportRisk = "exposed" | "stricter" | "neutral";

/**
 * A change without its place. `before` absent: unknown or missing; `after` absent: the service decides.
 * Secrets are references.
 */
export interface ChangeFacts {
  readonly before?: JsonValue;
  readonly after?: JsonValue;
  /** A ReportRisk in a drift report, a Risk everywhere else. */
  readonly risk: Risk | ReportRisk;
  readonly cause?: Cause;
  /** What kept the value protected at the base and is gone, if nothing new decides the value: nobody decided to expose it. */
  readonly removed?: Cause;
  readonly origin?: Origin;
  readonly attribution?: Attribution;
}

/** One value that changes. */
export type Change<Facts = ChangeFacts> = Facts & {
  /** JSON Pointer into the live object: "/schemas/public/tables/users/columns/email/hashed". */
  readonly path: Pointer;
  /** The last segment of the path: "hashed". */
  readonly field: string;
};

/** The same change of some nodes of a schema. */
export type NodeChanges<Facts = ChangeFacts> = Facts & {
  readonly field: string;
  /** How many nodes there are. */
  readonly count: number;
  readonly nodes: Nodes;
};

/** A change of a value that is not in a schema. */
export type PathChange<Facts = ChangeFacts> = Facts & { readonly path: Pointer };

/** Changes with the same facts. `eachChange` returns the single ones. */
export type ChangeGroup<Facts = ChangeFacts> = NodeChanges<Facts> | PathChange<Facts>;

/** A cause as a kind returns it. */
export interface DraftCause {
  readonly rule?: string;
  readonly reason?: string;
  readonly label?: { readonly name: string; readonly origin: LabelOrigin };
  readonly place: SourceLocation;
}

/** The facts as a kind returns them: the cause is a position in a manifest. */
export interface DraftFacts extends Omit<ChangeFacts, "cause" | "risk"> {
  readonly risk: Risk;
  readonly cause?: DraftCause;
}

/** A step as a kind returns it. Plain data: nothing is sent, and it may still be refused. */
export interface DraftStep extends Omit<Step, "id" | "dependsOn" | "changes"> {
  /** Of a step by hand. */
  readonly id?: string;
  readonly changes: readonly ChangeGroup<DraftFacts>[];
  /** Of a step that is ready or held. */
  readonly kind?: string;
  /** These objects must exist first: their creates and bindings come before the step, and updates of them do not hold it back. */
  readonly after?: readonly Address[];
  /** All steps at these addresses must be done first; if they wait or are blocked, so does this one. */
  readonly requires?: readonly Address[];
  /** Of a step that waits: the methods of the requests that will be sent, as far as they are known. */
  readonly later?: readonly string[];
}

/** A step that may be sent, as a kind returns it. */
export interface DraftItem extends DraftStep {
  readonly standing: "ready";
  readonly verb: Action;
  readonly kind: string;
}

/** The steps of a difference that may be sent. */
export const draftItems = ({ steps }: Pick<Difference, "steps">): readonly DraftItem[] => steps.filter(isDraftItem);

export const isDraftItem = (step: DraftStep): step is DraftItem => step.standing === "ready";

/** A declared value that the service does not keep. It is not sent again until the manifest or the account changes there. */
export interface NotKept {
  readonly address: Address;
  readonly path: Pointer;
  readonly wanted: JsonValue;
  /** The value that the account has; null if it is not shown. */
  readonly live: JsonValue;
  /** When a run noticed it, ISO 8601. Absent if the service says that the value cannot be changed. */
  readonly since?: string;
}

/** The result of comparing one object. */
export interface Difference {
  readonly steps: readonly DraftStep[];
  readonly unmanagedColumns: number;
  /** Their names, if requested. */
  readonly unmanagedTables?: readonly UnmanagedTable[];
  /** What a reader should know of the object. Default: nothing. */
  readonly findings?: readonly Finding[];
}

/** Live columns that no manifest covers; the other members are live objects by the name of their list: `integrations`. */
export type Unmanaged = Plan["unmanaged"];

/** The live objects by list. */
export const unmanagedObjects = ({ columns: _, tables: __, ...lists }: Unmanaged): ReadonlyMap<string, readonly NamedObject[]> =>
  new Map(Object.entries(lists) as readonly [string, readonly NamedObject[]][]); // by the type of Unmanaged

/** Whether the user did not confirm the plan. */
export const isDeclined = ({ steps }: Pick<Result, "steps">): boolean => steps.some(({ why }) => why?.code === "E_NOT_CONFIRMED");

/** A cause with its file and line instead of its place in a manifest. */
export function locatedCause({ rule, reason, label, place }: DraftCause, locate: Locate): Cause {
  const { file, line } = locate(place);
  return {
    ...(rule === undefined ? {} : { rule }),
    ...(reason === undefined ? {} : { reason }),
    ...(label === undefined ? {} : { label: locatedLabel(label, locate) }),
    file,
    ...(line === undefined ? {} : { line }),
  };
}

/**
 * A label with the text of its source and the reason that is given there: "labels.csv:3: GDPR register 12", or
 * "Classification/personal (manifests/personal.yaml:7)" for names in a manifest.
 */
export function locatedLabel({ name, origin }: NonNullable<DraftCause["label"]>, locate: Locate): NonNullable<Cause["label"]> {
  const { file, line } = locate(origin.place);
  const place = origin.isInManifest ? ` (${placeText({ file, line })})` : "";
  return { name, source: `${origin.text}${place}${origin.reason === undefined ? "" : `: ${origin.reason}`}` };
}
