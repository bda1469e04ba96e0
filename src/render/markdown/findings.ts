import { policyAddress } from "../../kinds/manifests.ts";
import type { GuardFinding } from "../../model/findings.ts";
import type { Blocked, Deferred, Unverifiable } from "../../model/plan.ts";
import type { Diagnostic } from "../../model/problem.ts";
import { counted } from "../../text/counts.ts";
import { joinParts } from "../../text/lists.ts";
import { spaced, wholePath } from "../../text/paths.ts";
import { valueLines } from "../../text/values.ts";
import { traceText } from "../report/attribution.ts";
import { blockedGroups } from "../report/blocked.ts";
import { placeText, waitsForText } from "../report/changes/changes.ts";
import { acceptNote, type ReportColumn, type ReportColumns } from "../report/columns.ts";
import { heldNote, type ReportHeld } from "../report/held.ts";
import { nodeCount, type Policies, type PolicyGroup } from "../report/policies.ts";
import { guardText, liftReason } from "../report/refusals.ts";
import { releasedNote } from "../report/released.ts";
import { integrationsText } from "../report/unmanaged.ts";
import { partTitles } from "../report/words.ts";
import type { ManualStep, Report } from "../report.ts";
import { type Detail, listed } from "./budget.ts";
import { code, details, fenced, htmlCode, prose } from "./escape.ts";

/** A heading and its list; "" if the list is empty. */
function section<T>(title: string, entries: readonly T[], detail: Detail, draw: (entry: T) => string, count = entries.length): string {
  if (entries.length === 0 || detail === "counts") return "";
  return `### ${title} (${count})\n\n${listed(entries, detail, draw)}`;
}

/** The same with the list folded. */
function folded<T>(title: string, entries: readonly T[], detail: Detail, draw: (entry: T) => string, count = entries.length): string {
  if (entries.length === 0 || detail === "counts") return "";
  return details(`${title} (${count})`, listed(entries, detail, draw));
}

/** Why apply refuses, how to lift guards, and what a report may lack. It is short and never left out. */
export function refusalBlock(report: Report, detail: Detail): string {
  const { refusals, refusalTitle, limits, guards, waysOut, words } = report;
  const line = (guard: GuardFinding): string => guardLine(guard, words.kind, detail);
  const lifted = guards.filter(({ allowed }) => allowed !== undefined).map((guard) => alert("NOTE", [line(guard)]));
  const refusing = guards.filter(({ allowed }) => allowed === undefined);
  const guardLines = [
    ...refusing.slice(0, mostGuards).map(line),
    ...(refusing.length > mostGuards ? [`… and ${refusing.length - mostGuards} more guards.`] : []),
  ];
  const reasons = refusals.filter(({ isGuard }) => !isGuard).map(({ text }) => prose(text));
  const cautions =
    words.kind === "DriftReport"
      ? limits.map(prose)
      : [...(refusalTitle === "" ? [] : ["**Apply will refuse this plan.**"]), ...reasons, ...guardLines];
  const ways = detail === "counts" ? [] : waysOut.map(({ intro, yaml }) => `${prose(intro)}\n\n${fenced(yaml, "yaml")}`);
  const notes = words.kind === "DriftReport" && guardLines.length > 0 ? [alert("NOTE", guardLines)] : [];
  return [...(cautions.length === 0 ? [] : [alert("CAUTION", cautions)]), ...ways, ...notes, ...lifted].join("\n\n");
}

const alert = (type: "CAUTION" | "NOTE", lines: readonly string[]): string => `> [!${type}]\n> ${lines.join("<br>\n> ")}`;

const mostGuards = 10;

function guardLine(guard: GuardFinding, kind: Report["words"]["kind"], detail: Detail): string {
  const { message } = guard;
  const isLong = detail === "full" || detail === "by rule";
  return spaced(`**${prose(guardText(guard, kind))}.**`, isLong ? prose(message) : "", liftText(guard, kind, detail));
}

/** The entry that lifts it is printed below, if there is space for it. */
function liftText(finding: GuardFinding, kind: Report["words"]["kind"], detail: Detail): string {
  if (finding.allowed !== undefined) return `Reason: ${prose(liftReason(finding))}`;
  return kind === "DriftReport" || detail !== "counts" ? "" : `To lift it, give a reason: ${code(`--allow ${finding.guard}="reason"`)}`;
}

