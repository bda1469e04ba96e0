import { policyAddress } from "../../kinds/manifests.ts";
import { changeCount } from "../../model/changes.ts";
import type { GuardFinding } from "../../model/findings.ts";
import { getOrAdd } from "../../model/maps.ts";
import type { Blocked, Deferred, Unverifiable } from "../../model/plan.ts";
import { type Diagnostic, placeText, type Severity } from "../../model/problem.ts";
import { counted } from "../../text/counts.ts";
import { grouped } from "../../text/lists.ts";
import { nameText, wholePath } from "../../text/paths.ts";
import { outcomeSigns, severitySigns } from "../../text/signs.ts";
import { valueLines } from "../../text/values.ts";
import {
  code,
  type Entry,
  id,
  type Line,
  listLine,
  muted,
  name,
  place,
  type Row,
  type Section,
  type Tone,
  value,
  word,
} from "../blocks.ts";
import type { ManualStep, ReportContent } from "../report.ts";
import { traceText } from "./attribution.ts";
import { blockedGroups } from "./blocked.ts";
import type { ReportColumn } from "./columns.ts";
import { heldNote } from "./held.ts";
import type { ImpactOf } from "./impact.ts";
import type { ReportOutcome } from "./outcomes.ts";
import { nodeCount, type PolicyGroup } from "./policies.ts";
import { guardText, liftReason } from "./refusals.ts";
import { integrationsText } from "./unmanaged.ts";
import { partTitles } from "./words.ts";

/** Everything but the changes, in the order of a page. A section without entries is left out. */
export const sectionsOf = (report: ReportContent): readonly Section[] =>
  [
    next(report),
    guards(report),
    failedReads(report),
    outcomes(report),
    ...problems(report),
    ...policies(report),
    outside(report),
    impact(report),
    released(report),
    columns(report),
    manual(report),
    done(report),
    blocked(report.blocked),
    held(report),
    deferred(report.deferred),
    unverifiable(report.unverifiable),
    unmanaged(report),
    ...lone(report),
    ids(report),
  ].filter(({ entries, isSentence }) => entries.length > 0 || isSentence === true);

export const severityTones: Readonly<Record<Severity, Tone>> = { error: "bad", warning: "warn", info: "info" };

/** What to do about drift. */
const next = (report: ReportContent): Section => ({
  id: "next",
  title: "What to do next",
  count: 0,
  part: "decision",
  isPlain: true,
  entries: report.next.map(({ text, commands }) => ({ head: [[text]], commands })),
});

/** A guard refuses, or is lifted. A drift report applies nothing, so nothing lifts them. */
function guards({ guards: all, words }: ReportContent): Section {
  const entry = (guard: GuardFinding): Entry => {
    const isLifted = guard.allowed !== undefined;
    const isReport = words.kind === "DriftReport";
    const lift = isLifted ? `Reason: ${liftReason(guard)}` : isReport ? "" : "To lift it, give a reason. It is recorded in the result.";
    return {
      sign: isLifted ? "✓" : "✗",
      tone: isLifted ? "info" : isReport ? "warn" : "bad",
      head: [[name(guardText(guard, words.kind))]],
      notes: [[guard.message], [lift]],
      commands: isLifted || isReport ? [] : [`--allow ${guard.guard}="reason"`],
    };
  };
  return {
    id: "guards",
    title: partTitles.guards,
    count: all.length,
    part: "decision",
    isPlain: true,
    isAlert: true,
    entries: all.map(entry),
  };
}

const isFailedRead = ({ code: of }: Diagnostic): boolean => of === "E_READ_FAILED";

/** The cause of blocked or missing entries. */
const failedReads = ({ problems: all }: ReportContent): Section => problemSection("failed-reads", "Failed reads", all.filter(isFailedRead));

// More warnings than this are folded.
const mostWarnings = 5;

/** Errors first; many warnings are a section of their own. */
function problems({ problems: all }: ReportContent): readonly Section[] {
  const shown = all.filter((problem) => !isFailedRead(problem));
  const warnings = shown.filter(({ severity }) => severity !== "error");
  if (warnings.length <= mostWarnings) return [problemSection("problems", partTitles.problems, shown)];
  const errors = shown.filter(({ severity }) => severity === "error");
  return [problemSection("problems", partTitles.problems, errors), { ...problemSection("warnings", "Warnings", warnings), isFolded: true }];
}

