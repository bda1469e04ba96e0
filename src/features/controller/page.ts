import type { Plan } from "../../core/base/model/plan.ts";
import { counted, durationText } from "../../core/base/text/counts.ts";
import { andMore, grouped } from "../../core/base/text/lists.ts";
import { spaced, wholePath } from "../../core/base/text/paths.ts";
import { shellWord } from "../../core/base/text/shell.ts";
import { cutEnd } from "../../core/base/text/values.ts";
import type { Html, HtmlContent, Page, PagePart } from "../../core/render/html/index.ts";
import * as draw from "../../core/render/html/index.ts";
import { chip, code, documentPage, html, isEmpty, joined, note, page, quiet } from "../../core/render/html/index.ts";
import type { Tone } from "../../core/render/index.ts";
import { timeText } from "../../core/render/index.ts";
import { type AccountRow, type FoundDifference, repairsOf } from "./accounts.ts";

const tones = {
  exposed: "bad",
  failing: "warn",
  stale: "warn",
  drifted: "warn",
  pending: "quiet",
  "in sync": "good",
} as const satisfies Record<string, Tone>;

/** What is known of an account; the first that applies. */
function stateOf({ exposed, error, isStale, checkedAt, differences, byHand, policy }: AccountRow): keyof typeof tones {
  if (exposed > 0) return "exposed";
  if (error !== null) return "failing";
  if (isStale) return "stale";
  if (checkedAt === null) return "pending";
  return differences + byHand + policy > 0 ? "drifted" : "in sync";
}

/** The accounts, worst first. `query`: `label=team=data` and `state=exposed` choose some of them. */
export function accountsPage(all: readonly AccountRow[], query: URLSearchParams): string {
  const [labels, states] = [query.getAll("label"), query.getAll("state")];
  const isChosen = (account: AccountRow): boolean =>
    (states.length === 0 || states.includes(stateOf(account))) && labels.every((label) => labelsOf(account).includes(label));
  const accounts = all.filter(isChosen);
  const [exposed, ...causes] = causeParts(accounts);
  const parts = [exposed, { id: "accounts", title: "Accounts", count: accounts.length, html: accountsHtml(accounts) }, ...causes];
  const filters = grouped(all, stateOf).map((some) => {
    const state = stateOf(some[0]);
    return html`<li>${filterLink({ state }, `${some.length} ${state}`, states.includes(state))}</li>`;
  });
  const reset = states.length + labels.length > 0 && html`<li><a href="/">All ${all.length}</a> ${quiet(labels.join(", "))}</li>`;
  const about = html`<nav aria-label="Filter"><ul>${reset}${filters}</ul></nav>`;
  const links = html`<a href="/api/accounts">JSON</a> · <a href="/metrics">Metrics</a>`;
  return documentOf({ title: "Accounts", about, lead: leadHtml(accounts), parts }, links);
}

/** A link, because the page may submit no form. */
const filterLink = (query: Readonly<Record<string, string>>, text: string, isCurrent = false): Html =>
  html`<a href="/?${new URLSearchParams(query).toString()}" aria-current=${isCurrent && "true"}>${text}</a>`;

function documentOf(content: Pick<Page, "title" | "about" | "lead" | "parts">, links: Html): string {
  const footer = html`<p>dimsync controller · state at ${timeText(new Date().toISOString())} · ${links}</p>`;
  return draw.markupOf(page({ titleNote: "", tiles: [], ...content, footer, extraStyle }));
}

/** "2 of 40 accounts expose 3 columns." with what limits it. */
function leadHtml(accounts: readonly AccountRow[]): Html {
  if (accounts.length === 0)
    return note("warn", html`<p><strong>No account.</strong> Add <code>controller</code> to a target in dimsync.yaml, and commit it.</p>`);
  const exposed = accounts.filter((account) => account.exposed > 0);
  const unsure = accounts.filter(({ error, isStale, checkedAt }) => error !== null || isStale || checkedAt === null).length;
  const columns = exposed.reduce((sum, account) => sum + account.exposed, 0);
  const verb = exposed.length === 1 ? "exposes" : "expose";
  const drifted = accounts.filter((account) => stateOf(account) === "drifted").length;
  const sentence = `${exposed.length || "None"} of ${counted(accounts.length, "account")} ${verb} ${columns === 0 ? "a column" : counted(columns, "column")}.`;
  const limit = unsure > 0 && `The current state of ${counted(unsure, "account")} is not known: failing, stale or not checked yet.`;
  const others = drifted > 0 && `${counted(drifted, "account")} ${drifted === 1 ? "differs" : "differ"} in another way.`;
  const tone = exposed.length > 0 ? "bad" : unsure + drifted > 0 ? "warn" : "good";
  return note(tone, html`<p><strong>${sentence}</strong> ${limit} ${others}</p>`);
}

const labelsOf = ({ labels }: AccountRow): readonly string[] => Object.entries(labels).map(([name, value]) => `${name}=${value}`);
const accountLink = (target: string): Html => html`<a href="/accounts/${encodeURIComponent(target)}">${target}</a>`;
/** Below the main text of a cell. */
const below = (text: HtmlContent): Html => html`<span class="below">${text}</span>`;

