import { counted } from "../../text/counts.ts";
import { andMore, joinParts } from "../../text/lists.ts";
import { spaced } from "../../text/paths.ts";
import { actionSigns } from "../../text/signs.ts";
import { attributionText, originText, traceText } from "../report/attribution.ts";
import type { ChangeLine } from "../report/changes/changes.ts";
import type { ItemGroup, ReportGroup, RulesGroup } from "../report/changes/groups.ts";
import type { RuleChanges } from "../report/changes/rules.ts";
import { exposedText, type Words } from "../report/words.ts";
import type { Detail } from "./budget.ts";
import { code, prose, table } from "./escape.ts";

// Maximum rules to show. The rest is counted.
const mostRules: Readonly<Record<Detail, number>> = { full: 100, "by rule": 100, "by object": 20, counts: 0 };
// Examples of what a rule changes; more if data becomes readable.
const fewExamples = 1;
const manyExamples = 10;

/** The groups. Those that fit on one line have no blank line between them. */
export function groupBlocks(groups: readonly ReportGroup[], detail: Detail, words: Words): string {
  let text = "";
  let wasLine = false;
  for (const group of groups) {
    const isLine = group.type === "names" || (group.type === "item" && (group.isShort || detail === "by object"));
    const block = isLine ? lineOf(group, words) : blockOf(group, detail, words);
    text += text === "" ? block : (wasLine && isLine ? "\n" : "\n\n") + block;
    wasLine = isLine;
  }
  return text;
}

function lineOf(group: ReportGroup, words: Words): string {
  if (group.type === "names")
    return `- ${joinParts([`${head(group)} ${group.title}: ${andMore(group.names.map(code))}`, prose(traceText(group.trace))], "; ")}`;
  if (group.type === "rules") return `- ${head(group)}`;
  const { lines, on, isShort } = group;
  const [only] = lines;
  const target =
    on === undefined ? "" : spaced(prose(on.text), on.name === "" ? "" : code(on.name), on.name === "" ? code(on.id) : `(${code(on.id)})`);
  const who = on === undefined || only === undefined ? "" : prose(traceText(only.trace));
  const cause = isShort && only !== undefined && only.cause !== "" ? `(${code(only.cause)})` : "";
  return `- ${joinParts([spaced(head(group), target, cause), who], "; ")}${isShort ? "" : `: ${lineCounts(lines, words)}`}`;
}

function blockOf(group: ReportGroup, detail: Detail, words: Words): string {
  const parts =
    group.type === "rules" ? rulesParts(group, detail) : group.type === "item" ? [`#### ${head(group)}`, changeTable(group, words)] : [];
  return joinParts(
    [
      ...parts,
      group.exposed === 0 ? "" : `⚠️ **${exposedText(group.exposed)}.**`,
      group.calls.length === 0 || group.type === "rules" ? "" : `Requests: ${callList(group)}`,
    ],
    "\n\n",
  );
}

function head(group: ReportGroup): string {
  const { action, address, liveName, liveId, renamedFrom } = group;
  return spaced(
    `\`${actionSigns[action]}\``,
    address === "" ? "" : code(address),
    liveName === undefined ? "" : code(liveName),
    liveId === undefined ? "" : `(${code(liveId)})`,
    renamedFrom === undefined ? "" : `renamed from ${code(renamedFrom)}`,
  );
}

const callList = ({ calls }: ReportGroup): string =>
  calls
    .map(({ method, path, requests }) => `${requests.length > 1 ? `${requests.length} × ` : ""}${code(joinParts([method, path], " "))}`)
    .join(", ");

/** Every change of an item as a row. */
function changeTable({ lines }: ItemGroup, words: Words): string {
  if (lines.length === 0) return "";
  const heads = ["Path", words.before, words.after, "Risk", "Origin", "Who", "Why"];
  const rows = lines.map(({ path, live, desired, risk, isAlarm, origin, who, cause, reason }) => [
    code(spaced(path.node, path.leaf)),
    live === "" ? "" : code(live),
    code(desired),
    riskCell(risk, isAlarm),
    origin,
    prose(who),
    whyCell(cause, reason),
  ]);
  return filledTable(heads, rows);
}

/** The changes of each rule, in all integrations together. */
function rulesParts(group: RulesGroup, detail: Detail): readonly string[] {
  const { integrations, rules } = group;
  const shown = rules.slice(0, mostRules[detail]);
  const rows = shown.map((one) => [
    joinParts([prose(one.what), detail === "by object" ? "" : examples(one)], "<br>"),
    riskCell(one.risk, one.isAlarm),
    traceCell(one.trace),
    whyCell(joinParts([one.rule, one.place], ", "), detail === "by object" ? "" : one.reason),
  ]);
  const several = integrations.length === 1 ? "" : `${integrations.length} integrations: ${andMore(integrations.map(code))}`;
  return [
    `#### ${spaced(head(group), several)}`,
    filledTable(["What", "Risk", "Origin", "Why"], rows),
    rules.length > shown.length ? `… and ${counted(rules.length - shown.length, "more rule")}.` : "",
  ];
}

const examples = ({ nodes, count, isAlarm }: RuleChanges): string => {
  const most = isAlarm ? manyExamples : fewExamples;
  return `${count > most ? "such as " : ""}${andMore(nodes.map(code), { shown: most, total: count })}`;
};

/** A table without the columns that are empty in all rows. */
function filledTable(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const isFilled = heads.map((_, column) => rows.some((row) => row[column] !== ""));
  const filled = (cells: readonly string[]): readonly string[] => cells.filter((_, column) => isFilled[column]);
  return table(filled(heads), rows.map(filled));
}

const riskCell = (risk: string, isAlarm: boolean): string => (isAlarm ? `⚠️ **${risk}**` : risk);

const whyCell = (cause: string, reason: string): string => joinParts([cause === "" ? "" : code(cause), prose(reason)], "<br>");

const traceCell = ({ origin, attribution }: RuleChanges["trace"]): string =>
  joinParts([originText(origin), prose(attributionText(attribution))], ", ");

/** "12 changes, 2 expose, 10 protect" */
function lineCounts(lines: readonly ChangeLine[], words: Words): string {
  const counts = words.risks.flatMap((risk) => {
    const count = lines.filter((line) => line.risk === risk).length;
    return count === 0 ? [] : [`${count} ${risk.replace(/s$/u, "")}`];
  });
  return [counted(lines.length, words.change), ...counts].join(", ");
}
