import { visible } from "../../text/control-characters.ts";
import { andMore, joinParts } from "../../text/lists.ts";
import { actionSigns } from "../../text/signs.ts";
import { valueLines } from "../../text/values.ts";
import { attributionText } from "../report/attribution.ts";
import type { Call, ItemGroup, ReportGroup } from "../report/changes/groups.ts";
import { exposedText, type Words } from "../report/words.ts";
import { apart, type Block } from "./blocks.ts";
import { changeRows, ruleRows } from "./changes.ts";
import { type Cell, cell, joined, type Screen, tableLines, wrap } from "./layout.ts";

/** One item, or many similar ones. */
export function groupBlock(group: ReportGroup, words: Words, screen: Screen): Block {
  const { paint, width } = screen;
  const dimmed = (text: string): readonly string[] => wrap(text, "    ", width).map(paint.dim);
  switch (group.type) {
    case "names":
      return apart([
        ...head(group, screen, cell(group.title), attributionText(group.trace.attribution)),
        ...dimmed(andMore(group.names.map(visible))),
      ]);
    case "rules": {
      const several = group.integrations.length > 1 ? `${group.integrations.length} integrations: ${andMore(group.integrations)}` : "";
      return apart([...head(group, screen, cell(several, paint.dim)), ...ruleRows(group, screen), ...callLines(group.calls, [], screen)]);
    }
    case "item": {
      const lines = itemLines(group, words, screen);
      return { lines, tight: lines.length === 1 };
    }
  }
}

function itemLines(item: ItemGroup, words: Words, screen: Screen): readonly string[] {
  const { paint, width, verbose } = screen;
  const { action, lines, on, exposed, calls, after, isShort } = item;
  const target =
    on === undefined ? "" : joinParts([visible(on.text), visible(on.name), on.name === "" ? visible(on.id) : `(${visible(on.id)})`], " ");
  const [only] = isShort ? lines : [];
  const cause = joinParts([on === undefined ? "" : (only?.who ?? ""), only?.cause ?? ""], "   ");
  const title = head(item, screen, cell(target, paint.cyan), cause);
  const hasDetails = !isShort || (verbose && action !== "bind");
  if (!hasDetails) return title;
  return [
    ...title,
    ...changeRows(lines, action, words, screen),
    ...(exposed === 0 ? [] : wrap(`${exposedText(exposed)}.`, "    ", width).map((line) => paint.bold(paint.red(line)))),
    ...callLines(calls, after, screen),
  ];
}

/** "~ Schemas/orders   Orders (8f1c)   more" */
function head(group: ReportGroup, { paint, width }: Screen, more: Cell, last = ""): readonly string[] {
  const { action, address, liveName = "", liveId, renamedFrom } = group;
  const color = { create: paint.green, update: paint.yellow, relate: paint.cyan, bind: paint.dim }[action];
  const id = liveId === undefined ? "" : `(${visible(liveId)})`;
  const renamed = renamedFrom === undefined ? "" : `renamed from ${visible(renamedFrom)}`;
  const name = joined(
    cell(actionSigns[action], color),
    cell(address === "" ? "" : ` ${visible(address)}`, action === "bind" ? paint.dim : paint.bold),
  );
  return tableLines(
    [[name, cell(joinParts([joinParts([visible(liveName), id], " "), renamed], ", "), paint.dim), more, cell(last, paint.dim)]],
    "",
    width,
  );
}

/** "↳ 2 × PATCH /v1/…, after Asset/lake"; the bodies with -v. */
function callLines(calls: readonly Call[], after: readonly string[], { paint, verbose, width }: Screen): readonly string[] {
  const first = after.length === 0 ? "" : `, after ${andMore(after.map(visible))}`;
  return calls
    .flatMap(({ method, path, requests }, index) => {
      const count = requests.length === 1 ? "" : path === "" ? `${requests.length} ` : `${requests.length} × `;
      const text = `↳ ${count}${joinParts([method, visible(path)], " ")}${index === 0 ? first : ""}`;
      const shown = verbose ? requests.flatMap((request) => valueLines(request.body).map((line) => `        ${line}`)) : [];
      return [...wrap(text, "    ", width), ...shown];
    })
    .map(paint.dim);
}
