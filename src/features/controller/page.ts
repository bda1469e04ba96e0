import type { Plan } from "../../core/model/plan.ts";
import type { Tone } from "../../core/render/blocks.ts";
import {
  andMore,
  blocks,
  type Content,
  chip,
  code,
  command,
  type Html,
  html,
  joined,
  list,
  markupOf,
  note,
  quiet,
  table,
} from "../../core/render/html/html.ts";
import { documentPage } from "../../core/render/html/index.ts";
import { type Page, page } from "../../core/render/html/page.ts";
import { timeText } from "../../core/render/report/attribution.ts";
import { counted, durationText } from "../../core/text/counts.ts";
import { grouped } from "../../core/text/lists.ts";
import { wholePath } from "../../core/text/paths.ts";
import { shellWord } from "../../core/text/shell.ts";
import type { Account, DoneRepair } from "./accounts.ts";

const tones = {
  exposed: "bad",
  failing: "warn",
  stale: "warn",
  drifted: "warn",
  pending: "quiet",
  "in sync": "good",
} as const satisfies Record<string, Tone>;

/** What is known of an account; the first that applies. */
function stateOf({ exposed, error, isStale, checkedAt, differences, manual, policy }: Account): keyof typeof tones {
  if (exposed > 0) return "exposed";
  if (error !== null) return "failing";
  if (isStale) return "stale";
  if (checkedAt === null) return "pending";
  return differences + manual + policy > 0 ? "drifted" : "in sync";
}

/** The accounts, worst first. `query`: `label=team=data` and `state=exposed` choose some of them. */
export function accountsPage(all: readonly Account[], repairs: readonly DoneRepair[], query: URLSearchParams): string {
  const [labels, states] = [query.getAll("label"), query.getAll("state")];
  const accounts = all.filter(
    (account) => (states.length === 0 || states.includes(stateOf(account))) && labels.every((label) => labelsOf(account).includes(label)),
  );
  const targets = new Set(accounts.map(({ target }) => target));
  const parts = [
    { id: "exposed", title: "Exposed now", html: exposedHtml(accounts) },
    { id: "accounts", title: "Accounts", count: accounts.length, html: accountsHtml(accounts) },
    { id: "causes", title: "Other differences", html: differencesHtml(accounts) },
    { id: "repaired", title: "Repaired in the last 24 hours", html: repairsHtml(repairs.filter(({ target }) => targets.has(target))) },
  ];
  const links = html`<a href="/api/accounts">JSON</a> · <a href="/metrics">Metrics</a>`;
  return documentOf({ title: "Accounts", about: filterHtml(all, [...states, ...labels]), lead: leadHtml(accounts), parts }, links);
}

function documentOf(content: Pick<Page, "title" | "about" | "lead" | "parts">, links: Html): string {
  const footer = html`<p>dimsync controller · state at ${timeText(new Date().toISOString())} · ${links}</p>`;
  return markupOf(page({ titleNote: "", tiles: [], ...content, footer, extraStyle }));
}

/** "2 of 40 accounts expose 3 columns." with what limits it. */
function leadHtml(accounts: readonly Account[]): Html {
  if (accounts.length === 0)
    return note("warn", html`<p><strong>No account.</strong> Add <code>controller</code> to a target in dimsync.yaml, and commit it.</p>`);
  const exposed = accounts.filter((account) => account.exposed > 0);
  const unsure = accounts.filter(({ error, isStale, checkedAt }) => error !== null || isStale || checkedAt === null).length;
  const [since] = exposed.flatMap(({ exposedSince }) => exposedSince ?? []).sort();
  const columns = exposed.reduce((sum, account) => sum + account.exposed, 0);
  const of = `of ${counted(accounts.length, "account")}`;
  const sentence =
    exposed.length === 0
      ? `None ${of} exposes a column${unsure > 0 ? ", as far as is known" : ""}.`
      : `${exposed.length} ${of} ${exposed.length > 1 ? "expose" : "exposes"} ${counted(columns, "column")}.`;
  const limit = unsure > 0 && `The current state of ${counted(unsure, "account")} is not known: failing, stale or not checked yet.`;
  const found = since !== undefined && html`Found first ${ageHtml(since)}.`;
  return note(exposed.length > 0 ? "bad" : unsure > 0 ? "warn" : "good", html`<p><strong>${sentence}</strong> ${found} ${limit}</p>`);
}

