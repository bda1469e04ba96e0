import { blocks, chip, code, escaped, folded, table } from "../../../render/html/escape.ts";
import { counted } from "../../../text/counts.ts";
import { andMore, joinParts } from "../../../text/lists.ts";
import type { ReceiverStatus } from "../../views/receivers.ts";
import { type AccountSummary, accountStates, type CauseGroup } from "../../views/status.ts";
import type { WorkerHealth } from "../../views/workers.ts";
import {
  type AccountFilter,
  accountFilter,
  filtered,
  isExposed,
  isFiltered,
  labelsOf,
  type Totals,
  totalsOf,
  worstFirst,
} from "../accounts.ts";
import type { PageReads } from "../reads.ts";
import type { HtmlPage } from "../reply.ts";
import type { PageRequest } from "../routes.ts";
import { causeHtml, findingPlace, placeText } from "./findings.ts";
import { pageNumber, pager } from "./pager.ts";
import { shell } from "./shell.ts";
import { accountHref, ageHtml, commitHtml, kindText, link, numberHtml, riskTones, stateChip, stateTexts } from "./words.ts";

const accountsPerPage = 500;
const causesShown = 5;
const namesShown = 2;

/** `/`: totals, findings by cause, and the accounts, worst first. */
export async function accountsPage(reads: PageReads, { query, now }: PageRequest): Promise<HtmlPage> {
  const [accounts, causes, health, receivers] = await Promise.all([reads.accounts(), reads.causes(), reads.workers(), reads.receivers()]);
  const filter = accountFilter(query);
  const found = worstFirst(filtered(accounts, filter));
  const { items, page, pages } = pageNumber(query, found, accountsPerPage);
  const totals = totalsOf(accounts);
  return shell({
    title: "Accounts under control",
    ...(totals.exposedAccounts === 0 ? {} : { tabNote: `${totals.exposedAccounts} exposed` }),
    now,
    isLive: true,
    sections: [
      { id: "totals", title: "", html: blocks(workersHtml(health, totals), receiversHtml(receivers), verdict(totals), tiles(totals)) },
      { id: "causes", title: causes.length === 0 ? "" : "Findings by cause", count: causes.length, html: causesHtml(causes, now) },
      ...(accounts.length === 0 ? [] : [{ id: "filter", title: "", html: filterForm(filter, accounts), isFixed: true }]),
      {
        id: "accounts",
        title: "Accounts",
        count: found.length,
        html: accounts.length === 0 ? noAccounts : blocks(accountTable(items, found.length, now), pager("/", query, page, pages)),
      },
    ],
  });
}

const noAccounts = `<div class="empty"><p><strong>No account is under control yet.</strong></p>
<p>Add <code>controller</code> to a target in dimsync.yaml, then push the project. In CI, do this after each merge:</p>
<pre>dimsync controller push</pre></div>`;

/** Says that accounts are not checked, and why. "" if the workers take what is due. */
function workersHtml({ workers, overdue }: WorkerHealth, { accounts }: Totals): string {
  if (accounts > 0 && workers.length === 0)
    return warning("No worker is running.", "No account is checked. Start one with <code>dimsync controller run</code>.");
  const stuck = workers.filter(({ isStuck }) => isStuck);
  if (stuck.length === 0) return "";
  const names = andMore(
    stuck.map(({ id }) => code(id)),
    { shown: namesShown },
  );
  return warning(
    `${counted(overdue, "account")} ${overdue === 1 ? "is" : "are"} overdue.`,
    `${names} ${stuck.length === 1 ? "has" : "have"} taken no account for two intervals. Restart ${stuck.length === 1 ? "it" : "them"}, and read the log.`,
  );
}

const warning = (text: string, advice: string): string => `<p class="lead bad"><strong>${text}</strong> ${advice}</p>`;

/** Says which receivers of notifications do not get them, and why. */
const receiversHtml = (receivers: readonly ReceiverStatus[]): string =>
  receivers
    .flatMap(({ name, source, failure }) =>
      failure === null ? [] : warning(`Receiver ${code(name)} of ${escaped(source)} does not get notifications.`, `${escaped(failure)}.`),
    )
    .join("");

