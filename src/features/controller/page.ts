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
import { page } from "../../core/render/html/page.ts";
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
type State = keyof typeof tones;

/** What is known of an account; the first that applies. */
function stateOf({ exposed, error, isStale, checkedAt, differences, manual, policy }: Account): State {
  if (exposed > 0) return "exposed";
  if (error !== null) return "failing";
  if (isStale) return "stale";
  if (checkedAt === null) return "pending";
  return differences + manual + policy > 0 ? "drifted" : "in sync";
}

type Repaired = DoneRepair & { readonly target: string };

/** The accounts, worst first. `query`: `label=team=data` and `state=exposed` choose some of them. */
export function accountsPage(all: readonly Account[], repairs: readonly Repaired[], query: URLSearchParams): string {
  const [labels, states] = [query.getAll("label"), query.getAll("state")];
  const accounts = all.filter(
    (account) => (states.length === 0 || states.includes(stateOf(account))) && labels.every((label) => labelsOf(account).includes(label)),
  );
  const shown = new Set(accounts.map(({ target }) => target));
  const filter = [...states, ...labels];
  return markupOf(
    page({
      title: "Accounts",
      titleNote: "",
      about: html`${filter.length > 0 && html`<p>${counted(accounts.length, "account")} of ${all.length}: ${filter.join(", ")}. <a href="/">Show all</a></p>`}${filterLinks(all, query)}`,
      lead: leadHtml(accounts),
      tiles: [],
      parts: [
        { id: "exposed", title: "Exposed now", html: causesHtml(accounts, true) },
        { id: "accounts", title: "Accounts", count: accounts.length, html: accountsHtml(accounts) },
        { id: "causes", title: "Other differences", html: causesHtml(accounts, false) },
        {
          id: "repaired",
          title: "Repaired in the last 24 hours",
          html: repairsHtml(
            repairs.filter(({ target }) => shown.has(target)),
            true,
          ),
        },
      ],
      footer: footerHtml(html`<a href="/api/accounts">JSON</a> · <a href="/metrics">Metrics</a>`),
      extraStyle,
    }),
  );
}

/** "2 of 40 accounts expose 3 columns." with what limits it. */
function leadHtml(accounts: readonly Account[]): Html {
  if (accounts.length === 0)
    return note(
      "warn",
      html`<p><strong>No account is under control.</strong> Add <code>controller</code> to a target in dimsync.yaml, and commit it.</p>`,
    );
  const exposed = accounts.filter((account) => account.exposed > 0);
  const columns = exposed.reduce((sum, account) => sum + account.exposed, 0);
  const unsure = accounts.filter(({ error, isStale, checkedAt }) => error !== null || isStale || checkedAt === null);
  const since = exposed.flatMap(({ exposedSince }) => exposedSince ?? []).sort()[0];
  const verb = exposed.length === 1 ? "exposes" : "expose";
  const sentence =
    exposed.length > 0
      ? `${exposed.length} of ${counted(accounts.length, "account")} ${verb} ${counted(columns, "column")}.`
      : `${accounts.length === 1 ? "The account exposes" : `None of ${counted(accounts.length, "account")} exposes`} a column${unsure.length > 0 ? ", as far as is known" : ""}.`.replace(
          "The account exposes a column",
          "The account exposes no column",
        );
  const limit =
    unsure.length > 0 &&
    `The current state of ${counted(unsure.length, "account")} is not known: ${unsure.length === 1 ? "it is" : "they are"} failing, stale or not checked yet.`;
  const tone = exposed.length > 0 ? "bad" : unsure.length > 0 ? "warn" : "good";
  return note(tone, html`<p><strong>${sentence}</strong> ${since !== undefined && html`Found first ${ageHtml(since)}.`} ${limit}</p>`);
}

/** Links, because a form needs no less, and the page may submit none. */
function filterLinks(accounts: readonly Account[], query: URLSearchParams): Html {
  const linkTo = (name: string, value: string, text: Content): Html => {
    const isOn = query.getAll(name).includes(value);
    return html`<a href="/?${new URLSearchParams({ [name]: value }).toString()}" aria-current=${isOn && "true"}>${text}</a>`;
  };
  const byState = grouped(accounts, stateOf).map((some) => linkTo("state", stateOf(some[0]), [String(some.length), " ", stateOf(some[0])]));
  const labels = [...new Set(accounts.flatMap(labelsOf))].sort().slice(0, mostLabels);
  const all = [...byState, ...labels.map((label) => linkTo("label", label, label))];
  return all.length < 2 ? html`` : html`<nav aria-label="Filter"><ul>${all.map((one) => html`<li>${one}</li>`)}</ul></nav>`;
}

