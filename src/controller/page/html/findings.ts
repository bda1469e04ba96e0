import type { JsonValue } from "../../../model/json/json.ts";
import { chip, code, escaped, table } from "../../../render/html/escape.ts";
import { counted } from "../../../text/counts.ts";
import { joinParts } from "../../../text/lists.ts";
import { pathText, wholePath } from "../../../text/paths.ts";
import { valueAt } from "../../../text/values.ts";
import type { Finding, FindingEvent } from "../../views/status.ts";
import { time } from "./shell.ts";
import { ageHtml, kindText, link, riskTones, runHref } from "./words.ts";

// Groups beyond this many findings are closed, so that the page stays short.
const openFindings = 40;

/** The open findings of one account, one card for each cause: the differences, who made them, and since when. */
export function findingCards(findings: readonly Finding[], now: Date): string {
  const groups = new Map<string, Finding[]>();
  for (const finding of findings) groups.set(subjectOf(finding.cause), [...(groups.get(subjectOf(finding.cause)) ?? []), finding]);
  let shown = 0;
  return [...groups]
    .map(([cause, group], index) => {
      const isOpen = shown + group.length <= openFindings || index === 0;
      shown += group.length;
      return card(cause, group, { id: `cause-${index + 1}`, isOpen, now });
    })
    .join("\n");
}

interface CardOptions {
  readonly id: string;
  readonly isOpen: boolean;
  readonly now: Date;
}

function card(cause: string, findings: readonly Finding[], { id, isOpen, now }: CardOptions): string {
  const exposed = findings.filter(({ risk }) => risk === "exposed" || risk === "error").length;
  const [first] = findings;
  const reasons = new Set(findings.map(({ detail }) => detail.cause?.reason));
  const summary = joinParts(
    [
      `<h3>${escaped(cause)}</h3>`,
      chip(counted(findings.length, "finding"), "quiet"),
      exposed === 0 ? "" : chip(`${exposed} exposed`, "bad"),
      `<span class="quiet small">${escaped(commonPlace(findings))}</span>`,
    ],
    " ",
  );
  const reason = first?.detail.cause?.reason;
  const why = reason === undefined || reasons.size > 1 ? "" : `<p class="quiet">${escaped(reason)}</p>\n`;
  const rows = findings.map((finding) => findingRow(finding, commonPlace(findings) === "", now));
  return `<details class="card" id="${id}"${isOpen ? " open" : ""}><summary>${summary}</summary><div class="inside">
${why}${table(`Open findings of ${cause}`, ["What", "Account", "Desired", "By", "Since"], rows, "findings")}
</div></details>`;
}

/** The place in the manifests of all findings; "" if they have several. */
function commonPlace(findings: readonly Finding[]): string {
  const [place = "", ...others] = new Set(findings.map(({ detail }) => placeText(detail)));
  return others.length === 0 ? place : "";
}

/** "manifests/pii.yaml:9"; "" if no manifest decides the value. */
export function placeText({ cause }: Finding["detail"]): string {
  if (cause === undefined) return "";
  return cause.line === undefined ? cause.file : `${cause.file}:${cause.line}`;
}

/** The cause without the path of a literal setting: "SchemaConfig/orders". */
const subjectOf = (cause: string): string => cause.replace(/ \/.*$/su, "");

/** A cause as users write it: the path of a literal setting is a JSON Pointer. */
export function causeHtml(cause: string): string {
  const subject = subjectOf(cause);
  const path = cause.slice(subject.length + 1);
  return path === "" ? escaped(cause) : `${escaped(subject)} ${code(wholePath(path))}`;
}

function findingRow(finding: Finding, hasPlace: boolean, now: Date): readonly string[] {
  const { kind, risk, detail, since, openedRun } = finding;
  const text = detail.text === undefined ? "" : `<span class="why">${escaped(detail.text)}</span>`;
  const place = hasPlace && detail.cause !== undefined ? `<span class="why quiet">${escaped(placeText(detail))}</span>` : "";
  return [
    `${findingPlace(finding)} ${chip(kindText(kind, risk), riskTones[risk])}${text}${place}`,
    valueHtml(finding, detail.actual),
    valueHtml(finding, detail.desired),
    whoHtml(finding),
    link(runHref(openedRun), ageHtml(since, now)),
  ];
}

/** The address and the path of a finding. */
export function findingPlace({ address, path }: Pick<Finding, "address" | "path">): string {
  const { node, leaf } = pathText(path);
  const where = joinParts([escaped(node), leaf === "" ? "" : `<b>${escaped(leaf)}</b>`], " ");
  return `<span class="place">${escaped(address)}${where === "" ? "" : ` <code>${where}</code>`}</span>`;
}

/** A value that the database stored as JSON. */
const valueHtml = ({ path }: Finding, value: unknown): string => (value === undefined ? "" : code(valueAt(path, value as JsonValue)));

const confidences: Readonly<Record<string, string>> = { likely: "likely", window: "only the time fits" };

/** The user and the time of the change, according to the audit log. */
function whoHtml({ actor, detail: { attribution } }: Finding): string {
  if (attribution === undefined) return actor === undefined ? '<span class="quiet">not known</span>' : escaped(actor);
  const sure = confidences[attribution.confidence];
  return joinParts(
    [
      `<strong>${escaped(actor ?? attribution.actor ?? "a user without an e-mail address")}</strong>`,
      `<span class="small">${time(attribution.at)}${sure === undefined ? "" : ` (${sure})`}</span>`,
      `<span class="quiet small">“${escaped(attribution.event)}”</span>`,
    ],
    "<br>",
  );
}

/** What happened to findings, newest first. */
export const eventTable = (events: readonly FindingEvent[]): string =>
  table(
    "Findings opened, changed and closed, newest first",
    ["When", "Event", "What", "Who"],
    events.map((event) => [
      link(runHref(event.run), time(event.at)),
      chip(event.event, event.event === "closed" ? "good" : riskTones[event.risk]),
      findingPlace(event),
      event.actor === undefined ? "" : escaped(event.actor),
    ]),
    "events",
  );
