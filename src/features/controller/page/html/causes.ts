import { placeText } from "../../../../core/model/problem.ts";
import {
  andMore,
  aside,
  blocks,
  type Content,
  chip,
  code,
  folded,
  type Html,
  html,
  joined,
  quiet,
  table,
} from "../../../../core/render/html/html.ts";
import { counted, exactDuration } from "../../../../core/text/counts.ts";
import type { CauseGroup, ClosedGroup, Part } from "../../views/status.ts";
import type { FailureGroup } from "../accounts.ts";
import { causeHtml, findingPlace } from "./findings.ts";
import { accountHref, ageHtml, causeHref, firstSentence, kindText, link, riskTones, runHref } from "./words.ts";

const rowsShown = 5;
const namesShown = 2;

/** Whether findings of this risk are data that should be protected. */
export const isExposing = ({ risk }: Pick<CauseGroup, "risk">): boolean => risk === "exposed" || risk === "error";

/** What is wrong, by cause: exposed data, then failures, then other differences. Each is a link to the accounts that it affects. */
export function causesHtml({ items: causes, total }: Part<CauseGroup>, failures: readonly FailureGroup[], now: Date): Html {
  const rows = [
    ...causes.filter(isExposing).map((group) => causeRow(group, now)),
    ...failures.map((group) => failureRow(group, now)),
    ...causes.filter((group) => !isExposing(group)).map((group) => causeRow(group, now)),
  ];
  return firstRows(rows, {
    id: "more-causes",
    heads: ["Cause", "Since", "By", "Accounts"],
    caption: "Open findings and failures by cause",
    more: moreHtml("/api/v1/findings", causes.length, total),
  });
}

/** What was closed in the last 24 hours, by cause. */
export function closedHtml({ items: closed, total }: Part<ClosedGroup>, now: Date): Html {
  const rows = closed.map((group) => {
    const { closedAt, closedRun, isRepaired, isInterrupted } = group;
    const who = isInterrupted ? `by dimsync (run ${closedRun.slice(0, 8)}, interrupted)` : "by dimsync";
    return [
      causeCell(group, causeHtml(group.cause)),
      html`${link(runHref(closedRun), ageHtml(closedAt, now))} ${isRepaired ? chip(who, "good") : quiet("no repair of dimsync is recorded")}`,
      openFor(group),
      actorsHtml(group),
      namesHtml(group.accounts),
    ];
  });
  return firstRows(rows, {
    id: "more-closed",
    heads: ["Cause", "Closed", "Open for", "By", "Accounts"],
    caption: "Findings that were closed in the last 24 hours",
    more: moreHtml("/api/v1/closed", closed.length, total),
  });
}

/** Of several findings the longest time: they need not have been open at the same time. */
const openFor = ({ findings, openMs, longestOpenMs }: ClosedGroup): Content =>
  findings === 1
    ? exactDuration(longestOpenMs)
    : [
        exactDuration(longestOpenMs),
        html`<span class="why quiet">the longest of ${counted(findings, "finding")}, ${exactDuration(openMs)} together</span>`,
      ];

interface RowsOptions {
  readonly id: string;
  readonly heads: readonly string[];
  readonly caption: string;
  /** What the page leaves out. */
  readonly more: Content;
}

/** The page would get too long; the API lists all. */
const moreHtml = (path: string, shown: number, total: number): Content =>
  total > shown &&
  html`<p>The page shows ${shown} of ${counted(total, "cause")}. The API lists ${link(`${path}?offset=${shown}`, counted(total - shown, "more cause"))}.</p>`;

function firstRows(rows: readonly (readonly Content[])[], { id, heads, caption, more }: RowsOptions): Html {
  if (rows.length === 0) return html``;
  const rest = rows.slice(rowsShown);
  return blocks(
    table(caption, heads, rows.slice(0, rowsShown), "causes"),
    rest.length > 0 && folded(counted(rest.length, "more cause"), table(`${caption}, continued`, heads, rest, "causes"), id),
    more,
  );
}

const causeRow = (group: CauseGroup, now: Date): readonly Content[] => [
  causeCell(group, link(causeHref(group.cause), causeHtml(group.cause))),
  ageHtml(group.since, now),
  actorsHtml(group),
  namesHtml(group.accounts),
];

function causeCell({ kind, risk, findings, example }: CauseGroup, cause: Html): Html {
  const head = [
    html`<span class="strong">${cause}</span>`,
    chip(kindText(kind, risk), riskTones[risk]),
    aside(placeText(example.detail.cause ?? {})),
  ];
  return html`${joined(head, " ")}<br>${aside([findings > 1 && `${counted(findings, "finding")}, such as `, findingPlace(example)])}`;
}

const failureRow = ({ code: failure, message, since, accounts }: FailureGroup, now: Date): readonly Content[] => [
  html`<span class="strong">${link(causeHref(failure), code(failure))}</span> ${chip("failing", "warn")}<br>${aside(firstSentence(message))}`,
  ageHtml(since, now),
  "",
  namesHtml(accounts),
];

const actorsHtml = ({ actors }: CauseGroup): Html =>
  actors.length === 0 ? quiet("not known") : andMore(actors, "actor", { shown: namesShown });

const namesHtml = (accounts: readonly string[]): Html =>
  joined(
    [
      accounts.length > namesShown && html`<strong>${accounts.length}</strong>`,
      andMore(
        accounts.slice(0, namesShown).map((name) => link(accountHref(name), name)),
        "account",
        { shown: namesShown, total: accounts.length },
      ),
    ],
    " ",
  );
