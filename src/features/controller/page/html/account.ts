import { commandThatShows } from "../../../../core/model/titles.ts";
import {
  aside,
  blocks,
  type Content,
  chip,
  code,
  folded,
  type Html,
  html,
  isEmpty,
  joined,
  list,
  note,
  table,
} from "../../../../core/render/html/html.ts";
import { counted, durationText } from "../../../../core/text/counts.ts";
import { shellWord } from "../../../../core/text/shell.ts";
import { shortDigest } from "../../projects/bundle.ts";
import { type AccountDetail, type Acknowledgement, isExposed, type Removal, type RunSummary, type Suspension } from "../../views/status.ts";
import { labelsOf } from "../accounts.ts";
import { accountNamed, type PageReads } from "../reads.ts";
import type { HtmlPage } from "../reply.ts";
import type { PageRequest } from "../routes.ts";
import { stateHtml } from "./accounts.ts";
import { eventTable, findingCards } from "./findings.ts";
import { pageAsked, pager } from "./pager.ts";
import { accountsCrumb, facts, shell, time } from "./shell.ts";
import { timeline } from "./timeline.ts";
import {
  accountHref,
  ageHtml,
  bundleHref,
  commandHtml,
  commitHtml,
  link,
  modeTexts,
  numberHtml,
  runHref,
  stateTexts,
  tile,
} from "./words.ts";

const runsPerPage = 20;

/** `/accounts/NAME`: the differences, who made them, the commands that fix it, and the history. */
export async function accountPage(reads: PageReads, { query, now, login }: PageRequest, name: string): Promise<HtmlPage> {
  const page = pageAsked(query);
  const account = await accountNamed(reads, name);
  const href = accountHref(account.name);
  // One more shows whether there are older ones.
  const runs = await reads.runs(account.name, { offset: (page - 1) * runsPerPage, limit: runsPerPage + 1 });
  const { findings, suspensions, acknowledgements, events } = account;
  const isRemoved = account.removed !== undefined;
  const fix = isRemoved ? html`` : fixHtml(account);
  return shell({
    title: account.name,
    note: isRemoved ? chip("removed", "info") : stateHtml(account),
    about: aboutHtml(account, now),
    crumbs: accountsCrumb,
    now,
    login,
    isLive: true,
    sections: [
      { id: "state", title: "", html: summaryHtml(account, now) },
      { id: "fix", title: isEmpty(fix) ? "" : "Fix it", html: fix },
      {
        id: "findings",
        title: isRemoved ? "Differences at the last check" : "Current differences",
        count: findings.length,
        html: findings.length === 0 ? noFindings(account) : findingCards(findings, now),
      },
      { id: "timeline", title: "Last 90 days", html: timeline(account.timeline, now) },
      {
        id: "events",
        title: "What changed",
        html: events.length === 0 ? html`<p class="quiet">No finding was opened or closed yet.</p>` : eventsHtml(account),
      },
      {
        id: "runs",
        title: "Runs",
        html: blocks(runTable(runs.slice(0, runsPerPage), now), pager(href, query, page, runs.length > runsPerPage ? page + 1 : page)),
      },
      ...(isRemoved && suspensions.length === 0
        ? []
        : [{ id: "suspensions", title: "Suspensions", html: suspensionTable(suspensions, account, now) }]),
      ...(acknowledgements.length === 0
        ? []
        : [{ id: "acknowledgements", title: "Acknowledgements", html: acknowledgementTable(acknowledgements) }]),
    ],
  });
}

function aboutHtml(account: AccountDetail, now: Date): Html {
  const { source, target, name, mode, everyMs, intervalMs, lastCheckedAt, nextCheckAt, digest, isCurrent, running, suspension, removed } =
    account;
  const late = (text: string): Html => html` <span class="late">(${text})</span>`;
  const next =
    removed !== undefined
      ? "never"
      : running !== undefined
        ? ["running since ", ageHtml(running.since, now), ` on ${running.worker}`]
        : suspension !== undefined
          ? "suspended"
          : ageHtml(nextCheckAt, now);
  return facts([
    ["Last check", lastCheckedAt === undefined ? "never" : [ageHtml(lastCheckedAt, now), " ", aside(time(lastCheckedAt))]],
    ["Next check", next],
    ["Interval", [durationText(everyMs), intervalMs > everyMs && late(`now every ${durationText(intervalMs)}: the service is overloaded`)]],
    ["Mode", html`<strong>${mode}</strong> ${aside(modeTexts[mode])}`],
    [
      "Bundle",
      [
        digest === undefined ? "the working folder" : [link(bundleHref(digest), code(shortDigest(digest))), " ", commitHtml(account)],
        !isCurrent && late(`${digest === undefined ? "changed" : "pushed"}, not checked yet`),
      ],
    ],
    ["Source", name === `${source}/${target}` ? `${source}, target ${target}` : source],
    ...(labelsOf(account).length === 0 ? [] : [["Labels", labelsOf(account).join(" ")] as const]),
  ]);
}

