import type { Item, Plan } from "../../model/plan.ts";
import { callsText, counted } from "../../text/counts.ts";
import type { RenderOptions } from "../document.ts";
import { actorText, timeText } from "../report/attribution.ts";
import { openFindings } from "../report/findings.ts";
import { relationTarget } from "../report/groups.ts";
import { blockedReason, emptyText, exitText, isEmpty, totalsText } from "../report/totals.ts";
import { type Wording, wordingOf } from "../report/wording.ts";
import { changeCounts, changeTables } from "./changes.ts";
import { chart } from "./chart.ts";
import { blocks, chip, code, escaped, prose } from "./escape.ts";
import {
  blockedList,
  checklist,
  deferredList,
  diagnosticList,
  guardNotes,
  policyList,
  unmanagedList,
  unverifiableList,
} from "./findings.ts";
import { type Group, groupsOf } from "./groups.ts";
import type { Page } from "./page.ts";

// Up to this many changes or objects in all, every object is open from the start.
const mostOpenChanges = 60;
const fewObjects = 3;
const bundleSize = 100;

/** A plan or a drift report as a page: what is wrong first, then what differs by object, what a person must do, and how it came to be so. */
export function planPage(plan: Plan, options: RenderOptions): Page {
  const history = options.history?.get(plan.planId);
  const wording = wordingOf(plan);
  const isDrift = plan.kind === "DriftReport";
  const done = history?.done ?? [];
  const groups = groupsOf(plan.items, wording.alarm);
  const changeCount = plan.items.reduce((sum, { changes }) => sum + changes.length, 0);
  const { unmanaged, manual, blocked, deferred, unverifiable, diagnostics, guards } = plan;
  const findings = openFindings(plan.policy);
  const unmanagedCount = unmanaged.integrations.length + unmanaged.tags.length;
  return {
    title: `${wording.title} for ${plan.target}`,
    lead: lead(plan),
    parts: [
      { id: "guards", title: "Guards", count: guards.length, html: guardNotes(guards) },
      {
        id: "differences",
        title: isDrift ? "Differences" : "Changes",
        count: changeCount,
        html: groupsHtml(groups, changeCount <= mostOpenChanges || groups.length <= fewObjects, wording),
      },
      { id: "by-hand", title: "To do by hand", count: manual.length, html: checklist(manual, done) },
      { id: "policies", title: "Policy findings", count: findings.length, html: policyList(findings) },
      { id: "blocked", title: "Blocked", count: blocked.length, html: blockedList(blocked) },
      { id: "deferred", title: "Deferred", count: deferred.length, html: deferredList(deferred) },
      { id: "over-time", title: "Drift over time", html: history === undefined ? "" : chart(history) },
      { id: "unmanaged", title: "Not managed by any manifest", count: unmanagedCount, html: unmanagedList(unmanaged) },
      { id: "unverifiable", title: "Can't be verified", count: unverifiable.length, html: unverifiableList(unverifiable) },
      { id: "diagnostics", title: "Diagnostics", count: diagnostics.length, html: diagnosticList(diagnostics) },
    ],
    footer: footer(plan),
  };
}

function lead(plan: Plan): string {
  const { account, createdAt, git, summary, unmanaged } = plan;
  const findings = openFindings(plan.policy);
  const commit = git === undefined ? "" : `, commit ${code(git.commit.slice(0, 12))}${git.dirty ? " with uncommitted changes" : ""}`;
  const about = `<p class="quiet">${escaped(account)}, <time datetime="${escaped(createdAt)}">${escaped(timeText(createdAt))}</time>${commit}</p>`;
  const empty = isEmpty(plan);
  const verdict = empty ? emptyText(plan) : `${totalsText(plan)}.`;
  const obstacle = blockedReason(plan);
  const isDrift = plan.kind === "DriftReport";
  const tiles: readonly (readonly [label: string, count: number, isAlarming: boolean])[] = [
    [isDrift ? "differences" : "changes", plan.items.reduce((sum, { changes }) => sum + changes.length, 0), false],
    [isDrift ? "exposed" : "expose", (isDrift ? summary.exposed : summary.exposes) ?? 0, true],
    ["to do by hand", summary.manual, false],
    ["blocked", summary.blocked, false],
    ["policy findings", findings.length, findings.some(({ severity }) => severity === "error")],
    ["not managed", unmanaged.integrations.length + unmanaged.tags.length, false],
  ];
  return blocks(
    about,
    `<p class="verdict">${chip(empty ? "clean" : plan.exit.code === 1 ? "error" : isDrift ? "drift" : "changes", empty ? "good" : plan.exit.code === 1 ? "bad" : "warn")} <span>${escaped(verdict)}</span></p>`,
    obstacle === "" ? "" : `<div class="note bad"><p>${prose(obstacle)}</p></div>`,
    `<dl class="tiles">${tiles
      .map(
        ([label, count, isAlarming]) => `<div${isAlarming && count > 0 ? ' class="alarm"' : ""}><dt>${label}</dt><dd>${count}</dd></div>`,
      )
      .join("")}</dl>`,
  );
}

