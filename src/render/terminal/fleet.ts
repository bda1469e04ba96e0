import type { Item } from "../../model/plan.ts";
import { visible } from "../../text/control-characters.ts";
import { counted } from "../../text/counts.ts";
import { attributionText, originText, traceOfAll } from "../report/attribution.ts";
import { placeText } from "../report/changes.ts";
import { groupText } from "../report/groups.ts";
import { totalsByRule } from "../report/rule-totals.ts";
import type { Wording } from "../report/wording.ts";
import type { Screen } from "./layout.ts";
import { alignRows, cell, type Row, wrap } from "./layout.ts";

// So many integrations are named where columns are exposed; the rest are counted.
const mostExposing = 10;

/**
 * The schema configurations of many integrations as one: what each rule does in all of them, "pii-email   hash 312 columns in 87 tables of 9
 * integrations". What a reviewer must not miss comes first and with more examples.
 */
export function fleetLines(group: readonly [Item, ...Item[]], screen: Screen, wording: Wording): readonly string[] {
  const { paint, width } = screen;
  const isReport = wording.title === "Drift";
  const { title, names } = groupText(group);
  const rows = totalsByRule(group).flatMap(({ first, changes, extent, deed, names: nodes }): readonly Row[] => {
    const isAlarming = first.risk === wording.alarm;
    const strong = isAlarming ? (text: string) => paint.bold(paint.red(text)) : paint.green;
    const { rule, reason, ...place } = first.cause ?? {};
    const { origin, attribution } = traceOfAll(changes);
    const said = isReport ? `${extent}, live ${String(first.before)}, declared ${String(first.after)}` : deed;
    return [
      [
        cell(rule === undefined ? (first.cause?.file ?? "") : visible(rule)),
        cell(said, strong),
        cell(wording.risk[first.risk], strong),
        cell(originText(origin), paint.magenta),
        cell(attributionText(attribution)),
        cell(`${rule === undefined ? "" : placeText(place)}${reason === undefined ? "" : ` (${visible(reason)})`}`, paint.dim),
      ],
      ...wrap(withRest(nodes, isAlarming ? mostExposing : 3), "      ", width).map(paint.dim),
    ];
  });
  const exposing = isReport ? [] : group.filter(({ exposedColumns = 0 }) => exposedColumns > 0);
  const exposed = exposing.reduce((sum, { exposedColumns = 0 }) => sum + exposedColumns, 0);
  const where = exposing.map(({ liveName, address, exposedColumns }) => `${visible(liveName ?? address)} (${exposedColumns})`);
  const calls = group.reduce((sum, { requests }) => sum + requests.length, 0);
  return [
    `${paint.yellow("~")} ${paint.bold(title)}   ${paint.dim(withRest(names.map(visible), 3))}`,
    ...alignRows(rows, "    "),
    ...(exposed === 0
      ? []
      : [
          `    ${paint.bold(paint.red(`${counted(exposed, "column")} will flow in clear, or more than now:`))} ${withRest(where, mostExposing)}`,
        ]),
    ...(isReport ? [] : [paint.dim(`    ↳ ${calls} PATCH`)]),
  ];
}

const withRest = (names: readonly string[], most: number): string =>
  `${names.slice(0, most).join(", ")}${names.length > most ? ` and ${names.length - most} more` : ""}`;