/** The findings that need attention, then existing and fixed ones folded. */
export const policySections = ({ open, existing, fixed }: Policies, detail: Detail): string =>
  joinParts(
    [
      section(partTitles.policies, open, detail, policyText, nodeCount(open)),
      folded(partTitles.existing, existing, detail, policyText, nodeCount(existing)),
      folded(partTitles.fixed, fixed, detail, policyText, nodeCount(fixed)),
    ],
    "\n\n",
  );

const placed = (place: string): string => (place === "" ? "" : `(${code(place)})`);

/** The findings of one policy, with its message once. */
function policyText({ policy, severity, message, place, nodes }: PolicyGroup): string {
  const head = spaced(`- **${severity}**`, code(policyAddress(policy)), prose(message), placed(place));
  const shown = nodes.map(({ address, path, requirement, ...node }) =>
    spaced(code(address), path === "" ? "" : code(path), prose(requirement), placed(node.place)),
  );
  return shown.length === 1 ? `${head}<br>${shown.join("")}` : `${head}${listedNodes(shown)}`;
}

const listedNodes = (nodes: readonly string[]): string =>
  [...nodes.slice(0, mostNodes), ...(nodes.length > mostNodes ? [`… and ${nodes.length - mostNodes} more`] : [])]
    .map((node) => `\n  - ${node}`)
    .join("");

const mostNodes = 10;
// More warnings than this are folded.
const mostWarnings = 5;

/** Errors first; many warnings are folded. */
export function problemSections(problems: readonly Diagnostic[], detail: Detail): string {
  const isError = ({ severity }: Diagnostic): boolean => severity === "error";
  const rest = problems.filter((problem) => !isError(problem));
  if (rest.length <= mostWarnings) return section(partTitles.problems, problems, detail, (problem) => problemText(problem, detail));
  return joinParts(
    [
      section(partTitles.problems, problems.filter(isError), detail, (problem) => problemText(problem, detail)),
      folded("Warnings", rest, detail, (problem) => problemText(problem, detail)),
    ],
    "\n\n",
  );
}

function problemText(problem: Diagnostic, detail: Detail): string {
  const { severity, code: name, summary, message, command, address = "", excerpt } = problem;
  const where = placeText(problem) || address;
  const head = spaced(`- **${severity}**`, where === "" ? "" : code(where), code(name), prose(summary));
  const text = joinParts([head, prose(message), command === undefined ? "" : code(command)], "<br>");
  if (excerpt === undefined || detail !== "full") return text;
  const source = fenced(
    excerpt.map((line) => line.replaceAll("\t", " ")),
    "yaml",
  );
  return `${text}\n\n${source.replace(/^/gmu, "  ")}\n`;
}

/** The checklist, and the steps done since the previous report. */
export function manualSections({ manual, done, words }: Report, detail: Detail): string {
  const finished = section(
    partTitles.done,
    done,
    detail,
    ({ id, address, path }) => `- [x] ${spaced(code(id), code(address), path === "" ? "" : code(wholePath(path)))}`,
  );
  const [live, desired] = words.kind === "DriftReport" ? ["live", "desired"] : ["is", "must be"];
  const steps = section(partTitles.manual, manual, detail, (step: ManualStep) => {
    const { id, address, path, instruction, trace } = step;
    const values = joinParts(
      [step.live === "" ? "" : `${live} ${code(step.live)}`, step.desired === "" ? "" : `${desired} ${code(step.desired)}`],
      ", ",
    );
    const head = spaced("- [ ]", code(id), code(address), path === "" ? "" : code(path));
    return joinParts([joinParts([head, values], ": "), prose(instruction), prose(traceText(trace))], "<br>");
  });
  return joinParts([steps, finished], "\n\n");
}

export const blockedSection = (blocked: readonly Blocked[], detail: Detail): string =>
  section(
    partTitles.blocked,
    blockedGroups(blocked),
    detail,
    ({ names, code: name, message, command }) =>
      joinParts([`- \`✗\` ${code(names)} ${code(name)}`, prose(message), command === undefined ? "" : code(command)], "<br>"),
    blocked.length,
  );

