import { counted } from "../../text/counts.ts";
import { andMore, joinParts } from "../../text/lists.ts";
import { spaced } from "../../text/paths.ts";
import { besideHead, type ChangeBlock, type ChangeWhy, filledColumns, type RuleChanges } from "../blocks.ts";
import { attributionText, originText, traceText } from "../report/attribution.ts";
import { causeText, countsText } from "../report/changes/changes.ts";
import type { Words } from "../report/words.ts";
import { headText } from "./blocks.ts";
import type { Detail } from "./budget.ts";
import { code, prose, table } from "./escape.ts";

// Maximum rules to show. The rest is counted.
const mostRules: Readonly<Record<Detail, number>> = { full: 100, "by rule": 100, "by object": 20, counts: 0 };

/** The changes. Blocks that fit on one line have no blank line between them. */
export function changeBlocks(blocks: readonly ChangeBlock[], detail: Detail, words: Words): string {
  let text = "";
  let wasLine = false;
  for (const block of blocks) {
    const isLine = block.isShort || (detail === "by object" && !block.isSummary);
    const drawn = isLine ? lineOf(block, detail, words) : wholeOf(block, detail, words);
    text += text === "" ? drawn : (wasLine && isLine ? "\n" : "\n\n") + drawn;
    wasLine = isLine;
  }
  return text;
}

const titleOf = (block: ChangeBlock): string => headText({ ...block, head: [...block.head, besideHead(block)] });

function lineOf(block: ChangeBlock, detail: Detail, words: Words): string {
  const { cause, reason, trace, names, lines, isShort } = block;
  const more = names.length > 0 ? andMore(names.map(code)) : isShort ? "" : countsText(lines, words);
  const head = spaced(titleOf(block), cause === "" ? "" : `(${code(cause)})`);
  const why = detail === "by object" ? "" : prose(reason);
  return `- ${joinParts([joinParts([head, more], ": "), why, prose(traceText(trace))], "; ")}`;
}

function wholeOf(block: ChangeBlock, detail: Detail, words: Words): string {
  const { rules, alert, calls, after } = block;
  const shown = mostRules[detail];
  const requests = calls.map(({ times, text }) => spaced(times, code(text)));
  const first = after.length === 0 ? [] : [`after ${andMore(after.map(code))}`];
  return joinParts(
    [
      `#### ${titleOf(block)}`,
      changeTable({ ...block, rules: rules.slice(0, shown) }, detail, words),
      rules.length > shown ? `… and ${counted(rules.length - shown, "more rule")}.` : "",
      alert === "" ? "" : `⚠️ **${prose(alert)}**`,
      requests.length === 0 ? "" : `Requests: ${[...requests.slice(0, 1), ...first, ...requests.slice(1)].join(", ")}`,
    ],
    "\n\n",
  );
}

/** Every change, or the changes of each rule, as a row. Columns that are empty in all rows are left out. */
function changeTable({ lines, rules }: ChangeBlock, detail: Detail, words: Words): string {
  if (lines.length + rules.length === 0) return "";
  const heads = [rules.length > 0 ? "What" : "Path", words.before, words.after, "Risk", "Origin", "Who", "Why"];
  const rows = [
    ...lines.map((line) => [code(spaced(line.path.node, line.path.leaf)), code(line.live), code(line.desired), ...whyCells(line, detail)]),
    ...rules.map((rule) => [whatCell(rule, detail), "", "", ...whyCells(rule, detail)]),
  ];
  const filled = filledColumns(rows, (cell) => cell === "");
  return table(filled(heads), rows.map(filled));
}

function whatCell({ what, examples, count }: RuleChanges, detail: Detail): string {
  const some = detail === "by object" ? "" : andMore(examples.map(code), { shown: examples.length, total: count });
  return joinParts([prose(what), some], "<br>");
}

function whyCells(why: ChangeWhy, detail: Detail): readonly string[] {
  const { risk, isAlarm, trace, reason } = why;
  return [
    isAlarm ? `⚠️ **${risk}**` : risk,
    originText(trace.origin),
    prose(attributionText(trace.attribution)),
    joinParts([code(causeText(why)), detail === "by object" ? "" : prose(reason)], "<br>"),
  ];
}
