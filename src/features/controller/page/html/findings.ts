import type { JsonValue } from "../../../../core/model/json/json.ts";
import { placeText } from "../../../../core/model/problem.ts";
import {
  aside,
  blocks,
  type Content,
  chip,
  code,
  type Html,
  html,
  isEmpty,
  joined,
  quiet,
  table,
} from "../../../../core/render/html/html.ts";
import { sureTexts } from "../../../../core/render/report/attribution.ts";
import { counted } from "../../../../core/text/counts.ts";
import { grouped } from "../../../../core/text/lists.ts";
import { pathText, wholePath } from "../../../../core/text/paths.ts";
import { valueAt } from "../../../../core/text/values.ts";
import type { Finding, FindingEvent } from "../../views/status.ts";
import { time } from "./shell.ts";
import { ageHtml, kindText, link, riskTones, runHref } from "./words.ts";

// Groups beyond this many findings are closed, so that the page stays short.
const openFindings = 40;

/** The open findings of one account, one card for each cause: the differences, who made them, and since when. */
export function findingCards(findings: readonly Finding[], now: Date): Html {
  let shown = 0;
  return blocks(
    grouped(findings, ({ cause }) => subjectOf(cause)).map((group, index) => {
      const isOpen = shown + group.length <= openFindings || index === 0;
      shown += group.length;
      return card(subjectOf(group[0].cause), group, { id: `cause-${index + 1}`, isOpen, now });
    }),
  );
}

interface CardOptions {
  readonly id: string;
  readonly isOpen: boolean;
  readonly now: Date;
}

function card(cause: string, findings: readonly Finding[], { id, isOpen, now }: CardOptions): Html {
  const exposed = findings.filter(({ risk }) => risk === "exposed" || risk === "error").length;
  const place = commonPlace(findings);
  const [reason, ...reasons] = new Set(findings.map(({ detail }) => detail.cause?.reason));
  const summary = [
    html`<h3>${cause}</h3>`,
    chip(counted(findings.length, "finding"), "quiet"),
    exposed > 0 && chip(`${exposed} exposed`, "bad"),
    aside(place),
  ];
  const rows = findings.map((finding) => findingRow(finding, place === "", now));
  return html`<details class="card" id=${id} open=${isOpen}><summary>${joined(summary, " ")}</summary><div class="inside">
${reason !== undefined && reasons.length === 0 && html`<p class="quiet">${reason}</p>\n`}${table(`Open findings of ${cause}`, ["What", "Account", "Desired", "By", "Since"], rows, "findings")}
</div></details>`;
}

/** The place in the manifests of all findings; "" if they have several. */
function commonPlace(findings: readonly Finding[]): string {
  const [place = "", ...others] = new Set(findings.map(({ detail }) => placeText(detail.cause ?? {})));
  return others.length === 0 ? place : "";
}

/** The cause without the path of a literal setting: "SchemaConfig/orders". */
const subjectOf = (cause: string): string => cause.replace(/ \/.*$/su, "");

/** A cause as users write it: the path of a literal setting is a JSON Pointer. */
export function causeHtml(cause: string): Html {
  const subject = subjectOf(cause);
  const path = cause.slice(subject.length + 1);
  return joined([subject, path !== "" && code(wholePath(path))], " ");
}

function findingRow(finding: Finding, hasPlace: boolean, now: Date): readonly Content[] {
  const { kind, risk, detail, since, openedRun, acknowledged } = finding;
  return [
    html`${findingPlace(finding)} ${chip(kindText(kind, risk), riskTones[risk])}${
      acknowledged !== undefined && [" ", chip(`alerts off, acknowledged by ${acknowledged.by}`, "info")]
    }${detail.text !== undefined && html`<span class="why">${detail.text}</span>`}${
      hasPlace && detail.cause !== undefined && html`<span class="why quiet">${placeText(detail.cause)}</span>`
    }`,
    valueHtml(finding, detail.actual),
    valueHtml(finding, detail.desired),
    whoHtml(finding),
    link(runHref(openedRun), ageHtml(since, now)),
  ];
}

/** The address and the path of a finding. */
export function findingPlace({ address, path }: Pick<Finding, "address" | "path">): Html {
  const { node, leaf } = pathText(path);
  const where = joined([node, leaf !== "" && html`<b>${leaf}</b>`], " ");
  return html`<span class="place">${address}${!isEmpty(where) && html` <code>${where}</code>`}</span>`;
}

const valueHtml = ({ path }: Finding, value: JsonValue | undefined): Content => value !== undefined && code(valueAt(path, value));

/** The user and the time of the change, according to the audit log. */
function whoHtml({ actor, detail: { attribution } }: Finding): Content {
  if (attribution === undefined) return actor ?? quiet("not known");
  return joined(
    [
      html`<strong>${actor ?? attribution.actor ?? "a user without an e-mail address"}</strong>`,
      html`<span class="small">${time(attribution.at)}${sureTexts[attribution.confidence]}</span>`,
      aside(`“${attribution.event}”`),
    ],
    html`<br>`,
  );
}

/** What happened to findings, newest first. */
export const eventTable = (events: readonly FindingEvent[]): Html =>
  table(
    "Findings opened, changed and closed, newest first",
    ["When", "Event", "What", "Who"],
    events.map((event) => [
      link(runHref(event.run), time(event.at)),
      chip(event.event, event.event === "closed" ? "good" : riskTones[event.risk]),
      findingPlace(event),
      event.actor,
    ]),
    "events",
  );