const problemSection = (id: string, title: string, all: readonly Diagnostic[]): Section => ({
  id,
  title,
  count: all.length,
  part: id === "failed-reads" ? "cause" : "attention",
  isPlain: true,
  entries: all.map(problemEntry),
});

/** Location, code and summary; the source line with its caret; the message; a command. */
export function problemEntry(problem: Diagnostic): Entry {
  const { severity, code: of, summary, message, command, address = "", excerpt, line } = problem;
  const tone = severityTones[severity];
  return {
    label: severity,
    tone,
    head: [[name(placeText(problem) || address)], [code(of, tone)], [summary]],
    excerpt: excerpt === undefined ? undefined : { line, text: excerpt },
    notes: [[message]],
    commands: command === undefined ? [] : [command],
  };
}

const outcomeTones: Readonly<Record<ReportOutcome["item"]["outcome"], Tone>> = {
  done: "good",
  recovered: "good",
  failed: "bad",
  unknown: "bad",
  skipped: "quiet",
  blocked: "bad",
  deferred: "info",
  "not-converged": "bad",
};

function outcomes({ outcomes: all }: ReportContent): Section {
  const entry = ({ item, text, commands, count, names }: ReportOutcome): Entry => {
    const { address, outcome, liveId = "", code: of = "", message } = item;
    const tone = outcomeTones[outcome];
    return {
      sign: outcomeSigns[outcome],
      tone,
      head: [[name(count === "" ? address : count)], [word(text, tone)], [count === "" ? id(liveId) : muted(names)], [code(of, tone)]],
      notes: message === undefined ? [] : [[message]],
      ...(count === "" ? { changes: { of: item, title: `Changes of ${address}`, isKey: outcome === "not-converged" } } : {}),
      commands,
    };
  };
  return {
    id: "outcomes",
    title: "Outcomes",
    count: all.length,
    part: "result",
    isPlain: true,
    heads: ["Object", "Outcome", "Id", "Why"],
    entries: all.map(entry),
  };
}

/** The findings that need attention, then existing ones, and those that the plan fixes. */
function policies({ policies: { open, existing, fixed } }: ReportContent): readonly Section[] {
  const section = (id: string, title: string, groups: readonly PolicyGroup[]): Section => ({
    id,
    title,
    count: nodeCount(groups),
    part: "attention",
    isFolded: true,
    entries: groups.map(policyEntry),
  });
  const asFixed = (group: PolicyGroup): Entry => ({
    ...policyEntry(group),
    sign: "✓",
    tone: "good",
    isBrief: true,
    head: [[name(policyAddress(group.policy))], [muted(counted(group.nodes.length, "place"))]],
  });
  return [
    { ...section("policies", partTitles.policies, open), isPlain: true, isFolded: false },
    {
      ...section("existing", partTitles.existing, existing),
      entries: existing.map((group) => ({ ...policyEntry(group), isMinor: true })),
      contents: countsByPolicy(existing),
      isVital: true,
    },
    { ...section("fixed", partTitles.fixed, fixed), entries: fixed.map(asFixed) },
  ];
}

const mostPolicies = 10;

/** "300 of Policy/pii, 12 of Policy/owners": what a folded list has. */
function countsByPolicy(groups: readonly PolicyGroup[]): Line {
  const counts = grouped(groups, ({ policy }) => policy).map((all) => ({ of: all[0].policy, count: nodeCount(all) }));
  const sorted = counts.sort((a, b) => b.count - a.count);
  const more = sorted.length > mostPolicies ? [`and of ${counted(sorted.length - mostPolicies, "other policy", "other policies")}`] : [];
  const texts = sorted
    .slice(0, mostPolicies)
    .flatMap(({ of, count }, index) => [`${index === 0 ? "" : ", "}${count} of`, code(policyAddress(of))]);
  return [...texts, ...more];
}