const mostLabels = 12;
const labelsOf = ({ labels }: Account): readonly string[] => Object.entries(labels).map(([name, value]) => `${name}=${value}`);

const accountLink = (target: string): Html => html`<a href="/accounts/${encodeURIComponent(target)}">${target}</a>`;

function accountsHtml(accounts: readonly Account[]): Html {
  const rows = accounts.map((account): readonly Content[] => {
    const state = stateOf(account);
    const { target, error, isStale, exposed, differences, policy, manual, checkedAt, ageMs, commit, mode, locked, sending } = account;
    return [
      [accountLink(target), labelsOf(account).length > 0 && html`<span class="why quiet">${labelsOf(account).join(" ")}</span>`],
      [
        joined(
          [
            chip(state, tones[state]),
            state !== "failing" && error !== null && chip("failing", "warn"),
            state !== "stale" && isStale && chip("stale", "warn"),
            locked !== null && chip("locked", "info"),
          ],
          " ",
        ),
        error !== null && html`<span class="why">${firstSentence(error)}</span>`,
        locked !== null && html`<span class="why">Locked: ${locked}</span>`,
        sending !== null && html`<span class="why">Sending: ${sending}</span>`,
      ],
      numberHtml(exposed, true),
      numberHtml(differences + policy),
      numberHtml(manual),
      checkedAt === null || ageMs === null
        ? quiet("never")
        : html`<time datetime=${checkedAt} title=${timeText(checkedAt)} class=${isStale && "late"}>${durationText(ageMs)} ago</time>`,
      commit === null ? "" : code(commit.slice(0, 7)),
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

const mostCauses = 30;

/** Equal findings of all accounts together. */
function causesHtml(accounts: readonly Account[], isExposed: boolean): Html {
  const all = accounts.flatMap(({ target, findings, exposedSince, mode, locked }) =>
    findings.filter((finding) => finding.isExposed === isExposed).map((finding) => ({ ...finding, target, exposedSince, mode, locked })),
  );
  const groups = grouped(all, ({ what, actor = "", event }) => JSON.stringify([what, actor, event === undefined]));
  const rows = groups.slice(0, mostCauses).map((group): readonly Content[] => {
    const [first] = group;
    const since = group.flatMap(({ at, exposedSince }) => at ?? exposedSince ?? []).sort()[0];
    const places = [
      ...new Map(group.map(({ target, place }) => [`${target} ${place}`, [accountLink(target), " ", quiet(place)]])).values(),
    ];
    const events = [...new Set(group.flatMap(({ event }) => event ?? []))];
    return [
      [isExposed && html`<strong>${first.what}</strong>`, !isExposed && first.what],
      andMore(places, "place", { shown: 4 }),
      since === undefined ? "" : [first.actor === undefined && first.event === undefined && "found ", ageHtml(since)],
      first.actor ?? (events.length > 0 ? andMore(events, "event", { shown: 2 }) : quiet("not in the audit log")),
      ...(isExposed ? [nextHtml(group)] : []),
    ];
  });
  if (rows.length === 0) return html``;
  const heads = ["What", "Where", "Since", "By", ...(isExposed ? ["What happens next"] : [])];
  const more = groups.length - rows.length;
  return blocks(
    table(isExposed ? "What is exposed" : "Other differences", heads, rows, "causes"),
    more > 0 && html`<p class="quiet">and ${counted(more, "more")}; each account has its own.</p>`,
  );
}

function nextHtml(
  group: readonly [{ readonly mode: string; readonly locked: string | null; readonly target: string }, ...unknown[]],
): Content {
  const [{ mode, locked, target }] = group;
  if (locked !== null) return "Locked: nothing is repaired.";
  if (mode === "protect") return "The controller repairs it with the next check.";
  return html`Repair: <code>dimsync apply -t ${shellWord(target)} --protect-only</code>`;
}

/** "12 min ago", with the time as its title. */
function ageHtml(iso: string): Html {
  return html`<time datetime=${iso} title=${timeText(iso)}>${durationText(Date.now() - Date.parse(iso))} ago</time>`;
}

const mostRepairs = 50;

function repairsHtml(repairs: readonly Repaired[], withTarget: boolean): Html {
  const groups = grouped(repairs, ({ target, path, actor, doneAt }) =>
    JSON.stringify([withTarget ? "" : target, path, actor, doneAt.slice(0, 16)]),
  );
  const rows = groups.slice(0, mostRepairs).map((group): readonly Content[] => {
    const [{ path, actor, changedAt, doneAt }] = group;
    const places = group.map(({ target, address }) => (withTarget ? [accountLink(target), " ", quiet(address)] : address));
    return [
      wholePath(path),
      andMore(places, "place"),
      html`<time datetime=${doneAt}>${timeText(doneAt)}</time>`,
      actor ?? quiet("not in the audit log"),
      changedAt === null ? quiet("not known") : durationText(Date.parse(doneAt) - Date.parse(changedAt)),
    ];
  });
  return rows.length === 0
    ? html``
    : table("What the controller repaired", ["What", "Where", "Repaired", "Changed by", "Readable for"], rows, "causes");
}

/** The report of the last check, with what to do. */
export function accountPage(account: Account, report: Plan | undefined, repaired: readonly Repaired[]): string {
  const { target, error, locked, commit, mode, everyMs, checkedAt, exposed } = account;
  const state = stateOf(account);
  const shown = report === undefined ? undefined : documentPage(report, { color: false, verbose: false });
  const facts = [
    `Checked every ${durationText(everyMs)}`,
    checkedAt !== null && html`last at <time datetime=${checkedAt}>${timeText(checkedAt)}</time>`,
    commit !== null && html`commit ${code(commit.slice(0, 12))}`,
    `mode ${mode}`,
    ...labelsOf(account),
  ];
  return markupOf(
    page({
      title: target,
      titleNote: "",
      about: html`<nav aria-label="Breadcrumb"><ul><li><a href="/">All accounts</a></li></ul></nav><p class="quiet">${joined(facts, " · ")}</p>`,
      lead: blocks(
        html`<p class="headline">${chip(state, tones[state])} <span>${exposed > 0 ? `${counted(exposed, "column")} exposed.` : shown === undefined && "Not checked yet."}</span></p>`,
        error !== null && note("bad", html`<p><strong>The last check failed.</strong> ${error}</p>`),
        locked !== null && note("info", html`<p><strong>Locked.</strong> ${locked}. Nothing is repaired until then.</p>`),
      ),
      tiles: shown?.tiles ?? [],
      parts: [
        { id: "do", title: "What to do", html: commandsHtml(account) },
        { id: "repaired", title: "Repaired in the last 24 hours", html: repairsHtml(repaired, false) },
        ...(shown?.parts ?? []),
      ],
      footer: footerHtml(html`<a href="/api/accounts/${encodeURIComponent(target)}">JSON</a>`),
      extraStyle,
    }),
  );
}

/** The commands that fix it, and where to run them. */
function commandsHtml(account: Account): Html {
  const { target, commit, exposed, error } = account;
  const on = `-t ${shellWord(target)}`;
  const steps: readonly (readonly [text: string, line: string])[] = [
    ...(exposed > 0 ? [["Hash and switch off what should be, and send nothing else:", `dimsync apply ${on} --protect-only`] as const] : []),
    ...(stateOf(account) === "in sync" ? [] : [["See all differences, and who made them:", `dimsync drift ${on}`] as const]),
    ...(exposed + account.differences > 0
      ? [["Keep what is in the account, and change the manifests:", `dimsync drift ${on} --resolve accept`] as const]
      : []),
    ...(error === null ? [] : [["Find out why the check fails:", `dimsync doctor ${on}`] as const]),
    ["Pause repairs:", `dimsync records lock ${on} --reason "migration" --until 2027-01-31T18:00:00Z`],
  ];
  const where =
    commit === null ? "a checkout of the project" : html`a checkout of the project at commit ${code(commit.slice(0, 12))} or later`;
  return blocks(
    html`<p>Run these in ${where}, with the API key of the account.</p>`,
    list(
      steps.map(([text, line]) => [text, command(line)]),
      "steps",
    ),
  );
}

const footerHtml = (links: Html): Html => html`<p>dimsync controller · state at ${timeText(new Date().toISOString())} · ${links}</p>`;

const extraStyle = html`.why{display:block;font-size:.875rem;overflow-wrap:anywhere}.alarm,.late{color:var(--bad)}
.accounts td:nth-child(n+3):nth-child(-n+5){font-variant-numeric:tabular-nums}
nav a[aria-current]{font-weight:650;color:var(--fg)}
@media (min-width:44.01rem){.accounts tbody th,.causes tbody th{width:22%}.accounts tbody td,.accounts tbody td:last-child:not(:only-of-type),.causes tbody td:last-child:not(:only-of-type){min-width:0}}
@media (max-width:44rem){.accounts tbody td:has(>.zero){display:none}}`;