/** The answer to "is anything exposed?", with what limits it. */
function verdict(totals: Totals): string {
  const { accounts, exposedAccounts, exposedColumns, policyViolations, unknown, byState } = totals;
  const limits = joinParts(
    [
      unknown === 0 ? "" : `The current state of ${counted(unknown, "account")} is not known.`,
      byState.suspended === 0 ? "" : `${counted(byState.suspended, "account")} ${byState.suspended === 1 ? "is" : "are"} suspended.`,
    ],
    " ",
  );
  if (exposedAccounts > 0) {
    const sentences = [
      exposedColumns === 0
        ? ""
        : `${counted(exposedColumns, "column")} ${exposedColumns === 1 ? "is" : "are"} less protected than the manifests declare.`,
      policyViolations === 0 ? "" : `Policies of severity error are violated in ${counted(policyViolations, "place")}.`,
      limits,
    ];
    return `<p class="lead bad"><strong>${counted(exposedAccounts, "account")} exposed.</strong> ${joinParts(sentences, " ")}</p>`;
  }
  if (accounts === 0) return "";
  const tone = unknown > 0 ? "warn" : "good";
  return `<p class="lead ${tone}"><strong>Nothing is exposed${unknown > 0 ? ", as far as is known" : ""}.</strong> ${limits}</p>`;
}

/** One number for each state, with a link to its accounts. */
function tiles({ accounts, byState, exposedColumns, manual }: Totals): string {
  if (accounts === 0) return "";
  const states = accountStates
    .filter((state) => byState[state] > 0 || state === "exposed" || state === "in-sync")
    .map((state) => {
      const content = `<strong>${byState[state]}</strong> <span>${stateTexts[state].label}</span>`;
      const body = byState[state] === 0 ? `<div>${content}</div>` : link(`/?state=${state}#accounts`, content);
      return `<li${state === "exposed" && byState[state] > 0 ? ' class="alarm"' : ""}>${body}</li>`;
    });
  const sums = [
    [exposedColumns, "exposed columns"],
    [manual, "manual steps"],
  ].map(([count, text]) => `<li><div><strong>${count}</strong> <span>${text}</span></div></li>`);
  return `<ul class="tiles">${[...states, ...sums].join("")}</ul>`;
}

function causesHtml(causes: readonly CauseGroup[], now: Date): string {
  if (causes.length === 0) return "";
  const drawn = (some: readonly CauseGroup[], caption: string): string =>
    table(
      caption,
      ["Cause", "Findings", "Since", "Accounts"],
      some.map((group) => causeRow(group, now)),
      "causes",
    );
  const rest = causes.slice(causesShown);
  return blocks(
    drawn(causes.slice(0, causesShown), "Open findings by cause"),
    rest.length === 0
      ? ""
      : folded(`${counted(rest.length, "more cause")}`, drawn(rest, "More open findings by cause")).replace(
          "<details>",
          '<details id="more-causes">',
        ),
  );
}

function causeRow(group: CauseGroup, now: Date): readonly string[] {
  const { cause, kind, risk, findings, accounts, openedAt, example } = group;
  const place = placeText(example.detail);
  const links = accounts.slice(0, namesShown).map((name) => link(accountHref(name), escaped(name)));
  const head = [
    `<span class="strong">${causeHtml(cause)}</span>`,
    chip(kindText(kind, risk), riskTones[risk]),
    place === "" ? "" : `<span class="quiet small">${escaped(place)}</span>`,
  ];
  return [
    `${joinParts(head, " ")}<br><span class="quiet small">such as ${findingPlace(example)}</span>`,
    String(findings),
    ageHtml(openedAt, now),
    `<strong>${accounts.length}</strong> <span class="quiet">${andMore(links, { shown: namesShown, total: accounts.length })}</span>`,
  ];
}