/** The findings of one policy with the same message: the message once, and each place. */
function policyEntry({ policy, severity, message, place: shared, nodes }: PolicyGroup): Entry {
  const tone = severityTones[severity];
  return {
    sign: severitySigns[severity],
    tone,
    head: [[name(policyAddress(policy))], [word(severity, tone)], [place(shared)]],
    notes: [[message]],
    rows: nodes.map((node): Row => [[name(node.address)], [code(node.path)], [node.requirement], [place(node.place)]]),
  };
}

/** New columns with what the service does with them now, and columns that are gone. */
function columns({ columns: { title, added, goneTitle, gone, neverReviewed, count, command } }: ReportContent): Section {
  const row = ({ name: of, state, label, isReadable, integrations }: ReportColumn): Row => [
    [code(of)],
    [isReadable ? word(state, "bad") : muted(state)],
    [label === "" ? "" : word(label, "warn")],
    [muted(integrationsText(integrations))],
  ];
  const list = (text: string, rows: readonly Row[]): readonly Entry[] => (text === "" ? [] : [{ head: [[`${text}:`]], rows }]);
  return {
    id: "columns",
    title: partTitles.columns,
    count,
    part: "attention",
    isPlain: true,
    isVital: true,
    entries: [
      ...list(title === "" ? "" : `${title} (not reviewed)`, added.map(row)),
      ...neverReviewed.map((text): Entry => ({ head: [[text]] })),
      ...list(goneTitle, gone.map(row)),
    ],
    ...(command === "" ? {} : { notes: [["To accept them after review:"]], command }),
  };
}

/** What someone changed in the account, and apply undoes. */
const outside = ({ outside: { note, lines } }: ReportContent): Section => ({
  id: "outside",
  title: partTitles.outside,
  count: lines.length,
  part: "attention",
  isPlain: true,
  isVital: true,
  entries: note === "" ? [] : [{ head: [[note]], rows: lines.map((text) => [[text]]) }],
});

/** Readers of columns whose hashing or replication changes, by dbt. Owners are code, so that no comment mentions them. */
function impact({ impacts: { columns: all, sum, owners } }: ReportContent): Section {
  // The columns of equal integrations share their readers.
  const known = new Map<ImpactOf["readers"], Pick<Entry, "rows" | "notes">>();
  const owned = (of: readonly string[]): Line => (of.length === 0 ? [] : ["Owners:", ...of.map((owner) => code(owner))]);
  return {
    id: "impact",
    title: partTitles.impact,
    count: all.length,
    part: "attention",
    isFolded: true,
    isVital: true,
    entries: all.map((of) => ({
      sign: "!",
      tone: "warn",
      head: [[name(of.address)], [code(of.path)], [of.sum]],
      ...getOrAdd(known, of.readers, () => ({
        rows: of.readers.map(([certainty, names]): Row => [[`${certainty}:`], [names]]),
        notes: [[of.more], all.length === 1 ? owned(of.owners) : []],
      })),
    })),
    notes: all.length === 1 ? [] : [[sum === "" ? "" : `All of them: ${sum}.`], owned(owners)],
  };
}

/** Objects that lost their manifest since the base. */
const released = ({ released: all }: ReportContent): Section => ({
  id: "released",
  title: partTitles.released,
  count: all.length,
  part: "attention",
  isVital: true,
  entries: all.map((text) => ({ head: [[text]] })),
  notes: [["dimsync sends nothing; the account keeps them."]],
});

function manual({ manual: all, words }: ReportContent): Section {
  const [live, desired] = words.kind === "DriftReport" ? ["live", "desired"] : ["is", "must be"];
  const values = (step: ManualStep): Line => {
    const is: Line = step.live === "" ? [] : [live, value(step.live)];
    if (step.desired === "") return is;
    return [...is, is.length === 0 ? desired : `, ${desired}`, value(step.desired)];
  };
  return {
    id: "manual",
    title: partTitles.manual,
    count: all.length,
    aside: "no request can change these",
    part: "work",
    entries: all.map((step) => ({
      sign: `${step.number}.`,
      tone: "warn",
      task: "open",
      head: [[name(step.address)], [code(step.path)], values(step), [id(step.id)]],
      notes: [[step.instruction], [muted(traceText(step.trace))]],
      commands: step.command === undefined ? [] : [step.command],
    })),
  };
}