/** One sentence, the numbers, and why the state is not known. */
function summaryHtml(account: AccountDetail, now: Date): Html {
  const { state, exposedColumns, differences, manual, policyViolations, error, isStale, lastRun, removed } = account;
  const { suspension, silence, acknowledged } = account;
  const tone = isExposed(account) ? "bad" : stateTexts[state].tone === "quiet" ? "info" : stateTexts[state].tone;
  const exposed = [
    tile(exposedColumns, "exposed columns", { isAlarm: true }),
    tile(policyViolations, "policy violations", { isAlarm: true }),
  ];
  const others = [tile(differences, "differences"), tile(manual, "manual steps")];
  const stopped = (what: string, { by, until, reason }: Pick<Suspension, "by" | "until" | "reason">): Html =>
    html`<p class="note info">${what} by ${by} until ${time(until)}: ${reason}</p>`;
  const report = lastRun !== undefined && [" ", link(runHref(lastRun), "Report of the last run")];
  return blocks(
    removed !== undefined
      ? removedHtml(removed, report)
      : html`<p class="lead ${tone}"><strong>${stateTexts[isExposed(account) ? "exposed" : state].meaning}</strong>${report}</p>`,
    suspension !== undefined && stopped("Suspended", suspension),
    silence !== undefined && stopped("Notifications silenced", silence),
    acknowledged !== undefined &&
      html`<p class="note info">Acknowledged by ${acknowledged.by} at ${time(acknowledged.at)}: ${acknowledged.reason}. “${acknowledged.events.join(", ")}” is not sent again until it is over. What is new is sent.</p>`,
    error !== undefined && note("bad", html`<p><strong>The last run failed.</strong> ${code(error.code)}</p><p>${error.message}</p>`),
    isStale &&
      state !== "stale" &&
      html`<p class="note bad">Not checked within three intervals. The numbers are ${account.lastCheckedAt === undefined ? "not known" : ageHtml(account.lastCheckedAt, now)}.</p>`,
    html`<ul class="tiles">${exposed}${others}</ul>`,
  );
}

function removedHtml({ at, by, commit }: Removal, report: Content): Html {
  const who = by === undefined ? "by a change of the watched project" : `by ${by}`;
  return html`<p class="lead info"><strong>No longer under control.</strong> It was removed at ${time(at)} ${who}${commit !== undefined && [" with commit ", commitHtml({ commit })]}. Nothing checks it, and all on this page is as of then.${report}</p>`;
}

/** What to do, as commands, and where to run them. Empty if there is nothing to do. */
function fixHtml(account: AccountDetail): Html {
  const steps = [...failureSteps(account), ...driftSteps(account)];
  const manual = account.findings.filter(({ kind }) => kind === "manual").length;
  return blocks(
    steps.length > 0 && html`<p>${placeHtml(account)}</p>`,
    list(
      steps.map(({ title, text, commands }) => html`<p><strong>${title}</strong>: ${text}</p>${commands.map(commandHtml)}`),
      "steps beside",
    ),
    manual > 0 && html`<p>${counted(manual, "difference")} can only be fixed by hand: follow the instruction beside it.</p>`,
  );
}

interface Step {
  readonly title: string;
  readonly text: string;
  readonly commands: readonly string[];
}

/** Where commands work: they need the manifests that the account is compared with. */
function placeHtml(account: AccountDetail): Html {
  const { source, digest, commit } = account;
  if (digest === undefined) return html`Run the commands in the folder ${code(source)}.`;
  return commit === undefined
    ? html`Run the commands in the folder that was pushed as ${code(source)}.`
    : html`Run the commands in a checkout of ${code(source)} at ${commitHtml(account)}.`;
}

