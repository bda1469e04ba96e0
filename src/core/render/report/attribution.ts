import type { Attribution, Change, Manual, Origin } from "../../model/plan.ts";
import { visible } from "../../text/control-characters.ts";
import { joinParts } from "../../text/lists.ts";

/** The origin of a difference, as far as it is known. */
export type Traced = Pick<Change | Manual, "origin" | "attribution">;

/** "drift", "config", "conflict"; "" if unknown. */
export function originText(origin: Origin | undefined): string {
  return origin === undefined || origin === "unknown" ? "" : origin;
}

/**
 * "dana@example.com, 2026-03-03 07:55 UTC (likely)"; "" without attribution. If a run of dimsync
 * created the object as declared, it did not cause the difference: it only shows since when the
 * difference exists.
 */
export function attributionText(attribution: Attribution | undefined): string {
  if (attribution === undefined) return "";
  if (attribution.own) return `new since the dimsync run of ${timeText(attribution.at)}`;
  return `${actorText(attribution)}, ${timeText(attribution.at)}${sureTexts[attribution.confidence]}`;
}

/** How sure it is who made a change, after the time. */
const sureTexts: Readonly<Record<Attribution["confidence"], string>> = {
  exact: "",
  likely: " (likely)",
  window: " (only the time fits)",
};

/** "drift; dana@example.com, 2026-03-03 07:55 UTC". */
export const traceText = ({ origin, attribution }: Traced): string => joinParts([originText(origin), attributionText(attribution)], "; ");

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

/**
 * The origin and attribution that all changes share. If several users made the changes, none is
 * shown.
 */
export function commonTrace(all: readonly Traced[]): Traced {
  const [first] = all;
  if (first === undefined) return {};
  const { origin, attribution } = first;
  const isOne = all.every(
    (one) =>
      one.attribution === attribution ||
      (one.attribution?.actor === attribution?.actor &&
        one.attribution?.own === attribution?.own &&
        (attribution?.own !== true || one.attribution?.at === attribution.at) &&
        one.attribution?.confidence === attribution?.confidence),
  );
  return {
    ...(origin !== undefined && all.every((one) => one.origin === origin) ? { origin } : {}),
    ...(attribution !== undefined && isOne ? { attribution } : {}),
  };
}