const done = ({ done: all }: ReportContent): Section => ({
  id: "steps-done",
  title: partTitles.done,
  count: all.length,
  part: "work",
  entries: all.map((step) => ({
    sign: "✓",
    tone: "good",
    task: "done",
    head: [[name(step.address)], [code(wholePath(step.path))], [id(step.id)]],
  })),
});

const blocked = (all: readonly Blocked[]): Section => ({
  id: "blocked",
  title: partTitles.blocked,
  count: all.length,
  part: "work",
  isPlain: true,
  entries: blockedGroups(all).map(({ names, code: of, message, command }) => ({
    sign: "✗",
    tone: "bad",
    head: [[name(names)], [code(of, "bad")]],
    notes: [[message]],
    commands: command === undefined ? [] : [command],
  })),
});

/** What `--protect-only` does not send. */
const held = ({ held: all }: ReportContent): Section => ({
  id: "held",
  title: partTitles.held,
  count: all.length,
  part: "work",
  isFolded: true,
  entries: all.map(({ address, text, held: of }) => ({
    sign: "-",
    tone: "warn",
    head: [[name(address)], [muted(text)]],
    ...(changeCount(of) === 0 ? {} : { changes: { of, title: `Held changes of ${address}`, isKey: false } }),
  })),
  notes: [[heldNote]],
});

/** Entries that wait for an object that another item creates, with their desired state. */
const deferred = (all: readonly Deferred[]): Section => ({
  id: "deferred",
  title: partTitles.deferred,
  count: all.length,
  part: "work",
  isPlain: true,
  entries: all.map(({ address, waitsFor, liveId, desired }) => ({
    sign: "…",
    tone: "info",
    head: [[name(address)], waitsForLine(waitsFor, liveId)],
    yaml: valueLines(desired),
  })),
});

const waitsForLine = (waitsFor: readonly string[], liveId: string | undefined): Line =>
  waitsFor.length === 0
    ? []
    : [
        liveId === undefined ? "waits for" : "waits for the service to discover the schema of",
        ...listLine(waitsFor, (address) => code(address)),
      ];

const unverifiable = (all: readonly Unverifiable[]): Section => ({
  id: "unverifiable",
  title: partTitles.unverifiable,
  count: all.length,
  part: "rest",
  isPlain: true,
  isFolded: true,
  entries: all.map(({ address, paths, reason }) => ({
    sign: "?",
    tone: "warn",
    head: [[name(address)], [muted(`${counted(paths.length, "value")} unverifiable: ${reason}`)]],
    rows: paths.map((path) => [[code(wholePath(path))]]),
    isBrief: true,
  })),
});

/** Unmanaged objects, counted. A report and -v also list them. */
function unmanaged({ unmanaged: { counts, objects, tables, canListColumns }, words }: ReportContent): Section {
  const what = counts === "" ? "columns of tables that were not read" : counts;
  return {
    id: "unmanaged",
    title: `${partTitles.unmanaged}: ${what}`,
    count: 0,
    part: "rest",
    isFolded: true,
    isSentence: counts !== "",
    ...(canListColumns ? { aside: "--list-unmanaged names them" } : {}),
    entries: [
      ...objects.map(
        ({ kind, name: of, id: objectId }): Entry => ({
          head: [[kind], [name(nameText(of))], [id(objectId)]],
          isDetail: words.kind !== "DriftReport",
        }),
      ),
      ...tables.map(
        ({ table, columns: of, integrations }): Entry => ({ head: [[code(table)], [code(of)], [muted(integrationsText(integrations))]] }),
      ),
    ],
  };
}

/** The objects that only one of two accounts has. */
const lone = ({ lone: all }: ReportContent): readonly Section[] =>
  all.map(({ title, objects }, index) => ({
    id: `lone-${index + 1}`,
    title,
    count: objects.length,
    part: "work",
    entries: objects.map(({ address, id: liveId }) => ({ head: [[name(address)], [id(liveId)]] })),
  }));

/** The ids that apply recorded; with -v every binding. */
const ids = ({ ids: all, idsTitle }: ReportContent): Section => ({
  id: "ids",
  title: idsTitle,
  count: 0,
  part: "rest",
  isFolded: true,
  entries: all.map(([address, liveId]) => ({ head: [[name(address)], [id(liveId)]] })),
});
