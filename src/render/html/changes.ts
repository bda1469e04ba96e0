import { counted } from "../../text/counts.ts";
import { andMore, joinParts } from "../../text/lists.ts";
import type { Tone } from "../blocks.ts";
import { attributionText, originText, type Traced } from "../report/attribution.ts";
import type { ChangeLine } from "../report/changes/changes.ts";
import type { ItemGroup, ReportGroup, RulesGroup } from "../report/changes/groups.ts";
import type { ReportObject } from "../report/changes/objects.ts";
import type { RuleChanges } from "../report/changes/rules.ts";
import type { Words } from "../report/words.ts";
import { blocks, chip, code, escaped, table } from "./escape.ts";

// Examples of what a rule changes; more if data becomes readable.
const fewExamples = 3;
const manyExamples = 10;

/** The changes of each rule, in all integrations together. */
export function ruleTable({ rules, integrations, exposed, exposedBy }: RulesGroup): string {
  const isTraced = rules.some(({ trace }) => traceHtml(trace) !== "");
  const isRuled = rules.some(({ rule }) => rule !== "");
  const heads = ["What", ...(isTraced ? ["Origin"] : []), ...(isRuled ? ["Rule"] : [])];
  const rows = rules.map((one) => [
    `<span class="strong">${escaped(one.what)}</span> ${riskChip(one)}<br><span class="quiet small">${examples(one)}</span>`,
    ...(isTraced ? [traceHtml(one.trace)] : []),
    ...(isRuled ? [whyHtml(joinParts([one.rule, one.place], ", "), one.reason)] : []),
  ]);
  return blocks(
    `<p>${counted(integrations.length, "integration")}: ${escaped(andMore(integrations, { shown: manyExamples }))}</p>`,
    exposed === 0 ? "" : `<p class="note bad">${escaped(`${exposedText(exposed)}: ${andMore(exposedBy, { shown: manyExamples })}`)}</p>`,
    table("Changes by rule", heads, rows, "rules"),
  );
}

const examples = ({ nodes, count, isAlarm }: RuleChanges): string => {
  const most = isAlarm ? manyExamples : fewExamples;
  return `${count > most ? "such as " : ""}${andMore(nodes.map(code), { shown: most, total: count })}`;
};

// A browser lays out only open details, so many objects are split into bundles of this size.
const bundleSize = 100;

/** The objects with all their changes, in bundles if there are many. */
export function objectCards(objects: readonly ReportObject[], words: Words, isOpen: boolean): string {
  const drawn = (some: readonly ReportObject[]): string => some.map((object) => objectCard(object, words, isOpen)).join("\n");
  const bundles: string[] = [];
  for (let from = bundleSize; from < objects.length; from += bundleSize) {
    const some = objects.slice(from, from + bundleSize);
    const names = `${some[0]?.title ?? ""} to ${some.at(-1)?.title ?? ""}`;
    bundles.push(
      `<details class="card"><summary>Objects ${from + 1} to ${from + some.length} of ${objects.length} <span class="quiet">${escaped(names)}</span></summary><div class="inside">\n${drawn(some)}\n</div></details>`,
    );
  }
  return blocks(drawn(objects.slice(0, bundleSize)), ...bundles);
}

function objectCard({ title, address, liveId, items, changes, alarms, users }: ReportObject, words: Words, isOpen: boolean): string {
  const id = liveId === undefined ? "" : `<span class="quiet small">${escaped(liveId)}</span>`;
  const who = users.length === 0 ? "" : `<span class="quiet small">by ${escaped(andMore(users, { shown: 2 }))}</span>`;
  const summary = joinParts(
    [
      `<h3>${escaped(title)}</h3>`,
      id,
      chip(counted(changes, words.change), "quiet"),
      alarms === 0 ? "" : chip(`${alarms} ${words.risks[0].replace(/s$/u, "")}`, "bad"),
      who,
    ],
    " ",
  );
  return `<details class="card"${isOpen ? " open" : ""}><summary>${summary}</summary><div class="inside">
${items.map((item) => itemHtml(item, address, words)).join("\n")}
</div></details>`;
}

const actionTexts: Readonly<Record<ItemGroup["action"], readonly [plan: string, report: string]>> = {
  create: ["will be created", "is missing"],
  update: ["will be updated", "differs"],
  relate: ["will be attached", "is"],
  bind: ["id will be recorded", "id is not recorded"],
};

