import { createHash } from "node:crypto";
import { failureReasons } from "../../cli/github-outputs.ts";
import { byText } from "../../core/model/address.ts";
import { eachChange } from "../../core/model/changes.ts";
import { defined, isObject, own, sameJson } from "../../core/model/json/json.ts";
import type { Plan } from "../../core/model/plan.ts";
import type { RenderOptions } from "../../core/render/document.ts";
import { code, details, prose } from "../../core/render/markdown/escape.ts";
import { renderMarkdown } from "../../core/render/markdown/index.ts";
import { isEmpty, summaryLine } from "../../core/render/report/totals.ts";
import { visible } from "../../core/text/control-characters.ts";
import { andMore, joinParts } from "../../core/text/lists.ts";
import { cutMiddle } from "../../core/text/values.ts";
import type { Section } from "./comments.ts";
import type { FailedTarget } from "./job.ts";

/** What a comment says about a target, and what the next one compares itself with. */
interface SectionContent {
  readonly text: string;
  /** Base64, or "" if unknown. */
  readonly state: string;
  readonly isEmpty: boolean;
}

interface SectionOptions {
  /** The characters that it may take. */
  readonly room: number;
  readonly touches?: RenderOptions["touches"];
}

/** The section of a plan, with what changed since the one that had the state `before`; an empty plan is collapsed. */
export function planSection(plan: Plan, before: string, { room, touches }: SectionOptions): SectionContent {
  const now = stateOf(plan, room);
  // What was not read cannot be compared with the last comment.
  const state = plan.complete ? Buffer.from(JSON.stringify(now)).toString("base64") : before;
  const since = plan.complete ? sinceText(readState(before), now) : "";
  const legend = legendOf(plan);
  const budget = room - state.length - since.length - legend.length - 300;
  const options = { color: false, verbose: false, budget, ...(touches === undefined ? {} : { touches }) };
  const [head = "", ...parts] = renderMarkdown(plan, options).trim().split("\n\n");
  const rest = [...parts, ...(legend === "" ? [] : [legend])];
  const isNothing = isEmpty(plan);
  const text = isNothing
    ? joinParts([details(prose(summaryLine(plan)), [head, ...rest].join("\n\n")), since], "\n\n")
    : joinParts([head, since, ...rest], "\n\n");
  return { text, state, isEmpty: isNothing };
}

const legendOf = ({ summary: { protects = 0, exposes = 0 } }: Plan): string =>
  protects + exposes === 0
    ? ""
    : "<sub>A change *protects* if less data is readable after apply, because it is hashed or not replicated. It *exposes* if more is.</sub>";

/** The section of a target that could not be planned: why. It keeps the state of the last plan. */
export const noPlanSection = ({ target, failure }: FailedTarget, before: string): SectionContent => ({
  text: [`## ${notMade("plan", target)}`, ...failureReasons(failure)].join("\n\n"),
  state: before,
  isEmpty: false,
});

/** The section of a target that was not planned, because no file of the project changed. */
export const unchangedSection = (target: string): SectionContent => ({
  text: `## No changes for ${code(cutMiddle(target, 80))}\n\nThe pull request changes no file of the project.`,
  state: "",
  isEmpty: true,
});

/** The section of a target after a run that failed before it planned any. */
export const withdrawnSection = ({ target, state }: Section): Section => ({
  target,
  state,
  text: `## ${notMade("plan", target)}\n\nThe last run of \`dimsync plan\` failed before it made one.`,
});

/** "No plan for `prod`", in Markdown. */
export const notMade = (what: "plan" | "drift report", target: string): string => `No ${what} for ${code(cutMiddle(target, 80))}`;

/** A plan, as far as the next comment compares itself with it. */
interface PlanState {
  /** By what is counted. */
  readonly totals: Readonly<Record<string, number>>;
  /** The digests of the objects, by address; absent if they are too many. */
  readonly objects?: Readonly<Record<string, string>>;
  /** Of all objects. */
  readonly content: string;
  /** Of the manifests with their variables. */
  readonly manifests?: string;
}

