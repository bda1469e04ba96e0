import { counted } from "../../text/counts.ts";
import { andMore as andMoreText, moreOf } from "../../text/lists.ts";
import {
  besideHead,
  type ChangeBlock,
  type ChangeLine,
  type ChangeWhy,
  type Entry,
  filledColumns,
  type Line,
  type RuleChanges,
  type Section,
  type Span,
  type Tone,
  textOf,
  withGaps,
} from "../blocks.ts";
import { attributionText, originText, type Traced } from "../report/attribution.ts";
import { causeText, changeLines } from "../report/changes/changes.ts";
import type { ReportObject } from "../report/changes/objects.ts";
import { riskCount, type Words } from "../report/words.ts";
import {
  andMore,
  aside,
  blocks,
  breakable,
  chip,
  code,
  command,
  folded,
  type Html,
  type HtmlContent,
  html,
  isEmpty,
  joined,
  list,
  note,
  paragraph,
  quiet,
  source,
  table,
} from "./html.ts";
import type { PagePart } from "./page.ts";

// Lists that are longer are folded, and changes beyond this many are counted.
const mostEntries = 50;
const mostRows = 10;
const mostChanges = 200;
const mostNames = 10;

/** A section as a part of a page. */
export function sectionPart(section: Section, words: Words): PagePart {
  const { id, title, count, entries, notes = [], command: next, isFolded = false, isAlert = false } = section;
  const drawn = entries.map((entry) => entryHtml(entry, words));
  const all = isAlert
    ? blocks(entries.map(({ tone = "info" }, index) => note(tone, drawn[index])))
    : list(drawn, entries.every(isLine) ? undefined : entries.some(({ commands = [] }) => commands.length > 1) ? "steps beside" : "steps");
  const isLong = entries.length > (isFolded ? mostRows : mostEntries) && !isAlert;
  return {
    id,
    title,
    count,
    html: blocks(
      isLong ? folded(counted(entries.length, section.noun ?? "entry"), all) : all,
      notes.map((line) => paragraph(lineHtml(line))),
      next !== undefined && command(next),
    ),
  };
}

/** Whether it is only its head. */
const isLine = ({ notes = [], rows = [], commands = [], changes, yaml, task }: Entry): boolean =>
  notes.length + rows.length + commands.length === 0 && changes === undefined && yaml === undefined && task === undefined;

function entryHtml(entry: Entry, words: Words): Html {
  const {
    sign = "",
    tone = "quiet",
    task,
    label = "",
    head,
    notes = [],
    rows = [],
    yaml = [],
    commands = [],
    excerpt,
    changes,
    noun = "place",
  } = entry;
  const box = task !== undefined && html`<span aria-hidden="true">${task === "open" ? "☐" : "☑"}</span>`;
  const first = joined([box, /^\d/u.test(sign) && sign, chip(label, tone), ...head.map(lineHtml)], " ");
  if (isLine(entry)) return first;
  const places = list(rows.map((row) => joined(row.map(lineHtml), " ")));
  return blocks(
    html`<p>${first}</p>`,
    source((excerpt?.text ?? []).map((line) => line.replaceAll("\t", " "))),
    notes.map((line) => paragraph(lineHtml(line))),
    rows.length > mostRows ? folded(counted(rows.length, noun), places) : places,
    folded("Desired", source(yaml)),
    changes !== undefined && changesHtml(changes, words),
    commands.map(command),
  );
}

function changesHtml({ of, title }: NonNullable<Entry["changes"]>, words: Words): Html {
  const lines = changeLines(of, words);
  const left = lines.length - mostChanges;
  return folded(
    title.replace(/ of .*/su, ""),
    blocks(
      changeTable({ lines: lines.slice(0, mostChanges), rules: [] }, title, words),
      left > 0 && html`<p>${moreOf(left, words.change)}</p>`,
    ),
  );
}

/** The changes of one item, or of many similar ones. */
export function changeBlockHtml(block: ChangeBlock, words: Words): Html {
  const { address, label, head, isSummary, isShort, trace, cause, reason, names, left, alert, calls, after, event } = block;
  const title = joined([...head.map(lineHtml), !isSummary && label, lineHtml(besideHead(block, mostNames))], " ");
  const beside = isShort && paragraph(joined([traceHtml(trace), code(cause), quiet(reason)], " "));
  const warning = alert !== "" && html`<p class="note bad">${alert}</p>`;
  const said = event !== "" && paragraph(quiet(event));
  if (isShort && names.length > 0) return blocks(warning, folded(title, blocks(said, beside, list(names.map(code)))));
  const requests = calls.map(({ times, text }) => joined([times, code(text)], " "));
  const all = [...requests.slice(0, 1), after.length > 0 && html`after ${andMore(after.map(code), "object")}`, ...requests.slice(1)];
  return blocks(
    isSummary ? html`<h3>${title}</h3>` : html`<h4>${title}</h4>`,
    warning,
    said,
    !isShort && changeTable(block, isSummary ? `Changes by ${words.by}` : `Changes of ${address}`, words),
    left > 0 &&
      html`<p>${counted(left, `more ${words.change}`)} ${left === 1 ? "is" : "are"} not listed. ${code(`${words.command} -o json`)} prints all of them.</p>`,
    beside,
    requests.length > 0 && html`<p class="small">Requests: ${joined(all, ", ")}</p>`,
  );
}

