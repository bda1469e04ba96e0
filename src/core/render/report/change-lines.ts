import { byText } from "../../base/model/address.ts";
import { eachChange } from "../../base/model/changes.ts";
import { isObject, type JsonObject, type JsonValue } from "../../base/model/json/json.ts";
import { toPointer } from "../../base/model/json/pointer.ts";
import type { Change, ChangeGroup, Step } from "../../base/model/plan.ts";
import { isSecretReference } from "../../base/model/settings/secret.ts";
import { visible } from "../../base/text/control-characters.ts";
import { joinParts } from "../../base/text/lists.ts";
import { type PathText, pathText } from "../../base/text/paths.ts";
import { valueAt } from "../../base/text/values.ts";
import { attributionText, originText } from "./attribution.ts";
import { labelText, placeOf } from "./change-words.ts";
import { isAlarm, type Words } from "./words.ts";

/** What has changes: an item, the result of one, or a held one. */
export interface WithChanges {
  readonly verb?: Step["verb"];
  readonly changes?: readonly ChangeGroup[];
}

/** One change, for those who ask. Texts are without control characters. */
export interface ChangeLine {
  readonly path: PathText;
  /** "" if the object is new. */
  readonly live: string;
  readonly desired: string;
  readonly isSecret: boolean;
  readonly isAlarm: boolean;
  /** "pii-email, manifests/pii.yaml:9 (GDPR register 12) ← label pii ← models/sources.yml". */
  readonly why: string;
}

/** The single changes by path. A create is listed with one member of an object per line. */
export function changeLines(object: WithChanges, words: Words): readonly ChangeLine[] {
  if (object.verb === "create")
    return [...eachChange(object)].flatMap(leaves).map((change) => ({ ...changeLine(change, words), live: "" }));
  // A plan has all changes of a table in one place.
  return [...eachChange(object)].sort((a, b) => byText(a.path, b.path)).map((change) => changeLine(change, words));
}

function changeLine(change: Change, words: Words): ChangeLine {
  const { path, before, after, cause } = change;
  const reason = cause?.reason === undefined ? "" : `(${visible(cause.reason)})`;
  return {
    path: pathText(path),
    live: before === undefined ? words.unknown : valueAt(path, before),
    desired: after === undefined ? words.unset : valueAt(path, after),
    isSecret: isSecretReference(before) || isSecretReference(after),
    isAlarm: isAlarm(change),
    why: joinParts(
      [
        joinParts([originText(change), attributionText(change)], ", "),
        joinParts([cause === undefined ? "" : placeOf(cause), reason, labelText([cause])], " "),
      ],
      "; ",
    ),
  };
}

function leaves(change: Change): readonly Change[] {
  const { path, before, after } = change;
  if (before !== undefined || !isObject(after) || isSecretReference(after) || Object.keys(after).length === 0) return [change];
  const members: readonly (readonly [string, JsonValue])[] = Object.entries(after as JsonObject);
  return members.flatMap(([key, member]) => leaves({ ...change, path: path + toPointer([key]), after: member }));
}
