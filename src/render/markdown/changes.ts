import { manifestAddress } from "../../model/address.ts";
import type { Change, Item } from "../../model/plan.ts";
import { counted } from "../../text/counts.ts";
import { pathText, spaced, wholePath } from "../../text/paths.ts";
import { valueText } from "../../text/values.ts";
import { attributionText, originText, type Traced, traceOfAll } from "../report/attribution.ts";
import { causeText, flattenChanges } from "../report/changes.ts";
import { groupByRule, groupItems, groupText, isOneLine, isSchemaChange, relationTarget } from "../report/groups.ts";
import type { Wording } from "../report/wording.ts";
import type { Detail } from "./budget.ts";
import { code, details, prose, table } from "./escape.ts";
import { fleetTable } from "./fleet.ts";

// Of more changes than this the groups are shown, and each one folded away.
const mostOpenRows = 25;
const signs = { create: "+", update: "~", relate: "→", bind: "=" } as const;

/** The parts for all items: a heading with a table each, lists of what one line tells; grouped, or counted, in the shorter forms. */
export function itemBlocks(items: readonly Item[], detail: Detail, wording: Wording): string {
  const groups = detail === "full" ? items.map((item) => [item] as const) : groupItems(items);
  let text = "";
  let wasLine = false;
  for (const group of groups) {
    const [item] = group;
    const isFleet = group.length > 1 && isSchemaChange(item);
    const isLine = !isFleet && (detail === "by object" || group.length > 1 || isOneLine(item));
    const block = isFleet
      ? fleetTable(group, detail, wording)
      : group.length > 1
        ? groupLine(group)
        : isLine
          ? itemLine(item, wording)
          : itemTable(item, detail, wording);
    text += text === "" ? block : (wasLine && isLine ? "\n" : "\n\n") + block;
    wasLine = isLine;
  }
  return text;
}

function head({ action, address, liveName, liveId }: Item): string {
  const live = spaced(liveName === undefined ? "" : code(liveName), liveId === undefined ? "" : `(${code(liveId)})`);
  return spaced(`\`${signs[action]}\``, code(address), live);
}

function groupLine(group: readonly [Item, ...Item[]]): string {
  const [{ action, address }] = group;
  const { title, names } = groupText(group);
  const owner = action === "relate" ? `${code(manifestAddress(address))} ` : "";
  return `- \`${signs[action]}\` ${owner}${title}: ${names.slice(0, 3).map(code).join(", ")} and ${names.length - 3} more`;
}

function itemLine(item: Item, wording: Wording): string {
  const on = relationTarget(item);
  const [only] = item.changes;
  const target = on === undefined ? "" : ` on ${code(on.type)} ${code(on.id)}`;
  const rest = !isOneLine(item)
    ? `: ${changeCounts(item.changes, wording)}`
    : only?.cause === undefined
      ? ""
      : ` (${code(causeText(only.cause, false))})`;
  return `- ${head(item)}${target}${rest}`;
}

function itemTable(item: Item, detail: Detail, wording: Wording): string {
  const { requests, exposedColumns = 0 } = item;
  const changes = flattenChanges(item.changes, item.action);
  const isReport = wording.title === "Drift";
  const counts = new Map<string, number>();
  for (const { method, path } of requests) counts.set(`${method} ${path}`, (counts.get(`${method} ${path}`) ?? 0) + 1);
  const calls = [...counts].map(([call, count]) => (count > 1 ? `${count} × ${code(call)}` : code(call))).join(", ");
  return [
    `#### ${head(item)}`,
    changes.length === 0 ? "" : changeTables(changes, detail, wording),
    exposedColumns === 0 || isReport ? "" : `⚠️ **${counted(exposedColumns, "column")} will flow in clear, or more than now.**`,
    calls === "" || isReport ? "" : `Calls: ${calls}`,
  ]
    .filter((block) => block !== "")
    .join("\n\n");
}

/** The changes as a table; of many, the groups openly and each one folded, so that what exposes is seen without a click. */
function changeTables(changes: readonly Change[], detail: Detail, wording: Wording): string {
  const traces = {
    origin: changes.some(({ origin }) => originText(origin) !== ""),
    who: changes.some(({ attribution }) => attribution !== undefined),
  };
  const traceHeads = [...(traces.origin ? ["Origin"] : []), ...(traces.who ? ["Who"] : [])];
  const draw = (rows: readonly (readonly string[])[]) => table(["Path", wording.before, wording.after, "Risk", ...traceHeads, "Why"], rows);
  const each = () => changes.map((change) => row(change, code(wholePath(change.path)), wording, change, traces));
  if (detail === "full" && changes.length <= mostOpenRows) return draw(each());
  const groups = groupByRule(changes).map(({ first, changes: group }) =>
    row(first, group.length === 1 ? code(wholePath(first.path)) : groupPath(first, group), wording, traceOfAll(group), traces),
  );
  if (detail === "full" && groups.length > mostOpenRows) return details(changeCounts(changes, wording), draw(each()));
  return detail === "full" ? `${draw(groups)}\n\n${details(changeCounts(changes, wording), draw(each()))}` : draw(groups);
}

function groupPath({ path }: Change, group: readonly Change[]): string {
  const { node, leaf } = pathText(path);
  return `${group.length} ×${leaf === "" ? "" : ` ${code(leaf)}`}, such as ${code(node === "" ? wholePath(path) : node)}`;
}

/** "12 changes, 2 expose, 10 protect": letters and digits only, so that it is safe in HTML as well. */
function changeCounts(changes: readonly Change[], { risks }: Wording): string {
  const count = (of: Change["risk"]) => changes.filter(({ risk }) => risk === of).length;
  const parts = (["exposes", "protects", "exposed", "stricter"] as const)
    .filter((of) => count(of) > 0)
    .map((of) => `${count(of)} ${risks[of]}`);
  return [counted(changes.length, "change"), ...parts].join(", ");
}

/** Which of the two columns the table has. */
interface TraceColumns {
  readonly origin: boolean;
  readonly who: boolean;
}

function row(
  { path, before, after, risk, cause }: Change,
  shownPath: string,
  wording: Wording,
  { origin, attribution }: Traced,
  columns: TraceColumns,
): readonly string[] {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const value = (of: Change["before"]) => (of === undefined ? "" : code(valueText(of, name)));
  const word = wording.risk[risk];
  const reason = cause?.reason === undefined ? "" : `<br>${prose(cause.reason)}`;
  return [
    shownPath,
    value(before),
    value(after),
    risk === wording.alarm ? `⚠️ **${word}**` : word,
    ...(columns.origin ? [originText(origin)] : []),
    ...(columns.who ? [attribution === undefined ? "" : prose(attributionText(attribution))] : []),
    cause === undefined ? "" : code(causeText(cause, false)) + reason,
  ];
}
