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
import { type Part, page } from "../../core/render/html/page.ts";
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
    { id: "exposed", title: "Exposed now", html: causesHtml(accounts, true) },
    { id: "accounts", title: "Accounts", count: accounts.length, html: accountsHtml(accounts) },
    { id: "causes", title: "Other differences", html: causesHtml(accounts, false) },
    { id: "repaired", title: "Repaired in the last 24 hours", html: repairsHtml(repairs.filter(({ target }) => targets.has(target))) },
  ];
  const links = html`<a href="/api/accounts">JSON</a> · <a href="/metrics">Metrics</a>`;
  return whole({ title: "Accounts", about: filterHtml(all, [...states, ...labels]), lead: leadHtml(accounts), parts, links });
}

interface Whole {
  readonly title: string;
  readonly about: Html;
  readonly lead: Html;
  readonly parts: readonly Part[];
  readonly links: Html;
}

function whole({ links, ...parts }: Whole): string {
  const footer = html`<p>dimsync controller · state at ${timeText(new Date().toISOString())} · ${links}</p>`;
  return markupOf(page({ titleNote: "", tiles: [], ...parts, footer, extraStyle }));
}

/** "2 of 40 accounts expose 3 columns." with what limits it. */
function leadHtml(accounts: readonly Account[]): Html {
  if (accounts.length === 0)
    return note("warn", html`<p><strong>No account.</strong> Add <code>controller</code> to a target in dimsync.yaml, and commit it.</p>`);
  const exposed = accounts.filter((account) => account.exposed > 0);
  const unsure = accounts.filter(({ error, isStale, checkedAt }) => error !== null || isStale || checkedAt === null);
  const since = exposed.flatMap(({ exposedSince }) => exposedSince ?? []).sort()[0];
  const columns = counted(
    exposed.reduce((sum, account) => sum + account.exposed, 0),
    "column",
  );
  const number = exposed.length === 0 ? "None" : exposed.length;
  const sentence = `${number} of ${counted(accounts.length, "account")} ${exposed.length > 1 ? "expose" : "exposes"} ${exposed.length === 0 ? "a column" : columns}${exposed.length === 0 && unsure.length > 0 ? ", as far as is known" : ""}.`;
  const limit =
    unsure.length > 0 && `The current state of ${counted(unsure.length, "account")} is not known: failing, stale or not checked yet.`;
  const found = since !== undefined && html`Found first ${ageHtml(since)}.`;
  return note(
    exposed.length > 0 ? "bad" : unsure.length > 0 ? "warn" : "good",
    html`<p><strong>${sentence}</strong> ${found} ${limit}</p>`,
  );
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
const why = (text: Content): Html => html`<span class="why">${text}</span>`;

function accountsHtml(accounts: readonly Account[]): Html {
  const rows = accounts.map((account): readonly Content[] => {
    const [state, { target, error, isStale, exposed, differences, policy, manual, checkedAt, ageMs, commit, mode, locked, sending }] = [
      stateOf(account),
      account,
    ];
    const chips = [
      chip(state, tones[state]),
      state !== "failing" && error !== null && chip("failing", "warn"),
      state !== "stale" && isStale && chip("stale", "warn"),
      locked !== null && chip("locked", "info"),
    ];
    const age =
      checkedAt !== null &&
      html`<time datetime=${checkedAt} title=${timeText(checkedAt)} class=${isStale && "late"}>${durationText(ageMs ?? 0)} ago</time>`;
    return [
      [accountLink(target), labelsOf(account).length > 0 && why(quiet(labelsOf(account).join(" ")))],
      [
        joined(chips, " "),
        error !== null && why(firstSentence(error)),
        locked !== null && why(`Locked: ${locked}`),
        sending !== null && why(`Sending: ${sending}`),
      ],
      numberHtml(exposed, true),
      numberHtml(differences + policy),
      numberHtml(manual),
      checkedAt === null ? quiet("never") : age,
      commit !== null && code(commit.slice(0, 7)),
      mode,
    ];
  });
  return table(
    "Accounts, worst first",
    ["Account", "State", "Exposed", "Differences", "By hand", "Last check", "Commit", "Mode"],
    rows,
    "accounts",
  );
}

/** Zero is quiet, and left out on a narrow screen, so that other numbers stand out. */
const numberHtml = (count: number, isAlarm = false): Content =>
  count === 0 ? html`<span class="quiet zero">0</span>` : isAlarm ? html`<strong class="alarm">${count}</strong>` : count;

/** For a line; the account's page has the whole message. */
const firstSentence = (text: string): string => /^.*?[.!?](?=\s|$)/su.exec(text)?.[0] ?? text;

const mostRows = 50;

/** Equal findings of all accounts together. */
function causesHtml(accounts: readonly Account[], isExposed: boolean): Html {
  const all = accounts.flatMap((account) =>
    account.findings.filter((one) => one.isExposed === isExposed).map((one) => ({ ...one, account })),
  );
  const groups = grouped(all, ({ what, actor, event, account }) => JSON.stringify([what, actor, event, isExposed && nextText(account)]));
  const rows = groups.slice(0, mostRows).map((group): readonly Content[] => {
    const [{ what, actor, event, account }] = group;
    const since = group.flatMap(({ at, account: { exposedSince } }) => at ?? exposedSince ?? []).sort()[0];
    const places = group.map(({ place, account: { target } }) => [accountLink(target), " ", quiet(place)]);
    const cells = [
      andMore(places, "place", { shown: 4 }),
      since !== undefined && ageHtml(since),
      actor ?? event ?? quiet("not in the audit log"),
    ];
    return isExposed ? [html`<strong>${what}</strong>`, ...cells, nextText(account)] : [what, ...cells];
  });
  const heads = ["What", "Where", "Since", "By", ...(isExposed ? ["What happens next"] : [])];
  const more =
    groups.length > rows.length && html`<p class="quiet">and ${groups.length - rows.length} more, on the pages of the accounts</p>`;
  return rows.length === 0 ? html`` : blocks(table(isExposed ? "What is exposed" : "Other differences", heads, rows, "causes"), more);
}

function nextText({ mode, locked, error }: Account): string {
  if (locked !== null) return "Nothing: the account is locked.";
  if (error !== null) return "Nothing: the repair failed. See the account.";
  return mode === "protect" ? "The next check repairs it." : "Nothing by itself. The account has the command that repairs it.";
}

const ageHtml = (iso: string): Html =>
  html`<time datetime=${iso} title=${timeText(iso)}>${durationText(Date.now() - Date.parse(iso))} ago</time>`;

function repairsHtml(repairs: readonly DoneRepair[]): Html {
  const groups = grouped(repairs, ({ path, actor, doneAt }) => JSON.stringify([path, actor, doneAt.slice(0, 16)]));
  const rows = groups.slice(0, mostRows).map((group): readonly Content[] => {
    const [{ path, actor, changedAt, doneAt }] = group;
    const places = group.map(({ target, address }) => [accountLink(target), " ", quiet(address)]);
    const long = changedAt === null ? quiet("not known") : durationText(Date.parse(doneAt) - Date.parse(changedAt));
    return [wholePath(path), andMore(places, "place"), ageHtml(doneAt), actor ?? quiet("not in the audit log"), long];
  });
  return rows.length === 0
    ? html``
    : table("What the controller repaired", ["What", "Where", "Repaired", "Changed by", "Readable for"], rows, "causes");
}

/** The report of the last check, with what to do. */
export function accountPage(account: Account, report: Plan | undefined, repaired: readonly DoneRepair[]): string {
  const { target, error, locked, commit, mode, everyMs, checkedAt, exposed } = account;
  const state = stateOf(account);
  const facts = [
    `every ${durationText(everyMs)}`,
    checkedAt !== null && ["checked ", ageHtml(checkedAt)],
    commit !== null && code(commit.slice(0, 12)),
    `mode ${mode}`,
    ...labelsOf(account),
  ];
  const parts = [
    { id: "do", title: "What to do", html: commandsHtml(account) },
    { id: "repaired", title: "Repaired in the last 24 hours", html: repairsHtml(repaired) },
    ...(report === undefined ? [] : documentPage(report, { color: false, verbose: false }).parts),
  ];
  const lead = blocks(
    html`<p class="headline">${chip(state, tones[state])} <span>${exposed > 0 && [counted(exposed, "column"), " exposed. ", nextText(account)]}</span></p>`,
    error !== null && note("bad", html`<p><strong>The last check failed.</strong> ${error}</p>`),
    locked !== null && note("info", html`<p><strong>Locked:</strong> ${locked}. Nothing is repaired until then.</p>`),
  );
  const about = html`<nav aria-label="Breadcrumb"><ul><li><a href="/">All accounts</a></li></ul></nav><p class="quiet">${joined(facts, " · ")}</p>`;
  return whole({ title: target, about, lead, parts, links: html`<a href="/api/accounts/${encodeURIComponent(target)}">JSON</a>` });
}

/** The commands that fix it, and where to run them. */
function commandsHtml(account: Account): Html {
  const { target, commit, exposed, differences, error } = account;
  const on = `-t ${shellWord(target)}`;
  const steps: readonly (readonly [isNeeded: boolean, text: string, line: string])[] = [
    [exposed > 0, "Hash and switch off what should be, and send nothing else:", `dimsync apply ${on} --protect-only`],
    [stateOf(account) !== "in sync", "See all differences, and who made them:", `dimsync drift ${on}`],
    [exposed + differences > 0, "Keep what is in the account, and change the manifests:", `dimsync drift ${on} --resolve accept`],
    [error !== null, "Find out why the check fails:", `dimsync doctor ${on}`],
    [true, "Pause repairs:", `dimsync records lock ${on} --reason "migration" --until 2027-01-31T18:00:00Z`],
  ];
  const shown = steps.flatMap(([isNeeded, text, line]) => (isNeeded ? [[text, command(line)]] : []));
  const where = commit !== null && html`, at commit ${code(commit.slice(0, 12))} or later`;
  return blocks(html`<p>Run these in a checkout of the project${where}, with the API key of the account.</p>`, list(shown, "steps"));
}

const extraStyle = html`.why{display:block;font-size:.875rem;overflow-wrap:anywhere}.alarm,.late{color:var(--bad)}nav a[aria-current]{font-weight:650;color:var(--fg)}
@media (min-width:44.01rem){.accounts tbody th,.causes tbody th{width:22%}.accounts tbody td,.accounts tbody td:last-child:not(:only-of-type),.causes tbody td:last-child:not(:only-of-type){min-width:0}}
@media (max-width:44rem){.accounts tbody td:has(>.zero){display:none}}`;
