import type { Attribution, Change, Manual, Origin } from "../../model/plan.ts";
import { visible } from "../../text/control-characters.ts";

/** A difference as far as it says where it comes from. */
export type Traced = Pick<Change | Manual, "origin" | "attribution">;

/** What the origin means, in a word or two; "" where there is nothing to tell by. */
export function originText(origin: Origin | undefined): string {
  return origin === undefined || origin === "unknown" ? "" : origin;
}

/**
 * "dana@example.com, 2026-03-03 07:55 UTC (likely)"; "" without attribution. A run of dimsync made
 * the object as declared, so it did not cause the difference: it only shows since when that exists.
 */
export function attributionText(attribution: Attribution | undefined): string {
  if (attribution === undefined) return "";
  if (attribution.own) return `new since the dimsync run of ${timeText(attribution.at)}`;
  return `${actorText(attribution)}, ${timeText(attribution.at)}${attribution.confidence === "exact" ? "" : ` (${confidenceText(attribution)})`}`;
}

/** The user who made the change; "" if nobody is known to have made it. */
export function actorText({ actor, own }: Attribution): string {
  if (own) return "";
  return actor === undefined ? "a user without an e-mail address" : visible(actor);
}

function confidenceText({ confidence }: Attribution): string {
  return { exact: "named in the audit log", likely: "likely", window: "only the time fits" }[confidence];
}

/** "2026-03-03 07:55 UTC"; a time in another zone or form as it is. */
export function timeText(iso: string): string {
  const [, day, minute] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::\d\d(?:\.\d+)?)?Z$/u.exec(iso) ?? [];
  return day === undefined || minute === undefined ? visible(iso) : `${day} ${minute} UTC`;
}

/** What all of them have in common. If different users made them, nobody is named. */
export function traceOfAll(all: readonly Traced[]): Traced {
  const [first] = all;
  if (first === undefined) return {};
  const { origin, attribution } = first;
  const isOne = all.every(
    (one) =>
      one.attribution?.actor === attribution?.actor &&
      one.attribution?.own === attribution?.own &&
      (attribution?.own !== true || one.attribution?.at === attribution.at) &&
      one.attribution?.confidence === attribution?.confidence,
  );
  return {
    ...(origin !== undefined && all.every((one) => one.origin === origin) ? { origin } : {}),
    ...(attribution !== undefined && isOne ? { attribution } : {}),
  };
}
