import { refuseErrors } from "../../core/base/model/errors.ts";
import type { Pointer } from "../../core/base/model/json/pointer.ts";
import type { LiveIntegration, LiveReference, LiveSchemas } from "../../core/base/model/live.ts";
import type { PolicyExemption } from "../../core/base/model/manifest.ts";
import { getOrAdd } from "../../core/base/model/maps.ts";
import { type NodePath, nodePointer } from "../../core/base/model/nodes.ts";
import { locatedLabel } from "../../core/base/model/plan.ts";
import { type Locate, placeText, problemAt } from "../../core/base/model/problem.ts";
import type { OnProgress } from "../../core/base/model/runtime/progress.ts";
import type { Reads } from "../../core/base/model/service.ts";
import { didYouMean } from "../../core/base/text/suggest.ts";
import {
  type AskedPolicies,
  newPolicyEvaluator,
  type PolicyEvaluation,
  policiesIn,
  unchangedTarget,
} from "../../core/columns/policies/index.ts";
import {
  decisionIn,
  integrationAddress,
  integrationNames,
  integrationsByName,
  type LabelScope,
  labelScopes,
  labelsOfColumn,
  nameInAddresses,
  nameMatcher,
  type Question,
  type RuleCache,
  readSchemas,
  type ScannedColumn,
  type ScannedNode,
  type ScannedSchema,
  type ScannedTable,
  scan,
  schemaUnits,
  tablesWithoutColumns,
  whereLabelsAre,
} from "../../core/kinds/index.ts";
import type { Project } from "../../core/manifests/index.ts";
import { cachedReads, columnBudget, exemptionProblems, readAccount, readAhead } from "../../core/plan/index.ts";
import type { RecordsState } from "../../core/records/index.ts";

/** One label of one live column, and what happens to the column. */
export interface RegisterRow {
  /** The integration's name in addresses. */
  readonly integration: string;
  readonly integrationId: string;
  /** "orders-pg (postgres)" */
  readonly source: string;
  readonly destination: string;
  readonly schema: string;
  readonly table: string;
  readonly column: string;
  readonly destinationSchema: string;
  readonly destinationTable: string;
  readonly destinationColumn: string;
  readonly label: string;
  /** What gives the column the label. */
  readonly labelSource: string;
  /** Whether the column, its table and its schema are enabled. */
  readonly replicated: boolean;
  readonly hashed: boolean;
  /** "pii (manifests/shops.yaml:9)": what decides the state; "" if no manifest does. */
  readonly rule: string;
  readonly reason: string;
  /** The reason of the exemption that lets the column break a policy; "" if there is none. */
  readonly exemption: string;
  readonly approvedBy: string;
  /** YYYY-MM-DD */
  readonly expires: string;
  /** The policies of severity error that the column breaks. */
  readonly breaks: readonly string[];
}

interface RegisterSession {
  readonly reads: Reads;
  readonly records: RecordsState;
  /** YYYY-MM-DD: exemptions and `ignore` entries expire. */
  readonly today: string;
  readonly onProgress?: OnProgress | undefined;
  /** Patterns for names of integrations; each must match one. */
  readonly integrations?: readonly string[];
}

/** Reads the labelled columns of every integration in the account, one integration after the other, by name. Sends GET only. Throws ServiceError and ProblemsError. */
export async function* currentRows(project: Project, session: RegisterSession): AsyncGenerator<readonly RegisterRow[]> {
  const reads = cachedReads(session.reads);
  const { account } = await readAccount(project, session.records, { reads, today: session.today });
  const labelsOf = labelScopes(account);
  const { units, problems } = schemaUnits(account);
  refuseErrors([...problems, ...exemptionProblems(policiesIn(account.manifests), session.today)], project.locate);
  if (labelsOf === undefined) return;
  const rulesById = new Map(units.map((unit) => [unit.liveId, unit.rules]));
  const namesOf = integrationNames(account);
  const evaluator = newPolicyEvaluator(policiesIn(account.manifests), { today: session.today, locate: project.locate });
  const claim = columnBudget();
  const sorted = integrationsByName(account);
  const names = sorted.map(({ id }) => nameInAddresses(id, account));
  const unknown = (session.integrations ?? []).filter((pattern) => !names.some(nameMatcher([pattern])));
  refuseErrors(
    unknown.map((pattern) => {
      const message = `--integration ${JSON.stringify(pattern)} matches no integration in the account.${didYouMean(pattern, names)}`;
      return problemAt(undefined, { code: "E_UNKNOWN_REFERENCE", message });
    }),
    project.locate,
  );
  const read = ({ id }: LiveIntegration) =>
    readSchemas(reads, id, (live) => {
      const isNeeded = ({ labels }: ScannedTable): boolean => labels !== undefined && labels.possible.size > 0;
      const tables = tablesWithoutColumns(live, isNeeded, { labels: labelsOf(id) });
      claim(id, tables.length);
      return tables;
    });
  let done = 0;
  for await (const { item: live, read: tree } of readAhead(sorted, read)) {
    session.onProgress?.({ type: "step", phase: "read", done: ++done, total: sorted.length, label: live.name });
    if (tree === undefined) continue;
    const [name, labels] = [nameInAddresses(live.id, account), labelsOf(live.id)];
    const policies = evaluator.ask({
      ...namesOf(live.id),
      address: integrationAddress(name),
      live: tree,
      columnLabels: labels,
      ...unchangedTarget,
    });
    yield rowsOf({ live, name, tree, labels, rules: rulesById.get(live.id), policies, locate: project.locate });
  }
}

