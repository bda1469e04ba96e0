import { changeCount, eachChange, isOutside } from "../../base/model/changes.ts";
import { exemptionFindings, guardFindings, loosenedOf, openFindings } from "../../base/model/findings.ts";
import { type Change, type ChangeFacts, isOfRelation, type Plan, type ReadyStep, readySteps, stepsOf } from "../../base/model/plan.ts";
import { visible } from "../../base/text/control-characters.ts";
import { counted, countList } from "../../base/text/counts.ts";
import { joinParts } from "../../base/text/lists.ts";
import { pathText } from "../../base/text/paths.ts";
import { actorText, timeText } from "./attribution.ts";
import { integrationOf } from "./change-rows.ts";
import { wasNotRead } from "./refusals.ts";
import { isAlarm, reviewed, standingCount } from "./words.ts";

/** Whether the plan is that of a pull request. */
export const isReview = ({ loosenedSince }: Plan): boolean => loosenedSince === "base";

/** "6 changes from this pull request, all protect; 1 outside change is undone": a plan or report with something in it. Without a period. */
export const contentText = (plan: Plan): string => (plan.kind === "DriftReport" ? driftText(plan) : planText(plan));

/** How many changes pass. */
const total = (items: readonly ReadyStep[], test: (change: ChangeFacts, item: ReadyStep) => boolean): number =>
  items.reduce((sum, item) => sum + changeCount(item, (change) => test(change, item)), 0);

function planText(plan: Plan): string {
  const items = readySteps(plan);
  const exposed = exposedColumns(items);
  const isNew = ({ origin }: Pick<Change, "origin">): boolean => isReview(plan) && origin === "new";
  const isOwn = (change: Pick<Change, "origin">): boolean => !isOutside(change) && !isNew(change);
  const creates = items.filter(({ verb }) => verb === "create").length;
  const sent = items.filter(({ verb }) => verb !== "create" && verb !== "bind");
  const changes = sent.reduce((sum, item) => sum + (isOfRelation(item) ? 1 : changeCount(item, isOwn)), 0);
  const exposes = total(items, (one) => isOwn(one) && isAlarm(one));
  const protects = total(items, (one) => isOwn(one) && one.risk === "protects");
  const from = isReview(plan) ? ` from ${reviewed(plan)}` : "";
  const own = joinParts([creates === 0 ? "" : `${creates} to create`, changes === 0 ? "" : counted(changes, "change")], ", ");
  const outside = total(items, isOutside);
  // The base of a review may never have been applied: only an event shows that the account changed.
  const unsure = isReview(plan) ? total(items, (one, item) => isOutside(one) && !hasEvent(item, one)) : 0;
  const others = unsure + total(items, isNew);
  const again = total(items, (one) => isOutside(one) && isAlarm(one));
  return joinParts(
    [
      own === "" ? nothingText(plan, outside) : `${own}${from}${riskText(creates + changes, protects, exposes)}`,
      exposed === 0 ? "" : `${exposed === 1 ? "1 column becomes" : `${exposed} columns become`} readable`,
      outsideText(outside - unsure, again),
      others === 0 ? "" : `${counted(others, "change")} ${others === 1 ? "is" : "are"} not from ${reviewed(plan)}`,
      otherCounts(plan),
    ],
    "; ",
  );
}

/** Whether the audit log shows who changed it, or its object. */
const hasEvent = (item: Pick<ReadyStep, "attribution">, change: Pick<Change, "attribution">): boolean =>
  item.attribution !== undefined || change.attribution !== undefined;

/** "12 columns become readable" */
const exposedColumns = (items: readonly ReadyStep[]): number => items.reduce((sum, { exposedColumns: count = 0 }) => sum + count, 0);

function riskText(all: number, protects: number, exposes: number): string {
  if (protects + exposes === 0) return "";
  if (protects === all) return all === 1 ? ", which protects" : ", all protect";
  return `, ${countList([
    [exposes, exposes === 1 ? "exposes" : "expose"],
    [protects, protects === 1 ? "protects" : "protect"],
  ])}`;
}