/** Of many objects the first are listed, and the others come in bundles: a browser lays out only what is open. */
function groupsHtml(groups: readonly Group[], isOpen: boolean, wording: Wording): string {
  const drawn = (some: readonly Group[]): string => some.map((group) => groupHtml(group, isOpen, wording)).join("\n");
  const bundles: string[] = [];
  for (let from = bundleSize; from < groups.length; from += bundleSize) {
    const some = groups.slice(from, from + bundleSize);
    const name = `${some[0]?.title ?? ""} to ${some.at(-1)?.title ?? ""}`;
    bundles.push(
      `<details class="card"><summary>Objects ${from + 1} to ${from + some.length} of ${groups.length} <span class="quiet">${escaped(name)}</span></summary><div class="inside">\n${drawn(some)}\n</div></details>`,
    );
  }
  return blocks(drawn(groups.slice(0, bundleSize)), ...bundles);
}

function groupHtml({ title, key, liveId, items }: Group, isOpen: boolean, wording: Wording): string {
  const changes = items.flatMap((item) => item.changes);
  const [count = "", alarm] = changeCounts(changes, wording);
  const id = liveId === undefined ? "" : ` <span class="quiet small">${escaped(liveId)}</span>`;
  return `<details class="card"${isOpen ? " open" : ""}><summary><h3>${escaped(title)}</h3>${id} ${chip(count, "quiet")}${alarm === undefined ? "" : chip(alarm, "bad")}${peopleText(items)}</summary><div class="inside">
${items.map((item) => itemHtml(item, key, wording)).join("\n")}
</div></details>`;
}

/** Who is named in the group: the first two, and how many more. */
function peopleText(items: readonly Item[]): string {
  const people = [
    ...new Set(
      items.flatMap(({ changes }) => changes.flatMap(({ attribution }) => (attribution === undefined ? [] : actorText(attribution)))),
    ),
  ].filter((name) => name !== "");
  if (people.length === 0) return "";
  const more = people.length > 2 ? ` and ${people.length - 2} more` : "";
  return ` <span class="quiet small">by ${escaped(people.slice(0, 2).join(", "))}${more}</span>`;
}

const actionWords: Readonly<Record<Item["action"], readonly [plan: string, drift: string]>> = {
  create: ["is created", "is missing"],
  update: ["is updated", "differs"],
  relate: ["is attached", "is not attached"],
  bind: ["id is recorded", "id is not recorded"],
};

function itemHtml(item: Item, groupKey: string, wording: Wording): string {
  const { address, action, liveName, liveId, changes, requests, exposedColumns = 0 } = item;
  const isDrift = wording.title === "Drift";
  const on = relationTarget(item);
  const live = [liveName === undefined ? "" : escaped(liveName), liveId === undefined ? "" : code(liveId)]
    .filter((part) => part !== "")
    .join(" ");
  const target = on === undefined ? "" : ` on ${escaped(on.type)} ${code(on.id)}`;
  const heading = `<h4>${escaped(address)} ${actionWords[action][isDrift ? 1 : 0]}${target} <span class="quiet small">${live}</span></h4>`;
  return blocks(
    heading,
    changeTables(changes, address === groupKey ? "Its differences" : `Differences of ${address}`, wording),
    exposedColumns > 0 && !isDrift
      ? `<p>${chip(`${counted(exposedColumns, "column")} will flow in clear, or more than now`, "bad")}</p>`
      : "",
    isDrift || requests.length === 0
      ? ""
      : `<p class="small">Calls: ${requests.map(({ method, path }) => code(`${method} ${path}`)).join(", ")}</p>`,
  );
}

function footer(plan: Plan): string {
  const send = plan.kind === "Plan" && !isEmpty(plan) ? `Apply will send: ${callsText(plan.calls.planned)}. ` : "";
  const exit = exitText(plan.exit, plan.kind);
  return `<p>${send}Read with ${callsText(plan.calls.read)}.${exit === "" ? "" : ` ${escaped(exit)}`}</p>
<p>${escaped(plan.tool.name)} ${escaped(plan.tool.version)}, ${plan.kind === "Plan" ? "plan" : "report"} ${code(plan.planId)}</p>`;
}
