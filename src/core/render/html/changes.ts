import { type ChangeBlock, type ChangeLine, type ChangeWhy, filledColumns, type RuleChanges, type Tone } from "../blocks.ts";
import { attributionText, originText, type Traced } from "../report/attribution.ts";
import { causeText } from "../report/changes/changes.ts";
import type { Words } from "../report/words.ts";
import { andMore, aside, type Content, chip, code, type Html, html, isEmpty, joined, quiet, table } from "./html.ts";

/** Every change, or the changes of each rule, as a row. Columns that are empty in all rows are left out. */
export function changeTable({ lines, rules }: Pick<ChangeBlock, "lines" | "rules">, caption: string, words: Words): Html {
  if (lines.length + rules.length === 0) return html``;
  const heads = ["What", words.before, words.after, "Origin", "Why"];
  const rows: readonly (readonly Content[])[] = [
    ...lines.map((line) => [pathHtml(line), valueHtml(line.live), valueHtml(line.desired), ...whyCells(line)]),
    ...rules.map((rule) => [ruleHtml(rule), "", "", ...whyCells(rule)]),
  ];
  const filled = filledColumns(rows, isEmpty);
  return table(caption, filled(heads), rows.map(filled), rules.length > 0 ? "rules" : undefined);
}

const pathHtml = (line: ChangeLine): Html => {
  const { node, leaf } = line.path;
  return html`<code>${node}${node !== "" && leaf !== "" && " "}<b>${leaf}</b></code> ${riskChip(line)}`;
};

const ruleHtml = (rule: RuleChanges): Html => {
  const { what, examples, count } = rule;
  const some = andMore(examples.map(code), { shown: examples.length, total: count });
  return html`<span class="strong">${what}</span> ${riskChip(rule)}<br>${aside(some)}`;
};

const riskChip = ({ risk, isAlarm }: ChangeWhy): Html => chip(risk, isAlarm ? "bad" : "good");

const valueHtml = (text: string): Html => (text.startsWith("(") ? quiet(text) : code(text));

const whyCells = (why: ChangeWhy): readonly Html[] => [traceHtml(why.trace), joined([code(causeText(why)), quiet(why.reason)], html`<br>`)];

/** The origin as a chip, the user with the time, and the event of the audit log. */
export function traceHtml({ origin, attribution }: Traced): Html {
  const who = attributionText(attribution);
  return joined(
    [
      origin !== undefined && chip(originText(origin), originTones[origin] ?? "quiet"),
      who !== "" && html`<span class="who">${who}</span>`,
      attribution !== undefined && !attribution.own && aside(`“${attribution.event}”`),
    ],
    " ",
  );
}

const originTones: Readonly<Record<string, Tone>> = { config: "info", drift: "warn", conflict: "bad" };
