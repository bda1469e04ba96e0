import { nodePath } from "../../cli/argument-values.ts";
import type { Context } from "../../cli/context.ts";
import { checkOutputs, deliverForms } from "../../cli/output.ts";
import { withRun } from "../../cli/progress.ts";
import { loadValidProject } from "../../cli/project.ts";
import type { ExitCode } from "../../core/base/model/exit.ts";
import { isObject } from "../../core/base/model/json/json.ts";
import { placeText } from "../../core/base/model/problem.ts";
import { jsonDocument } from "../../core/base/text/control-characters.ts";
import { counted } from "../../core/base/text/counts.ts";
import { type Entry, labelText, muted, name, notKeptText, type Section, untitled } from "../../core/render/index.ts";
import { sectionsText } from "../../core/render/terminal/index.ts";
import { type ExplainedNode, explainSchemaNode } from "./explain.ts";

/** `dimsync explain ADDRESS SCHEMA[.TABLE[.COLUMN]]`. Only sends GET. */
export async function runExplain(context: Context, address: string, path: string | undefined): Promise<ExitCode> {
  checkOutputs(context, ["human", "json"]);
  const node = nodePath("explain", path);
  const project = await loadValidProject(context, { account: true, interruptible: true });
  const explained = await withRun(context, (run) => explainSchemaNode(project, { address, node }, run));
  await deliverForms(context, {
    human: (options) => explained.map((one) => sectionsText(explainSections(one), options)).join("\n"),
    json: () => jsonDocument(explained),
  });
  return 0;
}

/**
 * One node: the rules and literal entries that apply, what results, what is live, what would be sent,
 * and what the audit log shows.
 */
export function explainSections(one: ExplainedNode): readonly Section[] {
  const path = one.path.map((part) => (/^[\p{L}\p{N}_$-]+$/u.test(part ?? "") ? part : JSON.stringify(part))).join(".");
  const none: Entry = { head: [["No rule or literal entry applies to it."]] };
  return [
    untitled("node", [{ head: [[name(one.address)], [name(path)]] }]),
    untitled("said", one.said.length === 0 ? [none] : one.said.map(saidEntry)),
    untitled(
      "facts",
      factsOf(one)
        .filter(([, text]) => text !== "")
        .map(([label, text]) => ({ head: [[muted(label)], [text]] })),
    ),
  ];
}

type Fact = readonly [label: string, text: string];

function factsOf(one: ExplainedNode): readonly Fact[] {
  return [
    ["live", one.absent ?? fields(one.live ?? {})],
    ["outcome", outcomeText(one)],
    ["stopped", one.stoppedBy === undefined ? "" : `not replicated, because ${one.stoppedBy} is or will be disabled`],
    ["ignored", one.leftAlone.length === 0 ? "" : `${one.leftAlone.join(" and ")}, by an ignore entry in the config`],
    ...one.refused.map(({ rule, message, file, line }): Fact => ["refused", `${rule} ${placeText({ file, line })}: ${message}`]),
    ...(one.notKept ?? []).map((value): Fact => ["not kept", notKeptText(value)]),
    ["change", one.changes.length === 0 ? "none" : ""],
    ...one.changes.map(({ key, before, after, risk }): Fact => ["change", `${key} ${before ?? "unknown"} → ${after}   ${risk}`]),
    ...(one.notSent ?? []).map((text): Fact => ["not sent", text]),
    ...requestFacts(one),
    ...eventTexts(one).map((text, index): Fact => [index === 0 ? "events" : "", text]),
  ];
}

function outcomeText({ state, live, outcome }: ExplainedNode): string {
  const managed = `managed: ${fields(outcome)}`;
  if (live === undefined) return `would be ${state === "managed" ? managed : state}`;
  return state === "managed" ? managed : `${state}: it stays as it is`;
}

function saidEntry({ rule, effect, set, wins, label, file, line, reason = "" }: ExplainedNode["said"][number]): Entry {
  const effectOnField =
    wins.length > 0 ? `decides ${wins.join(" and ")}` : effect === "set" && Object.keys(set).length > 0 ? "overridden" : "";
  return {
    head: [
      [rule ?? "literal"],
      [effectText(effect, set)],
      [effectOnField],
      [placeText({ file, line }), labelText([{ label }])],
      [muted(reason)],
    ],
  };
}

function effectText(effect: ExplainedNode["said"][number]["effect"], set: object): string {
  if (effect === "ignore") return "ignores it";
  if (effect === "refuse") return "refuses it, because nothing covers it";
  if (effect === "ignore-above") return "ignores a node above it";
  return effect === "narrowed" ? "does not apply (where)" : fields(set);
}

/** Other changes are only counted. */
function requestFacts({ requests, changes, changesInAll, unreadTables, address }: ExplainedNode): readonly Fact[] {
  const rest = changesInAll - changes.length;
  const others = `${unreadTables === undefined ? "" : "at least "}${counted(rest, "other change")} of ${address}`;
  const parts = requests.flatMap(({ method, path: to, body }): readonly Fact[] => [
    ["request", `${method} ${to}${rest === 0 ? "" : `, here without ${others}`}`],
    ["", JSON.stringify(body)],
  ]);
  const none: Fact = ["request", rest === 0 ? "" : `none for it; a plan makes ${others}`];
  const unread = `the columns of ${counted(unreadTables ?? 0, "other table")}; a plan may find more changes and errors there`;
  return [...(changes.length === 0 ? [none] : parts), ["unread", unreadTables === undefined ? "" : unread]];
}

function eventTexts({ events, eventsUnavailable }: ExplainedNode): readonly string[] {
  if (eventsUnavailable !== undefined) return [`not available: ${eventsUnavailable}`];
  if (events.length === 0) return ["none for its schemas in the last 30 days"];
  return events.map(({ timestamp, actor, event }) => `${timestamp}   ${actor.email ?? actor.type ?? "unknown user"}   ${event}`);
}

/** Scalar members in a row: "enabled: true, hashed: false". */
function fields(value: object): string {
  if (!isObject(value)) return "";
  const scalars = Object.entries(value).filter(([, member]) => typeof member !== "object" && member !== undefined);
  return scalars.length === 0 ? "nothing" : scalars.map(([key, member]) => `${key}: ${String(member)}`).join(", ");
}