/** Links, because the page may submit no form. */
function filterHtml(accounts: readonly Account[], chosen: readonly string[]): Html {
  const linkTo = (name: string, value: string, text: string): Html =>
    html`<li><a href="/?${new URLSearchParams({ [name]: value }).toString()}" aria-current=${chosen.includes(value) && "true"}>${text}</a></li>`;
  const states = grouped(accounts, stateOf).map((some) => linkTo("state", stateOf(some[0]), `${some.length} ${stateOf(some[0])}`));
  const labels = [...new Set(accounts.flatMap(labelsOf))].sort().slice(0, 12);
  const all = chosen.length > 0 && html`<li><a href="/">All ${accounts.length}</a></li>`;
  return html`<nav aria-label="Filter"><ul>${all}${states}${labels.map((label) => linkTo("label", label, label))}</ul></nav>`;
}

const labelsOf = ({ labels }: Account): readonly string[] => Object.entries(labels).map(([name, value]) => `${name}=${value}`);
const accountLink = (target: string): Html => html`<a href="/accounts/${encodeURIComponent(target)}">${target}</a>`;
const placeHtml = ({ target, address }: Pick<DoneRepair, "target" | "address">): Content => [accountLink(target), " ", quiet(address)];
const why = (text: Content): Html => html`<span class="why">${text}</span>`;
const unknownActor = quiet("not in the audit log");

function accountsHtml(accounts: readonly Account[]): Html {
  const rows = accounts.map((account): readonly Content[] => {
    const state = stateOf(account);
    const { error, isStale, checkedAt, commit, locked, sending } = account;
    const chips = [
      chip(state, tones[state]),
      state !== "failing" && error !== null && chip("failing", "warn"),
      state !== "stale" && isStale && chip("stale", "warn"),
      locked !== null && chip("locked", "info"),
    ];
    const reasons = [
      error !== null && firstSentence(error),
      locked !== null && `Locked: ${locked}`,
      sending !== null && `Sending: ${sending}`,
    ];
    return [
      [accountLink(account.target), why(quiet(labelsOf(account).join(" ")))],
      [joined(chips, " "), reasons.map((reason) => reason !== false && why(reason))],
      numberHtml(account.exposed, true),
      numberHtml(account.differences + account.policy),
      numberHtml(account.manual),
      checkedAt === null ? quiet("never") : html`<span class=${isStale && "late"}>${ageHtml(checkedAt)}</span>`,
      commit !== null && code(commit.slice(0, 7)),
      account.mode,
    ];
  });
  const heads = ["Account", "State", "Exposed", "Differences", "By hand", "Last check", "Commit", "Mode"];
  return table("Accounts, worst first", heads, rows, "accounts");
}

/** Zero is quiet, and left out on a narrow screen, so that other numbers stand out. */
const numberHtml = (count: number, isAlarm = false): Content =>
  count === 0 ? html`<span class="quiet zero">0</span>` : isAlarm ? html`<strong class="alarm">${count}</strong>` : count;

/** For a line; the account's page has the whole message. */
const firstSentence = (text: string): string => /^.*?[.!?](?=\s|$)/su.exec(text)?.[0] ?? text;

/** The columns that are exposed: the same in several accounts together, if the same has to be done. */
function exposedHtml(accounts: readonly Account[]): Html {
  const groups = grouped(findingsOf(accounts, true), ({ what, actor, event, account }) =>
    JSON.stringify([what, actor, event, nextText(account)]),
  );
  const rows = groups.map((group): readonly Content[] => {
    const [{ what, actor, event, account }] = group;
    const [since] = group.flatMap(({ at, account: { exposedSince } }) => at ?? exposedSince ?? []).sort();
    const by = actor ?? event ?? unknownActor;
    return [
      html`<strong>${what}</strong>`,
      andMore(group.map(placeHtml), "place"),
      since !== undefined && ageHtml(since),
      by,
      nextText(account),
    ];
  });
  return causesTable("What is exposed", ["What", "Where", "Since", "By", "What happens next"], rows);
}

function differencesHtml(accounts: readonly Account[]): Html {
  const rows = grouped(findingsOf(accounts, false), ({ what, actor, event }) => JSON.stringify([what, actor, event])).map((group) => {
    const [{ what, actor, event, at }] = group;
    return [what, andMore(group.map(placeHtml), "place"), at !== undefined && ageHtml(at), actor ?? event ?? unknownActor];
  });
  return causesTable("Other differences", ["What", "Where", "Since", "By"], rows);
}

function repairsHtml(repairs: readonly DoneRepair[]): Html {
  const rows = grouped(repairs, ({ path, actor, event, doneAt }) => JSON.stringify([path, actor, event, doneAt.slice(0, 16)])).map(
    (group) => {
      const [{ path, actor, event, changedAt, doneAt }] = group;
      const long = changedAt === null ? quiet("not known") : durationText(Date.parse(doneAt) - Date.parse(changedAt));
      return [wholePath(path), andMore(group.map(placeHtml), "place"), ageHtml(doneAt), actor ?? event ?? unknownActor, long];
    },
  );
  return causesTable("What the controller repaired", ["What", "Where", "Repaired", "Changed by", "Readable for"], rows);
}

