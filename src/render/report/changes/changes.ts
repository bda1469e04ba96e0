import { byText } from "../../../model/address.ts";
import { eachChange } from "../../../model/changes.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../model/json/json.ts";
import { toPointer } from "../../../model/json/pointer.ts";
import type { Action, Cause, Change, ChangeGroup } from "../../../model/plan.ts";
import { isSecretReference } from "../../../model/settings/secret.ts";
import { visible } from "../../../text/control-characters.ts";
import { andMore, joinParts } from "../../../text/lists.ts";
import { type PathText, pathText } from "../../../text/paths.ts";
import { valueAt } from "../../../text/values.ts";
import { attributionText, originText, type Traced } from "../attribution.ts";
import { isAlarm, riskText, type Words } from "../words.ts";

/** One change as text without control characters. */
export interface ChangeLine {
  readonly path: PathText;
  /** "" if the object is new. */
  readonly live: string;
  readonly desired: string;
  /** Whether a value is a secret's source, which must not be shortened. */
  readonly isSecret: boolean;
  readonly risk: string;
  readonly isAlarm: boolean;
  readonly origin: string;
  readonly who: string;
  readonly trace: Traced;
  /** "pii-email, manifests/pii.yaml:9", with the label if the rule matches by one. */
  readonly cause: string;
  /** The same in two parts. */
  readonly decidedBy: string;
  readonly label: string;
  /** "pii-email"; "" for a literal. */
  readonly rule: string;
  readonly reason: string;
}

function changeLine(change: Change, words: Words): ChangeLine {
  const { path, before, after, origin, attribution, cause } = change;
  return {
    path: pathText(path),
    live: before === undefined ? words.unknown : valueAt(path, before),
    desired: after === undefined ? words.unset : valueAt(path, after),
    isSecret: isSecretReference(before) || isSecretReference(after),
    risk: riskText(change, words),
    isAlarm: isAlarm(change),
    origin: originText(origin),
    who: attributionText(attribution),
    trace: change,
    cause: cause === undefined ? "" : causeText(cause),
    decidedBy: cause === undefined ? "" : decidedByText(cause),
    label: labelText([cause]),
    rule: visible(cause?.rule ?? ""),
    reason: visible(cause?.reason ?? ""),
  };
}

/** What has changes: an item, the result of one, or a held one. */
export interface WithChanges {
  readonly action?: Action;
  readonly changes?: readonly ChangeGroup[];
}

/**
 * The changes, at most so many, by path. A create is always listed whole, with one member of an object per line, so that
 * nothing is cut.
 */
export function changeLines(object: WithChanges, words: Words, most = Number.POSITIVE_INFINITY): readonly ChangeLine[] {
  if (object.action === "create")
    return [...eachChange(object)].flatMap(leaves).map((change) => ({ ...changeLine(change, words), live: "" }));
  const changes: Change[] = [];
  for (const change of eachChange(object)) {
    if (changes.length >= most) break;
    changes.push(change);
  }
  // A plan has all changes of a table in one place.
  const rank = (change: Change): number => (words.kind === "Comparison" && !isAlarm(change) ? 1 : 0);
  return changes.sort((a, b) => rank(a) - rank(b) || byText(a.path, b.path)).map((change) => changeLine(change, words));
}

function leaves(change: Change): readonly Change[] {
  const { path, before, after } = change;
  if (before !== undefined || !isObject(after) || isSecretReference(after) || Object.keys(after).length === 0) return [change];
  const members: readonly (readonly [string, JsonValue])[] = Object.entries(after as JsonObject);
  return members.flatMap(([key, member]) => leaves({ ...change, path: path + toPointer([key]), after: member }));
}

/** "pii-email, manifests/pii.yaml:9"; "manifests/pii.yaml:9" for a literal. */
const decidedByText = (cause: Cause): string => joinParts([visible(cause.rule ?? ""), placeText(cause)], ", ");

/** The same, with the label if the rule matches by one. */
export const causeText = (cause: Cause): string => joinParts([decidedByText(cause), labelText([cause])], " ");

/** "← label pii ← models/sources.yml, source shop.customers.email, meta.contains_pii and 3 more"; "" without labels. */
export function labelText(causes: readonly ({ readonly label?: Cause["label"] | undefined } | undefined)[]): string {
  const labels = causes.flatMap((cause) => cause?.label ?? []);
  const names = [...new Set(labels.map(({ name }) => visible(name)))];
  const sources = [...new Set(labels.map(({ source }) => visible(source)))];
  return names.length === 0 ? "" : `← label ${andMore(names)} ← ${andMore(sources, { shown: 1 })}`;
}

/** "manifests/pii.yaml:9:3", as far as known; "" without a file. */
export function placeText(place: { readonly file?: string; readonly line?: number; readonly column?: number }): string {
  if (place.file === undefined) return "";
  return [visible(place.file), place.line, place.line === undefined ? undefined : place.column]
    .filter((part) => part !== undefined)
    .join(":");
}

/** What a deferred entry waits for. `draw` formats an address. "" if unknown. */
export function waitsForText(
  { waitsFor, liveId }: { readonly waitsFor: readonly string[]; readonly liveId?: string | undefined },
  draw: (address: string) => string,
): string {
  const names = andMore(waitsFor.map(draw));
  if (names === "") return "";
  return liveId === undefined ? `waits for ${names}` : `waits for the service to discover the schema of ${names}`;
}