/** A check that failed, or that nobody makes. */
function failureSteps({ name, target, error, suspension, isStale, digest }: AccountDetail): readonly Step[] {
  const check = `dimsync controller check ${shellWord(name)} --wait`;
  const t = `-t ${shellWord(target)}`;
  if (suspension !== undefined)
    return [{ title: "Resume", text: "end the suspension, and check now.", commands: [`dimsync controller resume ${shellWord(name)}`] }];
  if (error === undefined)
    return isStale ? [{ title: "Check", text: "start a worker if none runs, and check now.", commands: [check] }] : [];
  if (error.code === "E_PROTECT_STOPPED") return [{ title: "Agree", text: `${error.message} Then revert or accept it.`, commands: [] }];
  if (error.code === "E_RUN_INTERRUPTED") return [{ title: "Check", text: "compare the account again.", commands: [check] }];
  if (error.code === "E_GUARD") {
    const text = "see what the guard refused to send, and apply it yourself if it is right.";
    return [{ title: "Review", text, commands: [`dimsync plan ${t}`] }];
  }
  const command = commandThatShows(error.code);
  if (command !== undefined) {
    const text = digest === undefined ? "it is loaded again when you save it." : "then commit and push it. CI brings it to the controller.";
    return [{ title: "Correct the project", text, commands: [`dimsync ${command} ${t}`] }];
  }
  return [
    { title: "Find the reason", text: "check the API key, the service and the records from here.", commands: [`dimsync doctor ${t}`] },
    { title: "Check again", text: "when it is fixed. The worker uses its own environment.", commands: [check] },
  ];
}

/** The two ways to end a drift. */
function driftSteps({ target, findings }: AccountDetail): readonly Step[] {
  if (findings.every(({ kind }) => kind === "manual" || kind === "blocked")) return [];
  const t = `-t ${shellWord(target)}`;
  return [
    {
      title: "Revert",
      text: "restore what the manifests declare. Review the plan before you apply it.",
      commands: [`dimsync drift ${t} --resolve revert`, `dimsync apply ${t} revert.plan.json`],
    },
    {
      title: "Accept",
      text: "edit the manifests so that they match the account. Commit the edit.",
      commands: [`dimsync drift ${t} --resolve accept`],
    },
  ];
}

const noFindings = ({ lastCheckedAt }: AccountDetail): Html =>
  html`<div class="empty"><p>${lastCheckedAt === undefined ? "The account has not been compared yet." : "The last comparison found no difference."}</p></div>`;

const eventsShown = 10;

function eventsHtml({ events }: AccountDetail): Html {
  const rest = events.slice(eventsShown);
  return blocks(
    eventTable(events.slice(0, eventsShown)),
    rest.length > 0 && folded(counted(rest.length, "older event"), eventTable(rest), "more-events"),
  );
}

function runTable(runs: readonly RunSummary[], now: Date): Html {
  if (runs.length === 0) return html`<p class="quiet">No run yet.</p>`;
  const rows = runs.map((run) => [
    html`${link(runHref(run.id), time(run.finishedAt))} ${aside(ageHtml(run.finishedAt, now))}`,
    resultHtml(run),
    numberHtml(run.exposedColumns, true),
    numberHtml(run.differences),
    numberHtml(run.manual),
    numberHtml(run.changesSent),
    durationText(Date.parse(run.finishedAt) - Date.parse(run.startedAt)),
    html`<span class="small">${run.reason} · ${run.mode} · ${run.worker}</span>`,
  ]);
  return table(
    "Runs, newest first",
    ["Finished", "Result", "Exposed", "Differences", "Manual", "Sent", "Duration", "Why, mode, worker"],
    rows,
    "runs",
  );
}

function resultHtml({ exit, error, isSending }: RunSummary): Html {
  if (isSending) return chip("sending", "info");
  if (error !== undefined) return html`${chip("failed", "bad")} <span class="why">${code(error.code)} ${error.message}</span>`;
  if (exit.code === 0) return chip("in sync", "good");
  const reasons = exit.reasons.length > 0 && html`<span class="small">${exit.reasons.join(", ")}</span>`;
  return joined([chip(`exit ${exit.code}`, exit.code === 2 ? "warn" : "bad"), reasons], " ");
}

function suspensionTable(suspensions: readonly Suspension[], { name }: AccountDetail, now: Date): Html {
  if (suspensions.length === 0)
    return html`<p class="quiet">Never suspended. To stop checks for some time:</p>\n${commandHtml(`dimsync controller suspend ${shellWord(name)} --until 2h --reason "…"`)}`;
  const rows = suspensions.map(({ reason, at, by, until, resumedAt, resumedBy }) => [
    reason,
    by,
    time(at),
    resumedAt === undefined
      ? joined([time(until), Date.parse(until) > now.getTime() && chip("now", "info")], " ")
      : html`${time(resumedAt)} ${aside(`resumed${resumedBy === undefined ? "" : ` by ${resumedBy}`}`)}`,
  ]);
  return table("Suspensions, newest first", ["Reason", "By", "From", "To"], rows);
}

const acknowledgementTable = (all: readonly Acknowledgement[]): Html =>
  table(
    "Acknowledgements, newest first",
    ["Reason", "By", "What", "From", "Over"],
    all.map(({ reason, by, events, at, endedAt }) => [
      reason,
      by,
      events.join(", "),
      time(at),
      endedAt === undefined ? chip("not sent again", "info") : time(endedAt),
    ]),
  );
