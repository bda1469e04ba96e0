import type { Attribution, Change, ReadyStep } from "../../base/model/plan.ts";
import { visible } from "../../base/text/control-characters.ts";
import { joinParts } from "../../base/text/lists.ts";

/** A difference with its origin and who made it, or an object with an event about it; as far as they are known. */
export type Traced = Pick<Change, "origin" | "attribution"> &
  Partial<Pick<Change, "field" | "before">> &
  Partial<Pick<ReadyStep, "address" | "liveName">>;

/** "drift", "config", "conflict"; "" if unknown. */
export const originText = ({ origin = "unknown" }: Pick<Change, "origin">): string => (origin === "unknown" ? "" : origin);

/**
 * What an event says: "un-hashed by dana@example.com, 2026-03-03 07:55 UTC" of a node that it names, "Orders was changed by dana@example.com, …" of an object.
 * "" without attribution. If a run of dimsync made a node as declared, it did not cause the difference: it only shows since when the difference exists.
 */
export function attributionText(traced: Traced): string {
  const { attribution, liveName, address = "" } = traced;
  if (attribution === undefined) return "";
  const { own, confidence, at } = attribution;
  const isNamed = confidence === "exact";
  if (own && isNamed) return `new since the dimsync run of ${timeText(at)}`;
  const by = own ? `by the dimsync run of ${timeText(at)}` : `by ${actorText(attribution)}, ${timeText(at)}`;
  if (isNamed) return `${verbOf(traced)} ${by}`;
  return `${visible(liveName ?? address)} was ${confidence === "likely" ? "" : "perhaps "}changed ${by}${confidence === "likely" ? "" : " (only the time fits)"}`;
}

/** As the event words it. `before`: the value that the account has. */
const verbOf = ({ attribution, field, before }: Traced): string => {
  const isHashing = field === "hashed" && before !== undefined && /hash/iu.test(attribution?.event ?? "");
  return !isHashing ? "changed" : before === true ? "hashed" : "un-hashed";
};

/** "drift; un-hashed by dana@example.com, 2026-03-03 07:55 UTC". */
export const traceText = (traced: Traced): string => joinParts([originText(traced), attributionText(traced)], "; ");

/** The user who made the change; "" if unknown. */
export function actorText({ actor, own }: Attribution): string {
  if (own) return "";
  return actor === undefined ? "a user without an e-mail address" : visible(actor);
}

/** "2026-03-03 07:55 UTC"; a time in another zone or form is not changed. */
export function timeText(iso: string): string {
  const [, day, minute] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::\d\d(?:\.\d+)?)?Z$/u.exec(iso) ?? [];
  return day === undefined || minute === undefined ? visible(iso) : `${day} ${minute} UTC`;
}
