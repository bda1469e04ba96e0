import type { Item } from "../../model/plan.ts";
import { counted } from "../../text/counts.ts";
import { attributionText, originText, traceOfAll } from "../report/attribution.ts";
import { causeText } from "../report/changes.ts";
import { groupText } from "../report/groups.ts";
import { totalsByRule } from "../report/rule-totals.ts";
import type { Wording } from "../report/wording.ts";
import type { Detail } from "./budget.ts";
import { code, prose, table } from "./escape.ts";

// Beyond so many rules the rest are counted.
const mostRules: Readonly<Record<Detail, number>> = { full: 100, "by rule": 100, "by object": 20, counts: 0 };

/** The schema configurations of many integrations as one table: what each rule does in all of them. */
export function fleetTable(group: readonly [Item, ...Item[]], detail: Detail, wording: Wording): string {
  const totals = totalsByRule(group);
  const most = mostRules[detail];
  const { title, names } = groupText(group);
  const isReport = wording.title === "Drift";
  const exposed = isReport ? 0 : group.reduce((sum, { exposedColumns = 0 }) => sum + exposedColumns, 0);
  const rows = totals.slice(0, most).map(({ first: { cause, risk, before, after }, changes, extent, deed, names: [name = ""] }) => {
    const { origin, attribution } = traceOfAll(changes);
    const word = wording.risk[risk];
    return [
      `${prose(isReport ? `${extent}, live ${String(before)}, declared ${String(after)}` : deed)}<br>such as ${code(name)}`,
      risk === wording.alarm ? `⚠️ **${word}**` : word,
      [originText(origin), attribution === undefined ? "" : prose(attributionText(attribution))].filter((part) => part !== "").join(", "),
      cause === undefined
        ? ""
        : code(cause.rule === undefined ? cause.file : causeText(cause, false)) +
          (cause.reason === undefined ? "" : `<br>${prose(cause.reason)}`),
    ];
  });
  const hasTrace = rows.some(([, , trace]) => trace !== "");
  const heads = ["What", "Risk", ...(hasTrace ? ["Origin"] : []), "Why"];
  return [
    `#### \`~\` ${title}: ${names.slice(0, 3).map(code).join(", ")}${names.length > 3 ? ` and ${names.length - 3} more` : ""}`,
    table(heads, hasTrace ? rows : rows.map(([what = "", word = "", , why = ""]) => [what, word, why])),
    totals.length > most ? `… and what ${totals.length - most} more rules do.` : "",
    exposed === 0 ? "" : `⚠️ **${counted(exposed, "column")} will flow in clear, or more than now.**`,
  ]
    .filter((block) => block !== "")
    .join("\n\n");
}
