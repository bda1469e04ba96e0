import type { Tone } from "../../../../core/render/blocks.ts";
import {
  andMore,
  aside,
  base,
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
import { counted, durationText } from "../../../../core/text/counts.ts";
import { grouped } from "../../../../core/text/lists.ts";
import type { ReceiverStatus, StorageFailure, WorkerHealth } from "../../views/health.ts";
import {
  type AccountSummary,
  accountStates,
  type CauseGroup,
  type ClosedGroup,
  isExposed,
  type Part,
  type Totals,
} from "../../views/status.ts";
import { type AccountFilter, accountFilter, earliest, failuresOf, filtered, isFiltered, labelsOf, totalsOf } from "../accounts.ts";
import type { PageReads } from "../reads.ts";
import type { HtmlPage } from "../reply.ts";
import type { PageRequest } from "../routes.ts";
import { causesHtml, closedHtml, isExposing } from "./causes.ts";
import { causeHtml } from "./findings.ts";
import { pageNumber, pager } from "./pager.ts";
import { shell, time } from "./shell.ts";
import { accountHref, ageHtml, commandHtml, commitHtml, firstSentence, link, numberHtml, stateChip, stateTexts, tile } from "./words.ts";

const accountsPerPage = 500;
const causesShown = { offset: 0, limit: 200 };
const namesShown = 2;

/** `/`: what is exposed, since when and by whom, what was closed in the last 24 hours, and the accounts, worst first. */
export async function accountsPage(reads: PageReads, { query, now, login }: PageRequest): Promise<HtmlPage> {
  const [accounts, causes, closed, health, receivers] = await Promise.all([
    reads.accounts(),
    reads.causes(causesShown),
    reads.closed(causesShown),
    reads.workers(),
    reads.receivers(),
  ]);
  const filter = accountFilter(query);
  const group = query.get("group") ?? "";
  const found = await filtered(accounts, filter, reads);
  const { items, page, pages } = pageNumber(query, found, accountsPerPage);
  const totals = totalsOf(accounts);
  const failures = failuresOf(accounts);
  const open = causes.total + failures.length;
  const list = { now, isFolded: !isFiltered(filter) };
  return shell({
    title: "Accounts under control",
    tabNote: totals.exposedAccounts === 0 ? undefined : `${totals.exposedAccounts} exposed`,
    now,
    login,
    isLive: true,
    sections: [
      {
        id: "totals",
        title: "",
        html: blocks(
          storageHtml(reads.storageFailure(), now),
          workersHtml(health, totals),
          receiversHtml(receivers),
          verdict(totals, { causes, closed, now }),
          tiles(totals),
        ),
      },
      { id: "causes", title: open === 0 ? "" : "What is wrong, by cause", count: open, html: causesHtml(causes, failures, now) },
      {
        id: "closed",
        title: closed.total === 0 ? "" : "Closed in the last 24 hours",
        ...(closed.total > closed.items.length ? {} : { count: closed.items.reduce((sum, { findings }) => sum + findings, 0) }),
        html: closedHtml(closed, now),
      },
      ...(accounts.length === 0 ? [] : [{ id: "filter", title: "", html: filterForm(filter, group, accounts), isFixed: true }]),
      {
        id: "accounts",
        title: "Accounts",
        count: found.length,
        html:
          accounts.length === 0
            ? noAccounts
            : blocks(
                filter.cause !== "" && html`<p>Affected by ${causeHtml(filter.cause)}. ${showAll}</p>`,
                found.length === 0 && html`<div class="empty"><p>No account matches the filter. ${showAll}</p></div>`,
                group === "" ? accountList(items, list) : groupedList(items, group, list),
                pager("/", query, page, pages),
              ),
      },
    ],
  });
}

const showAll = link("/#accounts", "Show all accounts");

const noAccounts = html`<div class="empty"><p><strong>No account is under control yet.</strong></p>
<p>Add <code>controller</code> to a target in dimsync.yaml, then push the project. In CI, do this after each merge:</p>
${commandHtml("dimsync controller push")}</div>`;

/** Says that what is shown may be old, because this process cannot store what it finds. */
const storageHtml = (failure: StorageFailure | undefined, now: Date): Content =>
  failure !== undefined &&
  lead(
    "bad",
    "Results cannot be stored.",
    html`Since ${time(failure.since)} (${ageHtml(failure.since, now)}): ${failure.why}. Free space, or repair the database. Until then, what checks find is only in the log.`,
  );

/** Says that accounts are not checked, and why. Empty if the workers take what is due. */
function workersHtml({ workers, overdue }: WorkerHealth, { accounts }: Totals): Content {
  if (accounts > 0 && workers.length === 0)
    return lead("bad", "No worker is running.", html`No account is checked. Start one with <code>dimsync controller run</code>.`);
  if (overdue === 0) return undefined;
  const stuck = workers.filter(({ isStuck }) => isStuck).map(({ id }) => code(id));
  const [has, it] = stuck.length === 1 ? ["has", "it"] : ["have", "them"];
  const busy = workers.flatMap(({ id, checks: [longest, ...others] }) =>
    longest === undefined
      ? []
      : [
          html`${code(id)} is busy with ${link(accountHref(longest.account), longest.account)} for ${durationText(longest.seconds * 1000)}${others.length > 0 && ` and with ${counted(others.length, "other account")}`}.`,
        ],
  );
  const what = [
    stuck.length > 0 &&
      html`${andMore(stuck, "worker", { shown: namesShown })} ${has} taken no account for two intervals. Restart ${it}, and read the log.`,
    ...busy,
  ];
  return lead("bad", `${counted(overdue, "account is", "accounts are")} overdue.`, joined(what, " "));
}

const lead = (tone: Tone, text: Content, more: Content): Html => html`<p class="lead ${tone}"><strong>${text}</strong> ${more}</p>`;

/** Says which receivers of notifications do not get them, and why. */
const receiversHtml = (receivers: readonly ReceiverStatus[]): readonly Content[] =>
  receivers.map(
    ({ name, source, failure }) =>
      failure !== null && lead("bad", ["Receiver ", code(name), ` of ${source} does not get notifications.`], `${failure}.`),
  );

interface Known {
  readonly causes: Part<CauseGroup>;
  readonly closed: Part<ClosedGroup>;
  readonly now: Date;
}

/** The answer to "is anything exposed?", with what limits it. */
function verdict(totals: Totals, { causes, closed, now }: Known): Content {
  const { accounts, exposedAccounts, exposedColumns, policyViolations, unknown, byState } = totals;
  if (accounts === 0) return undefined;
  const repaired = closed.items.filter(({ isRepaired }) => isRepaired).reduce((sum, { findings }) => sum + findings, 0);
  const limits = [
    repaired > 0 && [
      "dimsync ",
      html`<a href="#closed">closed ${closed.total > closed.items.length && "at least "}${counted(repaired, "finding")}</a>`,
      " in the last 24 hours.",
    ],
    unknown > 0 && `The current state of ${counted(unknown, "account")} is not known.`,
    byState.suspended > 0 && `${counted(byState.suspended, "account is", "accounts are")} suspended.`,
  ];
  if (exposedAccounts === 0)
    return lead(unknown > 0 ? "warn" : "good", `Nothing is exposed${unknown > 0 ? ", as far as is known" : ""}.`, joined(limits, " "));
  const sentences = [
    exposedColumns > 0 && `${counted(exposedColumns, "column is", "columns are")} less protected than the manifests declare.`,
    policyViolations > 0 && `Policies of severity error are violated in ${counted(policyViolations, "place")}.`,
    sinceHtml(causes.items.filter(isExposing), now),
    ...limits,
  ];
  return lead("bad", `${counted(exposedAccounts, "account")} exposed.`, joined(sentences, " "));
}

function sinceHtml(exposing: readonly CauseGroup[], now: Date): Content {
  const since = earliest(exposing.map((group) => group.since));
  if (since === undefined) return undefined;
  const actors = [...new Set(exposing.flatMap((group) => group.actors))].sort();
  const who = actors.length === 0 ? "the audit log does not say by whom" : ["by ", andMore(actors, "actor")];
  return html`Since ${time(since)} (${ageHtml(since, now)}), ${who}.`;
}

/** One number for each state, with a link to its accounts. */
function tiles({ accounts, byState: all, exposedAccounts, exposedColumns, manual }: Totals): Content {
  const byState = { ...all, exposed: exposedAccounts };
  const states = accountStates
    .filter((state) => byState[state] > 0 || state === "exposed" || state === "in-sync")
    .map((state) => tile(byState[state], stateTexts[state].label, { isAlarm: state === "exposed", path: `/?state=${state}#accounts` }));
  const sums = [tile(exposedColumns, "exposed columns"), tile(manual, "manual steps")];
  return accounts > 0 && html`<ul class="tiles">${states}${sums}</ul>`;
}

/** Works without JavaScript. */
function filterForm(filter: AccountFilter, group: string, accounts: readonly AccountSummary[]): Html {
  const { states, labels, name, cause } = filter;
  const choice = (title: string, field: string, known: readonly (readonly [value: string, text: string])[], chosen = ""): Content =>
    known.length > 0 &&
    html`<label>${title} <select name=${field}>${known.map(
      ([value, text]) => html`<option value=${value} selected=${value === chosen}>${text}</option>`,
    )}</select></label>\n`;
  const known = [...new Set([...accounts.flatMap(labelsOf), ...labels])].sort();
  const keys = [...new Set([...accounts.flatMap((account) => Object.keys(account.labels)), ...(group === "" ? [] : [group])])].sort();
  const withNone = (none: string, texts: readonly string[]) =>
    texts.length === 0 ? [] : [["", none] as const, ...texts.map((text) => [text, text] as const)];
  return html`<form method="get" action="${base}/#accounts" role="search" aria-label="Filter accounts">
<label>Name <input type="search" name="name" id="filter-name" value=${name} autocomplete="off" spellcheck="false"></label>
${choice("State", "state", [["", "any"], ...accountStates.map((state) => [state, stateTexts[state].label] as const)], states[0])}${choice("Label", "label", withNone("any", known), labels[0])}${choice("Group by", "group", withNone("nothing", keys), group)}${cause !== "" && html`<input type="hidden" name="cause" value=${cause}>`}<button>Filter</button>${(isFiltered(filter) || group !== "") && [" ", link("/#accounts", "Show all")]}
</form>`;
}

interface ListOptions {
  readonly now: Date;
  /** Whether accounts in sync are one line. */
  readonly isFolded: boolean;
  /** Of a group. */
  readonly id?: string;
}

const heads = ["Account", "State", "Exposed", "Differences", "Manual", "Last check", "Next check", "Mode", "Commit"];

function accountList(accounts: readonly AccountSummary[], { now, isFolded, id = "in-sync" }: ListOptions): Html {
  const isFine = ({ state }: AccountSummary): boolean => isFolded && state === "in-sync";
  const inSync = accounts.filter(isFine);
  const others = accounts.filter((account) => !isFine(account));
  const drawn = (caption: string, some: readonly AccountSummary[]): Content => {
    const rows = some.map((account) => accountRow(account, now));
    return rows.length > 0 && table(caption, heads, rows, "accounts");
  };
  const oldest = earliest(inSync.map(({ lastCheckedAt }) => lastCheckedAt));
  const summary = html`${chip("in sync", "good")} <strong>${counted(inSync.length, "account")}</strong> ${quiet(["checked ", ageHtml(oldest, now), " or later"])}`;
  return blocks(drawn("Accounts, worst first", others), folded(summary, drawn("Accounts in sync", inSync), id));
}

/** One list for each value of the label, the one with the worst account first. */
function groupedList(accounts: readonly AccountSummary[], label: string, options: ListOptions): Html {
  const labelledValue = ({ labels }: AccountSummary): string =>
    Object.hasOwn(labels, label) ? `${label}=${labels[label]}` : `without ${label}`;
  return blocks(
    grouped(accounts, labelledValue).map((some, index) => {
      const { exposedAccounts } = totalsOf(some);
      const title = joined(
        [labelledValue(some[0]), quiet(`(${some.length})`), exposedAccounts > 0 && chip(`${exposedAccounts} exposed`, "bad")],
        " ",
      );
      return html`<h3>${title}</h3>\n${accountList(some, { ...options, id: `in-sync-${index + 1}` })}`;
    }),
  );
}

function accountRow(account: AccountSummary, now: Date): readonly Content[] {
  const { name, exposedColumns, differences, manual, lastCheckedAt, isStale, mode, isCurrent } = account;
  return [
    [link(accountHref(name), name), noteHtml(account, now)],
    stateHtml(account),
    numberHtml(exposedColumns, true),
    numberHtml(differences),
    numberHtml(manual),
    lastCheckedAt === undefined ? quiet("never") : html`<span class=${isStale && "late"}>${ageHtml(lastCheckedAt, now)}</span>`,
    nextHtml(account, now),
    mode,
    [commitHtml(account), !isCurrent && [" ", aside("not checked yet")]],
  ];
}

/** The state; what is exposed shows in any state. */
export function stateHtml(account: AccountSummary): Html {
  const { state, policyViolations } = account;
  return joined(
    [
      stateChip(state),
      state !== "exposed" && isExposed(account) && chip("exposed", "bad"),
      policyViolations > 0 && html`<span class="small">${counted(policyViolations, "violation")}</span>`,
    ],
    " ",
  );
}

function nextHtml({ running, suspension, nextCheckAt }: AccountSummary, now: Date): Content {
  if (running !== undefined) return chip("running", "info");
  if (suspension !== undefined) return quiet("suspended");
  return Date.parse(nextCheckAt) <= now.getTime() ? "due" : ageHtml(nextCheckAt, now);
}

/** Labels, why the account is not checked, and what is not sent again. */
function noteHtml(account: AccountSummary, now: Date): Content {
  const { suspension, error, acknowledged, silence } = account;
  const labels = labelsOf(account);
  const why =
    suspension !== undefined
      ? [`${suspension.reason}, resumes `, ageHtml(suspension.until, now)]
      : error !== undefined && [code(error.code), ` ${firstSentence(error.message)}`];
  return [
    labels.length > 0 && html`<span class="labels quiet">${labels.join(" ")}</span>`,
    why !== false && html`<span class="why">${why}</span>`,
    silence !== undefined &&
      html`<span class="why">notifications silenced by ${silence.by}, until ${time(silence.until)}: ${silence.reason}</span>`,
    acknowledged !== undefined &&
      html`<span class="why">${acknowledged.events.join(", ")} acknowledged by ${acknowledged.by}, not sent again: ${acknowledged.reason}</span>`,
  ];
}