function itemHtml(item: ItemGroup, objectAddress: string, words: Words): string {
  const { address, action, liveName, liveId, renamedFrom, lines, left, on, exposed, isShort } = item;
  const former = renamedFrom === undefined ? "" : `renamed from ${escaped(renamedFrom)}`;
  const live = joinParts([escaped(liveName ?? ""), liveId === undefined ? "" : code(liveId), former], " ");
  const target =
    on === undefined ? "" : ` ${joinParts([escaped(on.text), on.name === "" ? "" : `<b>${escaped(on.name)}</b>`, code(on.id)], " ")}`;
  const text = actionTexts[action][words.change === "difference" ? 1 : 0];
  const [only] = lines;
  const cause = isShort && only !== undefined ? joinParts([traceHtml(only.trace), whyHtml(only.cause, only.reason)], " ") : "";
  return blocks(
    `<h4>${escaped(address)} ${text}${target} <span class="quiet small">${live}</span></h4>`,
    isShort ? "" : changeTable(lines, address === objectAddress ? "Changes" : `Changes of ${address}`, words),
    left === 0 ? "" : `<p>${counted(left, `more ${words.change}`)} ${left === 1 ? "is" : "are"} not listed. ${allNote(words)}</p>`,
    cause === "" ? "" : `<p>${cause}</p>`,
    exposed === 0 ? "" : `<p class="note bad">${exposedText(exposed)}.</p>`,
    requestsHtml(item),
  );
}

/** How to get what the page leaves out. */
const allNote = (words: Words): string => `${code(`${words.command} -o json`)} prints all of them.`;

function requestsHtml({ calls }: ReportGroup): string {
  const texts = calls.map(
    ({ method, path, requests }) => `${requests.length > 1 ? `${requests.length} × ` : ""}${code(`${method} ${path}`)}`,
  );
  return texts.length === 0 ? "" : `<p class="small">Requests: ${texts.join(", ")}</p>`;
}

/** Every change as a row. */
export function changeTable(lines: readonly ChangeLine[], caption: string, words: Words): string {
  if (lines.length === 0) return "";
  const isTraced = lines.some(({ origin, who }) => origin + who !== "");
  const isNew = lines.every(({ live }) => live === "");
  const heads = ["What", ...(isNew ? [] : [words.before]), words.after, ...(isTraced ? ["Origin"] : []), "Why"];
  const rows = lines.map((line) => [
    `${pathHtml(line.path)} ${riskChip(line)}`,
    ...(isNew ? [] : [valueHtml(line.live)]),
    valueHtml(line.desired),
    ...(isTraced ? [traceHtml(line.trace)] : []),
    whyHtml(line.cause, line.reason),
  ]);
  return table(caption, heads, rows);
}

const valueHtml = (text: string): string => (text.startsWith("(") ? `<span class="quiet">${escaped(text)}</span>` : code(text));

function pathHtml({ node, leaf }: ChangeLine["path"]): string {
  return `<code>${escaped(node)}${node === "" || leaf === "" ? "" : " "}<b>${escaped(leaf)}</b></code>`;
}

const riskChip = ({ risk, isAlarm }: { readonly risk: string; readonly isAlarm: boolean }): string => chip(risk, isAlarm ? "bad" : "good");

const whyHtml = (cause: string, reason: string): string =>
  joinParts([cause === "" ? "" : code(cause), reason === "" ? "" : `<span class="quiet">${escaped(reason)}</span>`], "<br>");

/** The origin as a chip, the user with the time, and the event of the audit log. */
export function traceHtml({ origin, attribution }: Traced): string {
  const who = attributionText(attribution);
  const event = attribution === undefined || attribution.own ? "" : `<span class="quiet small">“${escaped(attribution.event)}”</span>`;
  return joinParts([originChip(origin), who === "" ? "" : `<span class="who">${escaped(who)}</span>`, event], " ");
}

function originChip(origin: Traced["origin"]): string {
  const tones: Readonly<Record<string, Tone>> = { config: "info", drift: "warn", conflict: "bad" };
  return origin === undefined ? "" : chip(originText(origin), tones[origin] ?? "quiet");
}

/** "6 columns become readable" */
const exposedText = (count: number): string =>
  `${count === 1 ? "1 column becomes" : `${count} columns become`} readable (newly replicated or no longer hashed)`;