function accountsHtml(accounts: readonly AccountRow[]): Html {
  const rows = accounts.map((account): readonly HtmlContent[] => {
    const state = stateOf(account);
    const { error, isStale, checkedAt, commit, locked, repairs } = account;
    const sent = repairs.filter(({ doneAt }) => doneAt === undefined).map(({ address, path }) => spaced(address, wholePath(path)));
    const isUnknown = checkedAt === null && account.exposed === 0;
    const count = (of: number, style = ""): Html => (isUnknown ? quiet("–") : numberHtml(of, style));
    const chips = [
      chip(state, tones[state]),
      state !== "failing" && error !== null && chip("failing", "warn"),
      state !== "stale" && isStale && chip("stale", "warn"),
      locked !== null && chip("locked", "info"),
    ];
    return [
      [accountLink(account.target), labelsOf(account).map((label) => below(filterLink({ label }, label)))],
      [
        joined(chips, " "),
        error !== null && below(cutEnd(error, 120)),
        locked !== null && below(`Locked: ${locked}`),
        sent.length > 0 && below(`Repair not confirmed: ${andMore(sent, "value")}`),
      ],
      count(account.exposed, "alarm"),
      [count(account.differences), account.policy > 0 && below(counted(account.policy, "policy finding"))],
      count(account.byHand),
      checkedAt === null ? quiet("never") : html`<span class=${isStale && "alarm"}>${ageHtml(checkedAt, account)}</span>`,
      commit !== null && code(commit.slice(0, 7)),
      account.mode,
    ];
  });
  const heads = ["Account", "State", "Exposed", "Differences", "By hand", "Last check", "Commit", "Mode"];
  return draw.table("Accounts, worst first", heads, rows, "accounts");
}

/** Zero is quiet, and left out on a narrow screen, so that other numbers stand out. */
const numberHtml = (count: number, style = ""): Html => html`<span class="${count === 0 ? "quiet zero" : style}">${count}</span>`;

/** A difference or a repair. */
interface Cause extends Omit<FoundDifference, "path" | "isExposed" | "isByHand" | "after"> {
  readonly account: AccountRow;
  /** What `at` is, if not the moment of the change: "after", "found". */
  readonly since?: string;
  readonly last?: string;
}

/** What is exposed, what was repaired, and what differs otherwise. */
function causeParts(accounts: readonly AccountRow[]): readonly [PagePart, PagePart, PagePart] {
  const findings = (isExposed: boolean) =>
    accounts.flatMap((account) => account.findings.filter((one) => one.isExposed === isExposed).map((one) => ({ ...one, account })));
  const dated = ({ at, after, ...one }: FoundDifference & { readonly account: AccountRow }) =>
    at !== undefined ? { ...one, at, since: "" } : after === undefined ? one : { ...one, at: after, since: "after" };
  const open = findings(true).map((one) => ({ at: one.account.exposedSince ?? "", since: "found", ...dated(one) }));
  const exposed = open.map((one) => ({ ...one, last: nextText(one.account, one.isByHand) }));
  const repaired = accounts.flatMap((account) =>
    repairsOf(account, 1).map(({ at, after = "", doneAt, path, ...repair }) => {
      const long = durationText(Date.parse(doneAt) - Date.parse(at ?? after));
      const last = at !== undefined ? long : after === "" ? "not known" : `at most ${long}`;
      return { ...repair, account, what: wholePath(path), at: doneAt, last };
    }),
  );
  const ofRepairs = ["What was repaired", "Where", "When", "Changed by", "Readable for"];
  return [
    { id: "exposed", title: "Exposed now", html: causesHtml(["What is exposed", "Where", "Since", "By", "What happens next"], exposed) },
    { id: "repaired", title: "Repaired in the last 24 hours", html: causesHtml(ofRepairs, repaired) },
    { id: "causes", title: "Other differences", html: causesHtml(["What differs", "Where", "Since", "By"], findings(false).map(dated)) },
  ];
}

function nextText({ mode, locked, error }: AccountRow, isByHand = false): string {
  if (isByHand) return "Not repaired: no request can. The page of the account has the steps.";
  if (locked !== null) return "Not repaired: the account is locked.";
  if (error !== null) return "Not repaired: the last check failed. The page of the account says why.";
  return mode === "protect" ? "The next check repairs it." : "Not repaired: mode report. The page of the account has the command.";
}

const mostRows = 50;

/**
 * A row for each cause. Columns that have it in the same places are named together, and an event about their object is said once, with the
 * object.
 */