/** Apply undoes what someone changed. What the base of a review asks for may never have been applied. */
function outsideText(outside: number, exposing: number): string {
  if (outside === 0) return "";
  const text = `${counted(outside, "outside change")} ${outside === 1 ? "is" : "are"} undone`;
  return exposing === 0 ? text : `${text}, ${exposing} of them ${exposing === 1 ? "makes" : "make"} data readable again`;
}

const otherStandings = ["byHand", "notKept", "blocked", "waits", "held"] as const;

const otherCounts = (plan: Plan): string =>
  countList([
    ...otherStandings.map((standing) => standingCount(plan, standing)),
    [readySteps(plan).filter(({ verb }) => verb === "bind").length, "to record"],
    [loosenedOf(plan).length, "loosened"],
  ]);

/** Why nothing can be said of the rest; "" if everything was compared. */
function notComparedText(plan: Plan): string {
  if (wasNotRead(plan)) return "not compared with the account";
  const areBlocked = plan.steps.length > 0 && plan.steps.every(({ standing }) => standing === "blocked");
  if (!plan.complete) return areBlocked && plan.counts.equal === 0 ? "not compared" : "not compared completely";
  return isReview(plan) && stepsOf(plan, "blocked").length > 0 ? "not compared completely" : "";
}

function nothingText(plan: Plan, outside: number): string {
  const notCompared = notComparedText(plan);
  if (notCompared !== "") return notCompared;
  if (isReview(plan)) return `${reviewed(plan)} changes nothing`;
  if (outside > 0 || otherCounts(plan) !== "") return "";
  // A plan that needs a guard to be lifted or an exemption is not nothing.
  return guardFindings(plan).length > 0 || exemptionFindings(plan).length > 0 ? "nothing to send" : "no changes";
}

/** "shop-it customers.email readable since 2026-03-03 06:37 UTC (dana@example.com); 2 other differences". */
function driftText(report: Plan): string {
  const added = report.findings.filter(({ rule }) => rule === "new-column").length;
  const items = readySteps(report);
  const isDifferent = items.filter(({ verb }) => verb !== "bind");
  const exposed = total(isDifferent, isAlarm);
  const all = isDifferent.reduce((sum, item) => sum + (isOfRelation(item) || item.verb === "create" ? 1 : changeCount(item)), 0);
  const first = exposed === 0 ? undefined : firstExposed(isDifferent);
  const findings = openFindings(report).length;
  const text = joinParts(
    [
      all + findings === 0 ? notComparedText(report) : "",
      first === undefined ? "" : exposed === 1 ? first : `${exposed} exposed: ${first} and ${counted(exposed - 1, "more change")}`,
      all === exposed ? "" : counted(all - exposed, exposed === 0 ? "difference" : "other difference"),
      otherCounts(report),
      countList([
        [findings, findings === 1 ? "policy finding" : "policy findings"],
        [added, added === 1 ? "new column" : "new columns"],
      ]),
    ],
    "; ",
  );
  return text === "" ? "no differences" : text;
}

/** What someone changed in the account comes before what the manifests changed. */
function firstExposed(items: readonly ReadyStep[]): string | undefined {
  const isFirst = items.some(({ changes }) => changes.some((entry) => isAlarm(entry) && isOutside(entry))) ? isOutside : isAlarm;
  for (const item of items)
    for (const change of eachChange(item)) {
      if (!isAlarm(change) || !isFirst(change)) continue;
      const { leaf, node: whole } = pathText(change.path);
      const node = whole.replace(/^[^.]+\.(?=[^.]+\.)/u, "");
      const { attribution } = change;
      const since =
        attribution?.confidence === "exact"
          ? ` since ${timeText(attribution.at)}${attribution.own ? "" : ` (${actorText(attribution)})`}`
          : "";
      const isColumn = change.path.includes("/columns/");
      return node === ""
        ? `${visible(item.address)} ${leaf} exposed`
        : `${integrationOf(item.address)} ${node} ${isColumn ? "readable" : "exposed"}${since}`;
    }
  return undefined;
}