/** One integration, and what the project says about it. */
interface RegisteredIntegration {
  readonly live: LiveIntegration;
  /** Its name in addresses. */
  readonly name: string;
  readonly tree: LiveSchemas;
  readonly labels: LabelScope;
  /** Undefined if no SchemaConfig selects it. */
  readonly rules: RuleCache | undefined;
  readonly policies: AskedPolicies;
  readonly locate: Locate;
}

/** A labelled column and the nodes above it. */
type Labelled = readonly [column: ScannedColumn, table: ScannedTable, schema: ScannedSchema];

/** The labelled columns of an integration, by name. Columns that the service does not return are missing. */
function rowsOf({ live, name, tree, labels, rules, policies, locate }: RegisteredIntegration): readonly RegisterRow[] {
  const labelled: Labelled[] = [];
  const question: Question = {
    ...whereLabelsAre,
    column: (...nodes) => void (labelsOfColumn(nodes[0]).length > 0 && labelled.push(nodes)),
  };
  scan(tree, [question, ...policies.questions], { ...policies.options, rules, labels, order: "by-name" });
  const results = resultsOf(policies.end());
  const about = {
    integration: name,
    integrationId: live.id,
    source: referenceText(live.source),
    destination: referenceText(live.destination),
  };
  return labelled.flatMap(([column, table, schema]) => {
    const [schemaName, tableName, columnName] = column.path;
    const shared = {
      ...about,
      schema: schemaName,
      table: tableName,
      column: columnName,
      destinationSchema: schema.live.nameInDestination ?? "",
      destinationTable: table.live.nameInDestination ?? "",
      destinationColumn: column.live.nameInDestination ?? "",
      replicated: column.now.replicated === true,
      hashed: column.live.hashed === true,
      ...decisionText([column, table, schema], locate),
      ...resultText(results, column.path),
    };
    // Two files can give a column the same label; the first one counts, as in rules.
    const byLabel = new Map([...labelsOfColumn(column)].reverse().map((each) => [each.label, each]));
    return [...byLabel.values()].map((one) => ({
      ...shared,
      label: one.label,
      labelSource: locatedLabel({ name: one.label, origin: one.origin }, locate).source,
    }));
  });
}

const referenceText = ({ name, type }: LiveReference = { id: "", name: "", type: "" }): string =>
  type === "" ? name : `${name} (${type})`;

/** The rule that decides the live state: for a replicated column its `hashed`, else what switches it off. Nothing if the account differs from it. */
function decisionText([column, table, schema]: Labelled, locate: Locate): Pick<RegisterRow, "rule" | "reason"> {
  const isReplicated = column.now.replicated === true;
  const [key, value] = isReplicated ? (["hashed", column.live.hashed === true] as const) : (["enabled", false] as const);
  const asked: readonly ScannedNode<unknown, NodePath>[] = isReplicated ? [column] : [column, table, schema];
  for (const { managed, path } of asked) {
    const decision = decisionIn(managed, { path, key });
    if (decision?.value !== value) continue;
    const { rule, reason = "", place } = decision.cause;
    const { file, line } = locate(place);
    const at = placeText({ file, line });
    return { rule: rule === undefined ? at : `${rule} (${at})`, reason };
  }
  return { rule: "", reason: "" };
}

/** What policies say of values. */
interface PolicyResults {
  /** The names of the policies of severity error that a value breaks. */
  readonly breaks: ReadonlyMap<Pointer, readonly string[]>;
  readonly exempt: ReadonlyMap<Pointer, PolicyExemption>;
}

function resultsOf({ findings, exempt }: PolicyEvaluation): PolicyResults {
  const breaks = new Map<Pointer, string[]>();
  for (const { severity, path, rule } of findings) if (severity === "error") getOrAdd(breaks, path, () => []).push(rule);
  return { breaks, exempt: new Map(exempt.map(({ path, exemption }) => [path, exemption])) };
}

function resultText(
  { breaks, exempt }: PolicyResults,
  path: NodePath,
): Pick<RegisterRow, "exemption" | "approvedBy" | "expires" | "breaks"> {
  const pointers = [nodePointer(path, "hashed"), nodePointer(path, "enabled"), nodePointer(path)];
  const exemption = pointers.map((pointer) => exempt.get(pointer)).find((one) => one !== undefined);
  return {
    exemption: exemption?.reason ?? "",
    approvedBy: exemption?.approvedBy ?? "",
    expires: exemption?.expires ?? "",
    breaks: [...new Set(pointers.flatMap((pointer) => breaks.get(pointer) ?? []))],
  };
}
