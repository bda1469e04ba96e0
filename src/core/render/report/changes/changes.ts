import { byText } from "../../../model/address.ts";
import { eachChange } from "../../../model/changes.ts";
import { isObject, type JsonObject, type JsonValue } from "../../../model/json/json.ts";
import { toPointer } from "../../../model/json/pointer.ts";
import type { Cause, Change, ChangeFacts, ChangeGroup, Step } from "../../../model/plan.ts";
import { placeText } from "../../../model/problem.ts";
import { isSecretReference } from "../../../model/settings/secret.ts";
import { visible } from "../../../text/control-characters.ts";
import { counted } from "../../../text/counts.ts";
import { andMore, joinParts } from "../../../text/lists.ts";
import { pathText } from "../../../text/paths.ts";
import { valueAt } from "../../../text/values.ts";
import type { ChangeLine, ChangeWhy } from "../../blocks.ts";
import type { Traced } from "../attribution.ts";
import { isAlarm, riskCount, riskText, type Words } from "../words.ts";

function changeLine(change: Change, words: Words): ChangeLine {
  const { path, before, after } = change;
  return {
    path: pathText(path),
    live: before === undefined ? words.unknown : valueAt(path, before),
    desired: after === undefined ? words.unset : valueAt(path, after),
    isSecret: isSecretReference(before) || isSecretReference(after),
    ...changeWhy(change, words, change),
  };
}

/** `trace`, `causes`: of all changes that these facts stand for. */
export function changeWhy(
  facts: ChangeFacts,
  words: Words,
  trace: Traced,
  causes: readonly (Cause | undefined)[] = [facts.cause],
): ChangeWhy {
  const { cause, removed } = facts;
  const gone =
    removed === undefined ? "" : `no longer protected by ${joinParts([removed.rule ?? "", placeText(removed)], ", ")} (removed here)`;
  return {
    risk: riskText(facts, words),
    isAlarm: isAlarm(facts),
    trace,
    rule: visible(cause?.rule ?? ""),
    decidedBy: cause === undefined ? "" : visible(joinParts([cause.rule ?? "", placeText(cause)], ", ")),
    label: labelText(causes),
    reason: visible(joinParts([gone, cause?.reason ?? ""], "; ")),
  };
}

/** What has changes: an item, the result of one, or a held one. */
export interface WithChanges {
  readonly verb?: Step["verb"];
  readonly changes?: readonly ChangeGroup[];
}

/**
 * The changes, at most so many, by path. A create is always listed whole, with one member of an object per line, so that
 * nothing is cut.
 */
export function changeLines(object: WithChanges, words: Words, most = Number.POSITIVE_INFINITY): readonly ChangeLine[] {
  if (object.verb === "create")
    return [...eachChange(object)].flatMap(leaves).map((change) => ({ ...changeLine(change, words), live: "" }));
  const changes: Change[] = [];
  for (const change of eachChange(object)) {
    if (changes.length >= most) break;
    changes.push(change);
  }
  // A plan has all changes of a table in one place.
  return changes.sort((a, b) => byText(a.path, b.path)).map((change) => changeLine(change, words));
}

function leaves(change: Change): readonly Change[] {
  const { path, before, after } = change;
  if (before !== undefined || !isObject(after) || isSecretReference(after) || Object.keys(after).length === 0) return [change];
  const members: readonly (readonly [string, JsonValue])[] = Object.entries(after as JsonObject);
  return members.flatMap(([key, member]) => leaves({ ...change, path: path + toPointer([key]), after: member }));
}

/** "pii-email, manifests/pii.yaml:9 ← label pii ← models/sources.yml". */
export const causeText = ({ decidedBy, label }: Pick<ChangeWhy, "decidedBy" | "label">): string => joinParts([decidedBy, label], " ");

/** "12 changes, 2 expose, 10 protect" */
export function countsText(lines: readonly ChangeLine[], words: Words): string {
  const counts = words.risks.flatMap((risk) => {
    const count = lines.filter((line) => line.risk === risk).length;
    return count === 0 ? [] : [riskCount(count, risk)];
  });
  return [counted(lines.length, words.change), ...counts].join(", ");
}

/** "← label pii ← models/sources.yml, source shop.customers.email, meta.contains_pii and 3 more sources"; "" without labels. */
export function labelText(causes: readonly ({ readonly label?: Cause["label"] | undefined } | undefined)[]): string {
  const labels = [...new Set(causes)].flatMap((cause) => cause?.label ?? []);
  const names = [...new Set(labels.map(({ name }) => visible(name)))];
  const sources = [...new Set(labels.map(({ source }) => visible(source)))];
  return names.length === 0 ? "" : `← label ${andMore(names, "label")} ← ${andMore(sources, "source", { shown: 1 })}`;
}