const findingsOf = (accounts: readonly Account[], isExposed: boolean) =>
  accounts.flatMap((account) =>
    account.findings.filter((one) => one.isExposed === isExposed).map((one) => ({ ...one, account, target: account.target })),
  );

const mostRows = 50;

function causesTable(caption: string, heads: readonly string[], rows: readonly (readonly Content[])[]): Html {
  if (rows.length === 0) return html``;
  const more = rows.length > mostRows && html`<p class="quiet">and ${rows.length - mostRows} more, on the pages of the accounts</p>`;
  return blocks(table(caption, heads, rows.slice(0, mostRows), "causes"), more);
}

function nextText({ mode, locked, error }: Account): string {
  if (locked !== null) return "Not repaired: the account is locked.";
  if (error !== null) return "Not repaired: the last check failed. The page of the account says why.";
  return mode === "protect" ? "The next check repairs it." : "Not repaired: mode report. The page of the account has the command.";
}

const ageHtml = (iso: string): Html =>
  html`<time datetime=${iso} title=${timeText(iso)}>${durationText(Date.now() - Date.parse(iso))} ago</time>`;

/** The report of the last check, with what to do. */
export function accountPage(account: Account, report: Plan | undefined, repaired: readonly DoneRepair[]): string {
  const { target, error, locked, commit, mode, everyMs, checkedAt, exposed, exposedSince } = account;
  const state = stateOf(account);
  const facts = [
    `every ${durationText(everyMs)}`,
    checkedAt !== null && ["checked ", ageHtml(checkedAt)],
    commit !== null && code(commit.slice(0, 12)),
    `mode ${mode}`,
    ...labelsOf(account),
  ];
  const parts = [
    { id: "now", title: "Exposed now", html: exposedHtml([account]) },
    { id: "do", title: "What to do", html: commandsHtml(account) },
    { id: "repaired", title: "Repaired in the last 24 hours", html: repairsHtml(repaired) },
    ...(report === undefined ? [] : documentPage(report, { color: false, verbose: false }).parts),
  ];
  const found =
    exposed > 0 && html`${counted(exposed, "column")} exposed${exposedSince !== null && html`, found ${ageHtml(exposedSince)}`}.`;
  const lead = blocks(
    html`<p class="headline">${chip(state, tones[state])} <span>${found}</span></p>`,
    error !== null && note("bad", html`<p><strong>The last check failed.</strong> ${error}</p>`),
    locked !== null && note("info", html`<p><strong>Locked:</strong> ${locked}. Nothing is repaired until then.</p>`),
  );
  const about = html`<nav aria-label="Breadcrumb"><ul><li><a href="/">All accounts</a></li></ul></nav><p class="quiet">${joined(facts, " · ")}</p>`;
  return documentOf({ title: target, about, lead, parts }, html`<a href="/api/accounts/${encodeURIComponent(target)}">JSON</a>`);
}

/** The commands that fix it, and where to run them. */
function commandsHtml(account: Account): Html {
  const { target, commit, exposed, differences, error, locked } = account;
  const on = `-t ${shellWord(target)}`;
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().replace(/\.\d+/u, "");
  const steps: readonly (readonly [isNeeded: boolean, text: string, line: string])[] = [
    [exposed > 0, "Hash and switch off what should be, and send nothing else:", `dimsync apply ${on} --protect-only`],
    [error !== null, "Find out why the check fails:", `dimsync doctor ${on}`],
    [stateOf(account) !== "in sync", "See all differences, and who made them:", `dimsync drift ${on}`],
    [exposed + differences > 0, "Keep what is in the account, and change the manifests:", `dimsync drift ${on} --resolve accept`],
    [locked !== null, "Let repairs go on:", `dimsync records unlock ${on}`],
    [locked === null, "Pause repairs until tomorrow:", `dimsync records lock ${on} --reason "migration" --until ${tomorrow}`],
  ];
  const shown = steps.flatMap(([isNeeded, text, line]) => (isNeeded ? [[text, command(line)]] : []));
  const where = commit !== null && html`, at commit ${code(commit.slice(0, 12))} or later`;
  return blocks(html`<p>Run these in a checkout of the project${where}, with the API key of the account.</p>`, list(shown, "steps"));
}

const extraStyle = html`.why{display:block;font-size:.875rem;overflow-wrap:anywhere}.alarm,.late{color:var(--bad)}nav a[aria-current]{font-weight:650;color:var(--fg)}
@media (min-width:44.01rem){.accounts tbody th,.causes tbody th{width:22%}.accounts tbody td,.accounts tbody td:last-child:not(:only-of-type),.causes tbody td:last-child:not(:only-of-type){min-width:0}}
@media (max-width:44rem){.accounts tbody td:has(>.zero),.accounts tbody td:nth-last-child(-n+2){display:none}}`;
