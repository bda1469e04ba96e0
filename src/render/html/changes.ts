import { counted } from "../../text/counts.ts";
import { andMore as andMoreText, joinParts } from "../../text/lists.ts";
import type { Tone } from "../blocks.ts";
import { attributionText, originText, type Traced } from "../report/attribution.ts";
import type { ChangeLine } from "../report/changes/changes.ts";
import type { ItemGroup, ReportGroup, RulesGroup } from "../report/changes/groups.ts";
import type { ReportObject } from "../report/changes/objects.ts";
import type { RuleChanges } from "../report/changes/rules.ts";
import { exposedText, type Words } from "../report/words.ts";
import { andMore, aside, blocks, chip, code, type Html, html, isEmpty, joined, paragraph, quiet, table } from "./html.ts";

// Examples of what a rule changes; more if data becomes readable.
const fewExamples = 3;
const manyExamples = 10;

/** The changes of each rule, in all integrations together. */
export function ruleTable({ rules, integrations, exposed, exposedBy }: RulesGroup): Html {
  const isTraced = rules.some(({ trace }) => !isEmpty(traceHtml(trace)));
  const isRuled = rules.some(({ rule }) => rule !== "");
  const heads = ["What", ...(isTraced ? ["Origin"] : []), ...(isRuled ? ["Rule"] : [])];
  const rows = rules.map((one) => [
    html`<span class="strong">${one.what}</span> ${riskChip(one)}<br>${aside(examples(one))}`,
    ...(isTraced ? [traceHtml(one.trace)] : []),
    ...(isRuled ? [whyHtml(joinParts([one.rule, one.place], ", "), one.reason)] : []),
  ]);
  return blocks(
    html`<p>${counted(integrations.length, "integration")}: ${andMore(integrations, { shown: manyExamples })}</p>`,
    exposed > 0 && html`<p class="note bad">${exposedText(exposed)}: ${andMore(exposedBy, { shown: manyExamples })}</p>`,
    table("Changes by rule", heads, rows, "rules"),
  );
}

const examples = ({ nodes, count, isAlarm }: RuleChanges): Html => {
  const most = isAlarm ? manyExamples : fewExamples;
  return html`${count > most && "such as "}${andMore(nodes.map(code), { shown: most, total: count })}`;
};

// A browser lays out only open details, so many objects are split into bundles of this size.
const bundleSize = 100;

/** The objects with all their changes, in bundles if there are many. */
export function objectCards(objects: readonly ReportObject[], words: Words, isOpen: boolean): Html {
  const drawn = (some: readonly ReportObject[]): Html => blocks(...some.map((object) => objectCard(object, words, isOpen)));
  const bundles: Html[] = [];
  for (let from = bundleSize; from < objects.length; from += bundleSize) {
    const some = objects.slice(from, from + bundleSize);
    const names = `${some[0]?.title ?? ""} to ${some.at(-1)?.title ?? ""}`;
    bundles.push(
      html`<details class="card"><summary>Objects ${from + 1} to ${from + some.length} of ${objects.length} ${quiet(names)}</summary><div class="inside">\n${drawn(some)}\n</div></details>`,
    );
  }
  return blocks(drawn(objects.slice(0, bundleSize)), ...bundles);
}

function objectCard({ title, address, liveId, items, changes, alarms, users }: ReportObject, words: Words, isOpen: boolean): Html {
  const summary = [
    html`<h3>${title}</h3>`,
    aside(liveId),
    chip(counted(changes, words.change), "quiet"),
    alarms > 0 && chip(`${alarms} ${words.risks[0].replace(/s$/u, "")}`, "bad"),
    aside(users.length > 0 && `by ${andMoreText(users, { shown: 2 })}`),
  ];
  return html`<details class="card" open=${isOpen}><summary>${joined(summary, " ")}</summary><div class="inside">
${blocks(...items.map((item) => itemHtml(item, address, words)))}
</div></details>`;
}

const actionTexts: Readonly<Record<ItemGroup["action"], readonly [plan: string, report: string]>> = {
  create: ["will be created", "is missing"],
  update: ["will be updated", "differs"],
  relate: ["will be attached", "is"],
  bind: ["id will be recorded", "id is not recorded"],
};

function itemHtml(item: ItemGroup, objectAddress: string, words: Words): Html {
  const { address, action, liveName, liveId = "", renamedFrom, lines, left, on, exposed, isShort } = item;
  const live = joined([liveName, code(liveId), renamedFrom !== undefined && `renamed from ${renamedFrom}`], " ");
  const target = on !== undefined && joined([on.text, on.name !== "" && html`<b>${on.name}</b>`, code(on.id)], " ");
  const text = actionTexts[action][words.change === "difference" ? 1 : 0];
  const [only] = lines;
  return blocks(
    html`<h4>${joined([address, text, target], " ")} <span class="quiet small">${live}</span></h4>`,
    !isShort && changeTable(lines, address === objectAddress ? "Changes" : `Changes of ${address}`, words),
    left > 0 &&
      html`<p>${counted(left, `more ${words.change}`)} ${left === 1 ? "is" : "are"} not listed. ${code(`${words.command} -o json`)} prints all of them.</p>`,
    isShort && only !== undefined && paragraph(joined([traceHtml(only.trace), whyHtml(only.cause, only.reason)], " ")),
    exposed > 0 && html`<p class="note bad">${exposedText(exposed)}.</p>`,
    requestsHtml(item),
  );
}

function requestsHtml({ calls }: ReportGroup): Html {
  const texts = calls.map(({ method, path, requests }) => [requests.length > 1 && `${requests.length} × `, code(`${method} ${path}`)]);
  return texts.length === 0 ? html`` : html`<p class="small">Requests: ${joined(texts, ", ")}</p>`;
}

/** Every change as a row. */
export function changeTable(lines: readonly ChangeLine[], caption: string, words: Words): Html {
  if (lines.length === 0) return html``;
  const isTraced = lines.some(({ origin, who }) => origin + who !== "");
  const isNew = lines.every(({ live }) => live === "");
  const heads = ["What", ...(isNew ? [] : [words.before]), words.after, ...(isTraced ? ["Origin"] : []), "Why"];
  const rows = lines.map((line) => [
    html`${pathHtml(line.path)} ${riskChip(line)}`,
    ...(isNew ? [] : [valueHtml(line.live)]),
    valueHtml(line.desired),
    ...(isTraced ? [traceHtml(line.trace)] : []),
    whyHtml(line.cause, line.reason),
  ]);
  return table(caption, heads, rows);
}

const valueHtml = (text: string): Html => (text.startsWith("(") ? quiet(text) : code(text));

const pathHtml = ({ node, leaf }: ChangeLine["path"]): Html => html`<code>${node}${node !== "" && leaf !== "" && " "}<b>${leaf}</b></code>`;

const riskChip = ({ risk, isAlarm }: { readonly risk: string; readonly isAlarm: boolean }): Html => chip(risk, isAlarm ? "bad" : "good");

const whyHtml = (cause: string, reason: string): Html => joined([code(cause), quiet(reason)], html`<br>`);

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
