import { isOutside } from "../../base/model/changes.ts";
import type { Cause, Change, ChangeFacts } from "../../base/model/plan.ts";
import { placeText } from "../../base/model/problem.ts";
import { visible } from "../../base/text/control-characters.ts";
import { ruleText } from "../../base/text/describe.ts";
import { andMore, joinParts } from "../../base/text/lists.ts";
import { valueAt } from "../../base/text/values.ts";
import { attributionText, type Traced } from "./attribution.ts";
import { isAlarm, reviewed, type Words, wordsOf } from "./words.ts";

// What a change is called, and why it is made.

/** What a row says of its changes. */
export interface ChangeText {
  /** "hash", "no longer hashed", "create". */
  readonly verb: string;
  readonly isAlarm: boolean;
  /** Without control characters. */
  readonly why: string;
  readonly cause: Cause | undefined;
}

export const factsOf = (facts: ChangeFacts & { readonly field: string }, words: Words): ChangeText => ({
  verb: verbOf(facts, words),
  isAlarm: isAlarm(facts),
  why: whyText(facts, words),
  cause: facts.cause,
});

/** By field and desired value; for a report also by what changed: the account, the manifests, or that is unknown. */
const verbs: Readonly<
  Record<string, { readonly plan: string; readonly drift: string; readonly config: string; readonly unknown: string }>
> = {
  "hashed true": { plan: "hash", drift: "no longer hashed", config: "not hashed yet", unknown: "not hashed" },
  "hashed false": { plan: "unhash", drift: "now hashed", config: "still hashed", unknown: "hashed" },
  "enabled true": { plan: "switch on", drift: "no longer replicated", config: "not replicated yet", unknown: "not replicated" },
  "enabled false": { plan: "switch off", drift: "now replicated", config: "still replicated", unknown: "replicated" },
};

/** A name or value can be anything, so that only these are looked up. */
const wordsFor = ({ field, after }: { readonly field: string; readonly after: ChangeFacts["after"] | undefined }) =>
  (field === "hashed" || field === "enabled") && typeof after === "boolean" ? verbs[`${field} ${after}`] : undefined;

function verbOf(facts: ChangeFacts & { readonly field: string }, { kind, isReview }: Pick<Words, "kind" | "isReview">): string {
  const { field, after, origin } = facts;
  const known = wordsFor({ field, after });
  const isReport = kind === "DriftReport";
  if (known === undefined) return `${visible(field)}${isReport ? " differs" : ""}`;
  if (!isReport) return `${known.plan}${isOutside(facts) && isReview !== true ? " again" : ""}`;
  return isOutside(facts) ? known.drift : origin === "config" ? known.config : known.unknown;
}

/** The difference as a report words it: "no longer hashed", "description differs". */
export const differenceText = (change: Change): string => verbOf(change, wordsOf("DriftReport"));

/** "false → true"; in a report "live 60, desired 15". */
export function valueChange(change: ChangeFacts & { readonly field: string }, words: Words, path = `/${change.field}`): string {
  const { before, after } = change;
  if (wordsFor({ field: change.field, after }) !== undefined) return "";
  const [live, desired] = [
    before === undefined ? words.unknown : valueAt(path, before),
    after === undefined ? words.unset : valueAt(path, after),
  ];
  return words.kind === "DriftReport" ? `live ${live}, desired ${desired}` : `${live} → ${desired}`;
}

/** "un-hashed by dana@example.com, 2026-03-03 07:55 UTC", "rule city: small towns identify people", "manifests/orders.yaml:22". */
export function whyText(
  facts: ChangeFacts & Traced,
  words: Pick<Words, "kind" | "isReview" | "reviews">,
  causes: readonly (Cause | undefined)[] = [facts.cause],
): string {
  const { cause, removed, origin, attribution } = facts;
  const { kind, isReview } = words;
  const who = attribution?.confidence === "exact" ? attributionText(facts) : "";
  const gone = removed === undefined ? "" : `no longer protected by ${placeOf(removed)} (removed here)`;
  const rule = joinParts([causeText(cause, isAlarm(facts)), labelText(causes)], " ");
  if (kind !== "DriftReport" && isOutside(facts))
    return joinParts(
      [who !== "" ? who : isReview === true ? `not from ${reviewed(words)}` : "changed in the account", origin === "conflict" ? rule : ""],
      "; ",
    );
  return joinParts([who, isReview === true && origin === "new" ? `not from ${reviewed(words)}` : "", gone, rule], "; ");
}

export const placeOf = (cause: Pick<Cause, "rule" | "file" | "line">): string =>
  visible(joinParts([cause.rule ?? "", placeText(cause)], ", "));

/** "rule city: small towns identify people"; without a reason, or if data becomes readable, with the place: "city, manifests/shops.yaml:9". */
function causeText(cause: Cause | undefined, hasPlace: boolean): string {
  if (cause === undefined) return "";
  const { rule, reason } = cause;
  const where = rule === undefined || reason === undefined || hasPlace ? placeOf(cause) : ruleText(visible(rule), visible(rule));
  return joinParts([where, visible(reason ?? "")], ": ");
}

/** "← label pii ← models/sources.yml, source shop.customers.email, meta.contains_pii and 3 more sources"; "" without labels. */
export function labelText(causes: readonly ({ readonly label?: Cause["label"] | undefined } | undefined)[]): string {
  const labels = [...new Set(causes)].flatMap((cause) => cause?.label ?? []);
  const names = [...new Set(labels.map(({ name: one }) => visible(one)))];
  const sources = [...new Set(labels.map(({ source }) => visible(source)))];
  return names.length === 0 ? "" : `← label ${andMore(names, "label")} ← ${andMore(sources, "source", { shown: 1 })}`;
}
