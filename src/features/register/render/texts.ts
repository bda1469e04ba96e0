import { kindNames } from "../../../core/kinds/manifests.ts";
import { type Register, type RegisterRow, stateText } from "../../../core/model/register.ts";
import { code, muted, type Span, type Table, textTable, word } from "../../../core/render/blocks.ts";
import { counted } from "../../../core/text/counts.ts";
import { joinParts } from "../../../core/text/lists.ts";
import { nameText } from "../../../core/text/paths.ts";

// What the forms of the register for people share.

export const sourcePath = ({ schema, table, column }: RegisterRow): string => [schema, table, column].map(nameText).join(".");

/** "" if the service returned no names for the destination. */
const destinationPath = ({ destinationSchema, destinationTable, destinationColumn }: RegisterRow): string =>
  [destinationSchema, destinationTable, destinationColumn]
    .filter((name) => name !== "")
    .map(nameText)
    .join(".");

/** "Exempt: DPIA-41, approved by privacy@example.com, expires 2027-03-31"; "Breaks pii-must-be-hashed" */
function verdictText({ exemption, approvedBy, expires, breaks }: RegisterRow): string {
  const exempt = [exemption, approvedBy === "" ? "" : `approved by ${approvedBy}`, expires === "" ? "" : `expires ${expires}`];
  return joinParts(
    [breaks.length === 0 ? "" : `Breaks ${breaks.join(", ")}`, exemption === "" ? "" : `Exempt: ${joinParts(exempt, ", ")}`],
    ". ",
  );
}

/** The columns of an integration, or of several. What matters most is first, because a narrow terminal leaves out the last ones. */
export const columnTable = (rows: readonly RegisterRow[]): Table => ({
  heads: ["Column", "State", "Label", "Exemption", "Decided by", "Destination"],
  rows: rows.map((row) => [
    [code(sourcePath(row))],
    [stateSpan(row)],
    [row.label, muted(row.labelSource)],
    [verdictText(row)],
    [code(row.rule), muted(row.reason)],
    [code(destinationPath(row))],
  ]),
});

/** The rows of one integration after the other. */
export function* byIntegration(rows: Iterable<RegisterRow>): Iterable<readonly [RegisterRow, ...RegisterRow[]]> {
  let group: [RegisterRow, ...RegisterRow[]] | undefined;
  for (const row of rows) {
    if (group?.[0].integrationId === row.integrationId) group.push(row);
    else {
      if (group !== undefined) yield group;
      group = [row];
    }
  }
  if (group !== undefined) yield group;
}

function stateSpan(row: RegisterRow): Span {
  const text = stateText(row);
  if (text === "readable") return word(text, row.exemption === "" ? "bad" : "warn");
  return text === "hashed" ? word(text, "good") : muted(text);
}

/** By integration and label. */
export const summaryTable = ({ summary }: Register): Table =>
  textTable(
    [kindNames.integration, "Label", "Columns", "Hashed", "Readable", "Exempt", "Not replicated", "Breaking"],
    summary.map(({ integration, label, columns, hashed, readable, exempt, off, breaking }) => [
      integration,
      label,
      ...[columns, hashed, readable, exempt, off, breaking].map(String),
    ]),
  );

/** "14 labelled columns in 2 integrations: 9 hashed, 2 readable, 3 not replicated. 1 breaks a policy." */
export function totalText({ summary }: Pick<Register, "summary">): string {
  const sum = (key: "columns" | "hashed" | "readable" | "off" | "breaking" | "exempt"): number =>
    summary.reduce((total, one) => total + one[key], 0);
  const integrations = new Set(summary.map(({ integration }) => integration)).size;
  if (sum("columns") === 0) return "No column has a label.";
  const exempt = sum("exempt") === 0 ? "" : ` (${sum("exempt")} exempt)`;
  const breaking = sum("breaking");
  return `${counted(sum("columns"), "labelled column")} in ${counted(integrations, "integration")}: ${sum("hashed")} hashed, ${sum("readable")} readable${exempt}, ${sum("off")} not replicated.${breaking === 0 ? "" : ` ${breaking === 1 ? "1 breaks" : `${breaking} break`} a policy.`}`;
}