/** Works without JavaScript. */
function filterForm({ states, labels, name }: AccountFilter, accounts: readonly AccountSummary[]): string {
  const option = (value: string, text: string, isChosen: boolean): string =>
    `<option value="${escaped(value)}"${isChosen ? " selected" : ""}>${escaped(text)}</option>`;
  const known = [...new Set([...accounts.flatMap(labelsOf), ...labels])].sort();
  const [state = ""] = states;
  const [label = ""] = labels;
  const choice =
    known.length === 0
      ? ""
      : `<label>Label <select name="label">${option("", "any", label === "")}${known.map((each) => option(each, each, each === label)).join("")}</select></label>`;
  return `<form method="get" action="/#accounts" role="search" aria-label="Filter accounts">
<label>Name <input type="search" name="name" id="filter-name" value="${escaped(name)}" autocomplete="off" spellcheck="false"></label>
<label>State <select name="state">${option("", "any", state === "")}${accountStates.map((each) => option(each, stateTexts[each].label, each === state)).join("")}</select></label>
${choice}<button>Filter</button>${isFiltered({ states, labels, name }) ? ` <a href="/#accounts">Show all</a>` : ""}
</form>`;
}

const heads = ["Account", "State", "Exposed", "Differences", "Manual", "Last check", "Next check", "Mode", "Commit"];

function accountTable(accounts: readonly AccountSummary[], total: number, now: Date): string {
  if (total === 0) return `<div class="empty"><p>No account matches the filter. ${link("/#accounts", "Show all accounts")}</p></div>`;
  return table(
    "Accounts, worst first",
    heads,
    accounts.map((account) => accountRow(account, now)),
    "accounts",
  );
}

function accountRow(account: AccountSummary, now: Date): readonly string[] {
  const { name, exposedColumns, differences, manual, lastCheckedAt, isStale, mode, isCurrent } = account;
  return [
    `${link(accountHref(name), escaped(name))}${noteHtml(account, now)}`,
    stateHtml(account),
    numberHtml(exposedColumns, true),
    numberHtml(differences),
    numberHtml(manual),
    lastCheckedAt === undefined
      ? '<span class="quiet">never</span>'
      : `<span${isStale ? ' class="late"' : ""}>${ageHtml(lastCheckedAt, now)}</span>`,
    nextHtml(account, now),
    escaped(mode),
    `${commitHtml(account)}${isCurrent ? "" : ' <span class="quiet small">not checked yet</span>'}`,
  ];
}

/** The state; what is exposed shows in any state. */
export function stateHtml(account: AccountSummary): string {
  const { state, policyViolations } = account;
  return joinParts(
    [
      stateChip(state),
      state !== "exposed" && isExposed(account) ? chip("exposed", "bad") : "",
      policyViolations === 0 ? "" : `<span class="small">${counted(policyViolations, "violation")}</span>`,
    ],
    " ",
  );
}

function nextHtml({ running, suspension, nextCheckAt }: AccountSummary, now: Date): string {
  if (running !== undefined) return chip("running", "info");
  if (suspension !== undefined) return '<span class="quiet">suspended</span>';
  return Date.parse(nextCheckAt) <= now.getTime() ? "due" : ageHtml(nextCheckAt, now);
}

/** Labels, and why the account is not checked. */
function noteHtml(account: AccountSummary, now: Date): string {
  const { suspension, error } = account;
  const labels = labelsOf(account);
  const why =
    suspension !== undefined
      ? `${escaped(suspension.reason)}, resumes ${ageHtml(suspension.until, now)}`
      : error === undefined
        ? ""
        : `${code(error.code)} ${escaped(firstSentence(error.message))}`;
  return joinParts(
    [
      labels.length === 0 ? "" : `<span class="labels quiet">${labels.map(escaped).join(" ")}</span>`,
      why === "" ? "" : `<span class="why">${why}</span>`,
    ],
    "",
  );
}

/** The account's page has the whole message. */
const firstSentence = (text: string): string => /^.*?[.!?](?=\s|$)/su.exec(text)?.[0] ?? text;
