import { manifestAddress } from "../../model/address.ts";
import type { Action, Item, Plan } from "../../model/plan.ts";
import { visible } from "../../text/control-characters.ts";
import { counted } from "../../text/counts.ts";
import { valueLines } from "../../text/values.ts";
import { causeText } from "../report/changes.ts";
import { groupItems, groupText, isOneLine, isSchemaChange, relationTarget } from "../report/groups.ts";
import type { Wording } from "../report/wording.ts";
import { changeLines, type Grouping } from "./changes.ts";
import { fleetLines } from "./fleet.ts";
import type { Screen } from "./layout.ts";

/** Lines that belong together; tight ones follow each other without a blank line. */
export interface Block {
  readonly lines: readonly string[];
  readonly tight: boolean;
}

// More change lines than this are shown by rule; all of them with -v.
const mostChangeLines = 200;

const signs: Readonly<Record<Action, string>> = { create: "+", update: "~", relate: "→", bind: "=" };

/** How the items of a plan are shown: each change, unless there are so many that nobody would read them. */
export function groupingOf(plan: Plan, screen: Screen): Grouping {
  return screen.verbose || changeLineCount(plan) <= mostChangeLines ? "each" : "by rule";
}

export function changeLineCount(plan: Plan): number {
  return plan.items.reduce((sum, { changes }) => sum + Math.max(1, changes.length), 0);
}

/** One block an item; in a large plan the relations of one tag share a block, all ids to record, and all changes of schemas. */
export function itemBlocks(plan: Plan, screen: Screen, wording: Wording): readonly Block[] {
  const grouping = groupingOf(plan, screen);
  const addresses = new Map(plan.items.map(({ id, address }) => [id, address]));
  if (grouping === "each") return plan.items.map((item) => itemBlock(item, addresses, grouping, screen, wording));
  return groupItems(plan.items).map((group) =>
    group.length === 1
      ? itemBlock(group[0], addresses, grouping, screen, wording)
      : isSchemaChange(group[0])
        ? { lines: fleetLines(group, screen, wording), tight: false }
        : groupBlock(group, screen),
  );
}

function itemBlock(item: Item, addresses: ReadonlyMap<string, string>, grouping: Grouping, screen: Screen, wording: Wording): Block {
  const { paint } = screen;
  const [only] = item.changes;
  const isShort = isOneLine(item) && (item.action === "bind" || !screen.verbose);
  const on = relationTarget(item);
  const cause = isShort && only?.cause !== undefined ? paint.dim(`   ${causeText(only.cause, false)}`) : "";
  const exposed = wording.title === "Drift" ? 0 : (item.exposedColumns ?? 0);
  const lines = [
    header(item, screen) + (on === undefined ? "" : paint.cyan(`   on ${visible(on.type)} ${visible(on.id)}`)) + cause,
    ...(isShort ? [] : changeLines(item.changes, item.action, grouping, screen, wording)),
    ...(exposed > 0 ? [`    ${paint.bold(paint.red(`${counted(exposed, "column")} will flow in clear, or more than now.`))}`] : []),
    ...(isShort || wording.title === "Drift" ? [] : callLines(item, addresses, screen)),
  ];
  return { lines, tight: lines.length === 1 };
}

function header({ action, address, liveName, liveId, renamedFrom }: Item, { paint }: Screen): string {
  const color = { create: paint.green, update: paint.yellow, relate: paint.cyan, bind: paint.dim }[action];
  const id = liveId === undefined ? "" : `(${visible(liveId)})`;
  const live = [liveName === undefined ? "" : visible(liveName), id].filter((part) => part !== "").join(" ");
  const name = action === "bind" ? paint.dim(visible(address)) : paint.bold(visible(address));
  const former = renamedFrom === undefined ? "" : `, renamed from ${visible(renamedFrom)}`;
  return `${color(signs[action])} ${name}${live === "" ? "" : `   ${paint.dim(live + former)}`}`;
}

function callLines({ requests, dependsOn }: Item, addresses: ReadonlyMap<string, string>, { paint, verbose }: Screen): readonly string[] {
  const first = dependsOn.map((id) => visible(addresses.get(id) ?? id)).join(", ");
  return requests.flatMap(({ method, path, body }, index) => [
    paint.dim(
      `    ↳ ${method} ${visible(path)}${requests.length > 1 ? ` (${index + 1} of ${requests.length})` : ""}${index === 0 && first !== "" ? `, after ${first}` : ""}`,
    ),
    ...(verbose ? valueLines(body).map((line) => paint.dim(`        ${line}`)) : []),
  ]);
}

function groupBlock(group: readonly [Item, ...Item[]], { paint }: Screen): Block {
  const [{ action, address }] = group;
  const { title, names } = groupText(group);
  const heading =
    action === "bind"
      ? paint.dim(`${signs[action]} ${title}`)
      : `${paint.cyan(signs[action])} ${paint.bold(visible(manifestAddress(address)))}   ${title}`;
  return { lines: [heading, paint.dim(`    ${names.slice(0, 3).map(visible).join(", ")} and ${names.length - 3} more`)], tight: false };
}