function causesHtml(heads: readonly string[], causes: readonly Cause[]): Html {
  const keyOf = ({ actor, event, last, since: kind, origin }: Cause) => [actor, event, last, kind, origin === "config"];
  const placesOf = (some: readonly Cause[]) => some.map(({ account, address }) => [account.target, address] as const);
  const alike = grouped(causes, (cause) => JSON.stringify([cause.what, ...keyOf(cause)]));
  const rows = grouped(alike, (some) => JSON.stringify([placesOf(some), ...keyOf(some[0])])).map((columns): readonly HtmlContent[] => {
    const [some] = columns;
    const [{ account, actor, event = "", last, since: kind = "", origin }] = some;
    const times = columns.flat().map(({ at = "" }) => at);
    const [since = ""] = times.sort();
    const whats = columns.map(([{ what }]) => what);
    const places = placesOf(some).map(([target, address]) => [accountLink(target), " ", quiet(address)]);
    return [
      html`<strong>${draw.andMore(whats, "column", { shown: 8 })}</strong>`,
      draw.andMore(places, "place"),
      since !== "" && [kind, " ", timeText(new Date(since).toISOString()), below(ageHtml(since, account))],
      actor ?? (event === "" ? quiet(origin === "config" ? "declared since the last apply" : "not in the audit log") : event),
      last,
    ];
  });
  if (rows.length === 0) return html``;
  const more = rows.length > mostRows && html`<p class="quiet">and ${rows.length - mostRows} more, on the pages of the accounts</p>`;
  return draw.blocks(draw.table(heads[0] ?? "", heads, rows.slice(0, mostRows), "causes"), more);
}

/** By the clock of the database. */
const ageHtml = (iso: string, { readAt }: Pick<AccountRow, "readAt">): Html =>
  html`<time datetime=${iso} title=${timeText(new Date(iso).toISOString())}>${durationText(Date.parse(readAt) - Date.parse(iso))} ago</time>`;

/** The report of the last check, with what to do. */
export function accountPage(account: AccountRow, report: Plan | undefined): string {
  const { target, error, failures, locked, mode, everyMs, checkedAt, nextAt, readAt } = account;
  const state = stateOf(account);
  const [exposed, repaired] = causeParts([account]);
  const found = report === undefined ? [] : documentPage(report, { color: false, verbose: false }).parts;
  const parts = [
    exposed,
    { id: "do", title: "What to do", html: draw.blocks(commandsHtml(account), found.find(({ id }) => id === "next")?.html) },
    repaired,
    ...found.filter(({ id }) => id !== "next"),
  ];
  const last = checkedAt === null ? "never checked" : ["checked ", ageHtml(checkedAt, account)];
  const next = `next check in ${durationText(Math.max(0, Date.parse(nextAt) - Date.parse(readAt)))}`;
  const facts = [last, next, `every ${durationText(everyMs)}`, `mode ${mode}`, ...labelsOf(account)];
  const lead = draw.blocks(
    html`<p class="headline">${chip(state, tones[state])}</p>`,
    error !== null &&
      note("bad", html`<p><strong>${failures > 1 ? `The last ${failures} checks` : "The last check"} failed.</strong> ${error}</p>`),
    locked !== null && note("info", html`<p><strong>Locked:</strong> ${locked}. Nothing is repaired.</p>`),
  );
  const about = html`<nav aria-label="Breadcrumb"><ul><li><a href="/">All accounts</a></li></ul></nav><p class="quiet">${joined(facts, " · ")}</p>`;
  return documentOf({ title: target, about, lead, parts }, html`<a href="/api/accounts/${encodeURIComponent(target)}">JSON</a>`);
}

/** The commands that fix it, and where to run them. */
function commandsHtml(account: AccountRow): Html {
  const { target, mode, commit, findings, error, locked } = account;
  const canSend = findings.some(({ isExposed, isByHand }) => isExposed && isByHand !== true);
  const step = (text: string, line: string): HtmlContent => [text, draw.command(`dimsync ${line} -t ${shellWord(target)}`)];
  const where = commit !== null && html`, at commit ${code(commit.slice(0, 12))} or later`;
  return draw.blocks(
    html`<p>Run these in a checkout of the project${where}, with the API key of the account.</p>`,
    draw.list(
      [
        error === null ? [] : step("Find out why the check fails:", "doctor"),
        locked === null ? [] : step("End the lock, after which repairs and apply go on:", "records unlock"),
        canSend ? step("Hash and switch off what should be, and send nothing else:", "apply --protect-only") : [],
        step("See the state now, before the next check:", "drift"),
        locked === null && mode === "protect" ? step("Pause repairs:", "records lock --reason REASON") : [],
      ].filter((one) => !isEmpty(one)),
      "steps",
    ),
  );
}

const extraStyle = html`.below{display:block;font-size:.875rem;overflow-wrap:anywhere}.alarm{color:var(--bad);font-weight:650}nav a[aria-current]{font-weight:650;color:var(--fg)}
@media (min-width:44.01rem){.accounts tbody th,.causes tbody th{width:22%}.accounts tbody td,.accounts tbody td:last-child:not(:only-of-type),.causes tbody td:last-child:not(:only-of-type){min-width:0}}
@media (max-width:44rem){.accounts tbody td:has(>.zero),.accounts tbody td:nth-last-child(-n+2){display:none}}`;