export function deferredSection(deferred: readonly Deferred[], detail: Detail): string {
  if (deferred.length === 0 || detail === "counts") return "";
  const title = `### ${partTitles.deferred} (${deferred.length})\n\n`;
  const head = (entry: Deferred, draw: (text: string) => string): string => spaced(draw(entry.address), waitsForText(entry, draw));
  if (detail !== "full") return title + listed(deferred, detail, (entry) => `- \`…\` ${head(entry, code)}`);
  return title + listed(deferred, detail, (entry) => details(head(entry, htmlCode), fenced(valueLines(entry.desired), "yaml")), "\n\n");
}

/** What `--protect-only` does not send, folded. */
export function heldSection(held: readonly ReportHeld[], detail: Detail): string {
  const list = folded(partTitles.held, held, detail, ({ address, text }) => `- ${code(address)}: ${prose(text)}`);
  return list === "" ? "" : `${list}\n\n${prose(heldNote)}`;
}

export const unverifiableSection = (unverifiable: readonly Unverifiable[], detail: Detail): string =>
  folded(partTitles.unverifiable, unverifiable, detail, ({ address, paths, reason }) => {
    const values = detail === "full" ? paths.map((path) => code(wholePath(path))).join(", ") : counted(paths.length, "value");
    return `- ${code(address)}: ${values} (${prose(reason)})`;
  });

/** Unmanaged objects, folded. */
export function unmanagedSection({ unmanaged }: Report, detail: Detail): string {
  const { counts, objects, tables } = unmanaged;
  if ((counts === "" && tables.length === 0) || detail === "counts") return "";
  const names = listed(objects, detail, ({ kind, id, name }) => `- ${kind} ${code(name)} (${code(id)})`);
  const columns = listed(
    tables,
    detail,
    ({ table, columns: of, integrations }) => `- ${code(table)}: ${code(of)} (${prose(integrationsText(integrations))})`,
  );
  const title = joinParts([partTitles.unmanaged, counts], ": ");
  return names === "" && columns === "" ? `${title}.` : details(title, joinParts([names, columns], "\n"));
}

/** What someone changed in the account, and apply undoes. The count is never left out. */
export function outsideSection({ outside: { note, lines } }: Report, detail: Detail): string {
  if (note === "") return "";
  return joinParts([`**${partTitles.outside}:** ${note}`, listed(lines, detail, (text) => `- ${prose(text)}`)], "\n\n");
}

/** Objects that lost their manifest since the base. The count is never left out. */
export function releasedSection({ released }: Report, detail: Detail): string {
  const [first = "", ...more] = released;
  if (first === "") return "";
  if (more.length === 0) return `**${partTitles.released}:** ${prose(first)}. ${releasedNote}`;
  const note = `**${partTitles.released}:** ${counted(released.length, "object")}. ${releasedNote}`;
  return joinParts([note, listed(released, detail, (text) => `- ${prose(text)}`)], "\n\n");
}

/** New columns, and folded those that are gone. The count is never left out. */
export function columnsSection({ title, added, goneTitle, gone, neverReviewed, command }: ReportColumns, detail: Detail): string {
  if (command === "") return "";
  const draw = ({ name, state, label, isReadable, integrations }: ReportColumn): string =>
    spaced(
      `- ${code(name)}`,
      isReadable ? `**${state}**` : state,
      label === "" ? "" : `label ${code(label)}`,
      `(${prose(integrationsText(integrations))})`,
    );
  const neverTitle = neverReviewed.length === 0 ? "" : `${counted(neverReviewed.length, "integration")} never reviewed`;
  const never = listed(neverReviewed, detail, (text) => `- ${prose(text)}`);
  const accept = `${acceptNote} ${code(command)}`;
  if (detail === "counts") return `${joinParts([title, goneTitle, neverTitle], "; ")}. ${accept}`;
  const lost = gone.length === 0 ? "" : details(goneTitle, listed(gone, detail, draw));
  return joinParts([title === "" ? "" : `### ${title}\n\n${listed(added, detail, draw)}`, never, lost, accept], "\n\n");
}