function stateOf(plan: Plan, room: number): PlanState {
  const { summary, items, held = [], manual, blocked, deferred, policy, guards } = plan;
  const found = (state: "new" | "existing"): number => policy.filter((finding) => finding.state === state).length;
  const totals = {
    "to create": summary.create,
    "to update": summary.update,
    "to relate": summary.relate,
    "to detach": summary.unrelate ?? 0,
    "to bind": summary.bind,
    manual: summary.manual,
    blocked: summary.blocked,
    deferred: summary.deferred,
    held: summary.held ?? 0,
    "changes that protect": summary.protects ?? 0,
    "changes that expose": summary.exposes ?? 0,
    "new policy findings": found("new"),
    "existing policy findings": found("existing"),
    "exempt policy findings": (plan.exemptions ?? []).reduce((sum, { places }) => sum + places.length, 0),
    loosened: plan.loosened?.length ?? 0,
    "guards that refuse": guards.filter(({ allowed }) => allowed === undefined).length,
  };
  const parts = new Map<string, ReturnType<typeof createHash>>();
  const add = (address: string, ...values: readonly unknown[]): void => {
    const hash = parts.get(address) ?? createHash("sha256");
    parts.set(address, hash.update(`${JSON.stringify(values)}\n`));
  };
  // Plans that only differ in ids of items, lines of manifests or attribution count as the same.
  for (const item of [...items, ...held]) {
    add(item.address, "action" in item ? item.action : "held");
    for (const { path, before, after } of eachChange(item)) add(item.address, path, before, after);
  }
  for (const { address, path, expected, actual } of manual) add(address, path, expected, actual);
  for (const { address, code: of } of blocked) add(address, of);
  for (const { address, waitsFor } of deferred) add(address, waitsFor);
  const objects = Object.fromEntries([...parts].map(([address, hash]) => [address, hash.digest("hex").slice(0, 8)]));
  const short = (value: unknown): string => createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);
  const content = short(Object.entries(objects).sort(([a], [b]) => byText(a, b)));
  const known = { totals, content, manifests: short(plan.manifestDigest) };
  return { ...known, ...(JSON.stringify(objects).length > Math.min(4_000, room / 8) ? {} : { objects }) };
}

/** A comment can be edited by others. */
function readState(text: string): PlanState | undefined {
  try {
    const state: unknown = JSON.parse(Buffer.from(text, "base64").toString("utf8"));
    if (!isObject(state)) return undefined;
    const { content, manifests } = withValues(state, isText) ?? {};
    if (content === undefined) return undefined;
    const objects = withValues(own(state, "objects"), isText);
    return { totals: withValues(own(state, "totals"), isNumber) ?? {}, content, ...defined({ objects, manifests }) };
  } catch {
    return undefined;
  }
}

const isText = (value: unknown): value is string => typeof value === "string";
const isNumber = (value: unknown): value is number => typeof value === "number";

function withValues<T extends string | number>(
  object: unknown,
  isRight: (value: unknown) => value is T,
): Readonly<Record<string, T>> | undefined {
  if (!isObject(object)) return undefined;
  return Object.fromEntries(Object.entries(object).flatMap(([key, value]) => (isRight(value) ? [[key, value] as const] : [])));
}

/** "**Since the last comment:** new: `Schemas/orders`; blocked: 3 (was 0)."; "" without one. */
function sinceText(before: PlanState | undefined, now: PlanState): string {
  if (before === undefined) return "";
  if (before.content === now.content && sameJson(before.totals, now.totals)) return "The plan is the same as in the last comment.";
  const parts = [...objectParts(before.objects, now.objects), ...totalParts(before.totals, now.totals)];
  return parts.length === 0 ? "The plan differs from the one in the last comment." : `**Since the last comment:** ${parts.join("; ")}.`;
}

/** How a plan differs from the one in a comment with this state; undefined if it would send the same for the same manifests. In plain text. */
export function differenceFrom(state: string, plan: Plan): string | undefined {
  const before = readState(state);
  if (before === undefined) return "the comment has no plan of this target";
  const now = stateOf(plan, Number.POSITIVE_INFINITY);
  const others = before.manifests === now.manifests ? [] : ["the manifests or their variables have changed since"];
  const changed = before.content === now.content ? [] : objectParts(before.objects, now.objects, (address) => visible(address));
  if (before.content !== now.content && changed.length === 0) return [...others, "it has other changes"].join("; ");
  return others.length + changed.length === 0 ? undefined : [...others, ...changed].join("; ");
}

const mostNames = 5;

function objectParts(
  before: PlanState["objects"],
  now: PlanState["objects"],
  shown = (address: string): string => code(cutMiddle(address, 80)),
): readonly string[] {
  if (before === undefined || now === undefined) return [];
  const part = (words: string, from: Readonly<Record<string, string>>, isOne: (address: string) => boolean): string => {
    const names = Object.keys(from).filter(isOne).map(shown);
    return names.length === 0 ? "" : `${words}: ${andMore(names, "object", { shown: mostNames })}`;
  };
  return [
    part("new", now, (address) => own(before, address) === undefined),
    part("different", now, (address) => own(before, address) !== undefined && own(before, address) !== own(now, address)),
    part("no longer", before, (address) => own(now, address) === undefined),
  ].filter((text) => text !== "");
}

const totalParts = (before: PlanState["totals"], now: PlanState["totals"]): readonly string[] =>
  Object.entries(now).flatMap(([words, count]) => {
    const was = own(before, words) ?? 0;
    return was === count ? [] : [`${words}: ${count} (was ${was})`];
  });
