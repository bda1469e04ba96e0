import type { RecordedColumns } from "../../core/catalog/seen.ts";
import { columnLabels, enterLabels, type LabelScope } from "../../core/kinds/patterns/labels.ts";
import { decisionOf, type RuleCache } from "../../core/kinds/schemas.ts";
import { locatedLabel } from "../../core/model/cause.ts";
import type { LiveIntegration, LiveReference, LiveSchemas } from "../../core/model/live.ts";
import { type NodePath, nodePointer } from "../../core/model/nodes.ts";
import { type Locate, placeText } from "../../core/model/problem.ts";
import type { RegisterRow } from "../../core/model/register.ts";
import { type Field, isEnabled, walk } from "../../core/model/schema-tree.ts";
import type { PolicyResults } from "../../core/policies/results.ts";

/** One integration, and what the project says about it. */
export interface RegisteredIntegration {
  readonly live: LiveIntegration;
  /** Its name in addresses. */
  readonly name: string;
  readonly tree: LiveSchemas;
  readonly labels: LabelScope;
  /** Undefined if no SchemaConfig selects it. */
  readonly rules: RuleCache | undefined;
  readonly policyResults: PolicyResults;
  readonly locate: Locate;
  readonly since: RecordedColumns["since"];
}

/** The labelled columns of an integration, by name. Columns that the service does not return are missing. */
export function rowsOf(integration: RegisteredIntegration): readonly RegisterRow[] {
  const { live, name, tree, labels, locate, since } = integration;
  const about = {
    integration: name,
    integrationId: live.id,
    source: referenceText(live.source),
    destination: referenceText(live.destination),
  };
  const rows: RegisterRow[] = [];
  let inSchema = labels;
  let inTable = labels;
  walk(
    tree,
    {
      schema(entry, [schema]) {
        inSchema = enterLabels(labels, schema, entry.nameInDestination);
        return inSchema.possible.size > 0;
      },
      table(entry, [, table]) {
        inTable = enterLabels(inSchema, table, entry.nameInDestination);
        return inTable.possible.size > 0;
      },
      column(entry, path, tableEntry, schemaEntry) {
        const [schema, table, column] = path;
        const found = columnLabels(inTable, column, entry.nameInDestination);
        if (found.length === 0) return;
        const replicated = [entry, tableEntry, schemaEntry].every(isEnabled);
        const hashed = entry.hashed === true;
        const shared = {
          ...about,
          schema,
          table,
          column,
          destinationSchema: schemaEntry.nameInDestination ?? "",
          destinationTable: tableEntry.nameInDestination ?? "",
          destinationColumn: entry.nameInDestination ?? "",
          replicated,
          hashed,
          since: since(live.id, { schema, table, column }) ?? "",
          ...decisionText(integration, path, { replicated, hashed }),
          ...policyResultOf(integration, path),
        };
        // Two files can give a column the same label; the first one counts, as in rules.
        for (const one of new Map([...found].reverse().map((each) => [each.label, each])).values())
          rows.push({ ...shared, label: one.label, labelSource: locatedLabel({ name: one.label, origin: one.origin }, locate).source });
      },
    },
    "by-name",
  );
  return rows;
}

const referenceText = ({ name, type }: LiveReference = { id: "", name: "", type: "" }): string =>
  type === "" ? name : `${name} (${type})`;

/** The rule that decides the live state: for a replicated column its `hashed`, else what switches it off. Nothing if the account differs from it. */
function decisionText(
  { rules, tree, locate }: RegisteredIntegration,
  path: readonly [string, string, string],
  { replicated, hashed }: Pick<RegisterRow, "replicated" | "hashed">,
): Pick<RegisterRow, "rule" | "reason"> {
  const [schema, table] = path;
  const asked: readonly (readonly [path: NodePath, key: Field, value: boolean])[] = replicated
    ? [[path, "hashed", hashed]]
    : [
        [path, "enabled", false],
        [[schema, table], "enabled", false],
        [[schema], "enabled", false],
      ];
  for (const [node, key, value] of rules === undefined ? [] : asked) {
    const decision = rules && decisionOf(rules, tree, { path: node, key });
    if (decision?.value !== value) continue;
    const { rule, reason = "", place } = decision.cause;
    const { file, line } = locate(place);
    const at = placeText({ file, line });
    return { rule: rule === undefined ? at : `${rule} (${at})`, reason };
  }
  return { rule: "", reason: "" };
}

function policyResultOf(
  { policyResults }: RegisteredIntegration,
  path: readonly [string, string, string],
): Pick<RegisterRow, "exemption" | "approvedBy" | "expires" | "breaks"> {
  const pointers = [nodePointer(path, "hashed"), nodePointer(path, "enabled"), nodePointer(path)];
  const exemption = pointers.map((pointer) => policyResults.exempt.get(pointer)).find((one) => one !== undefined);
  return {
    exemption: exemption?.reason ?? "",
    approvedBy: exemption?.approvedBy ?? "",
    expires: exemption?.expires ?? "",
    breaks: [...new Set(pointers.flatMap((pointer) => policyResults.breaks.get(pointer) ?? []))],
  };
}