// A browser lays out only open details, so many objects are split into bundles of this size.
const bundleSize = 100;

/** The objects with all their changes, in bundles if there are many. */
export function objectCards(objects: readonly ReportObject[], words: Words, isOpen: boolean): Html {
  const drawn = (some: readonly ReportObject[]): Html => blocks(some.map((object) => objectCard(object, words, isOpen)));
  const bundles: Html[] = [];
  for (let from = bundleSize; from < objects.length; from += bundleSize) {
    const some = objects.slice(from, from + bundleSize);
    const names = `${some[0]?.title ?? ""} to ${some.at(-1)?.title ?? ""}`;
    bundles.push(
      html`<details class="card"><summary>Objects ${from + 1} to ${from + some.length} of ${objects.length} ${quiet(names)}</summary><div class="inside">\n${drawn(some)}\n</div></details>`,
    );
  }
  return blocks(drawn(objects.slice(0, bundleSize)), bundles);
}

function objectCard({ title, liveId, blocks: all, changes, alarms, users }: ReportObject, words: Words, isOpen: boolean): Html {
  const summary = [
    html`<h3>${title}</h3>`,
    aside(liveId),
    chip(counted(changes, words.change), "quiet"),
    alarms > 0 && chip(riskCount(alarms, words.risks[0]), "bad"),
    aside(users.length > 0 && `by ${andMoreText(users, "user", { shown: 2 })}`),
  ];
  return html`<details class="card" open=${isOpen}><summary>${joined(summary, " ")}</summary><div class="inside">
${blocks(all.map((block) => changeBlockHtml(block, words)))}
</div></details>`;
}

export const lineHtml = (line: Line): Html => html`${withGaps(line).map(([gap, span]) => [gap, spanHtml(span)])}`;

function spanHtml(span: Span): Html | string {
  const text = textOf(span);
  if (typeof span === "string") return text;
  if (span.as === "name" && span.tone === undefined) return html`<strong>${text}</strong>`;
  if (span.as === "word" || span.tone !== undefined) return chip(text, span.tone ?? "quiet");
  if (span.as === "code" && text !== "") return html`<code>${breakable(text)}</code>`;
  if (span.as === "code" || span.as === "value" || span.as === "ref") return code(text);
  return span.as === "muted" ? quiet(text) : aside(text);
}

/** Every change, or the changes of each rule, as a row. Columns that are empty in all rows are left out. */
function changeTable({ lines, rules }: Pick<ChangeBlock, "lines" | "rules">, caption: string, words: Words): Html {
  if (lines.length + rules.length === 0) return html``;
  const heads = ["What", words.before, words.after, "Origin", "Why"];
  const rows: readonly (readonly HtmlContent[])[] = [
    ...lines.map((line) => [pathHtml(line), valueHtml(line.live), valueHtml(line.desired), ...whyCells(line)]),
    ...rules.map((rule) => [ruleHtml(rule), "", "", ...whyCells(rule)]),
  ];
  const filled = filledColumns(rows, isEmpty);
  return table(caption, filled(heads), rows.map(filled), rules.length > 0 ? "rules" : undefined);
}

const pathHtml = (line: ChangeLine): Html => {
  const { node, leaf } = line.path;
  return html`<code>${breakable(node)}${node !== "" && leaf !== "" && " "}<b>${leaf}</b></code> ${riskChip(line)}`;
};

const ruleHtml = (rule: RuleChanges): Html => {
  const { what, examples, count, level } = rule;
  const some = andMore(examples.map(code), level, { shown: examples.length, total: count });
  return html`<span class="strong">${what}</span> ${riskChip(rule)}<br>${aside(some)}`;
};

const riskChip = ({ risk, isAlarm }: ChangeWhy): Html => chip(risk, isAlarm ? "bad" : "good");

const valueHtml = (text: string): Html => (text.startsWith("(") ? quiet(text) : code(text));

const whyCells = (why: ChangeWhy): readonly Html[] => [traceHtml(why.trace), joined([code(causeText(why)), quiet(why.reason)], html`<br>`)];

/** The origin as a chip, the user with the time, and the event of the audit log. */
function traceHtml(traced: Traced): Html {
  const { origin, attribution } = traced;
  const who = attributionText(traced);
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
