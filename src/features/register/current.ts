import { columnsSeen } from "../../core/catalog/seen.ts";
import { cachedReads, columnBudget } from "../../core/engine/reads/cached-reads.ts";
import { readAccount, readAhead } from "../../core/engine/reads/read-account.ts";
import type { AccountView } from "../../core/kinds/kind.ts";
import { integrationAddress } from "../../core/kinds/manifests.ts";
import { enterLabels, type LabelScope } from "../../core/kinds/patterns/labels.ts";
import { readSchemas, schemaUnits } from "../../core/kinds/schemas.ts";
import { integrationNames, integrationsByName, labelScopes, nameInAddresses } from "../../core/kinds/select.ts";
import type { Project } from "../../core/manifests/project.ts";
import { refuseErrors } from "../../core/model/errors.ts";
import type { LiveIntegration, LiveSchemas } from "../../core/model/live.ts";
import type { RegisterRow } from "../../core/model/register.ts";
import type { OnProgress } from "../../core/model/runtime/progress.ts";
import type { Reads } from "../../core/model/service.ts";
import { unchangedTarget } from "../../core/policies/evaluate.ts";
import { policyResults } from "../../core/policies/results.ts";
import { policiesIn } from "../../core/policies/validate.ts";
import type { RecordsState } from "../../core/records/records.ts";
import { rowsOf } from "./rows.ts";

export interface RegisterSession {
  readonly reads: Reads;
  readonly records: RecordsState;
  /** YYYY-MM-DD: exemptions and `ignore` entries expire. */
  readonly today: string;
  readonly onProgress?: OnProgress | undefined;
}

/** Reads the labelled columns of every integration in the account, one integration after the other, by name. Sends GET only. Throws ServiceError and ProblemsError. */
export async function* currentRows(project: Project, session: RegisterSession): AsyncGenerator<readonly RegisterRow[]> {
  const reads = cachedReads(session.reads);
  const { account } = await readAccount(project, session.records, { reads, today: session.today });
  const labelsOf = labelScopes(account);
  const { units, problems } = schemaUnits(account);
  refuseErrors(problems, project.locate);
  if (labelsOf === undefined) return;
  const rulesById = new Map(units.map((unit) => [unit.liveId, unit.rules]));
  const { since } = columnsSeen(session.records.columnsSeen);
  const resultsOn = results(project, account, session);
  const claim = columnBudget(project.settings.client.maxColumnReads);
  const sorted = integrationsByName(account);
  const read = ({ id }: LiveIntegration) =>
    readSchemas(reads, id, (live) => {
      const tables = labelledTables(labelsOf(id), live);
      claim(id, tables.length);
      return tables;
    });
  let done = 0;
  for await (const { item: live, read: tree } of readAhead(sorted, read)) {
    session.onProgress?.({ type: "step", phase: "read", done: ++done, total: sorted.length, label: live.name });
    if (tree === undefined) continue;
    const [name, labels] = [nameInAddresses(live.id, account), labelsOf(live.id)];
    const about = { live, name, tree, labels, rules: rulesById.get(live.id), locate: project.locate, since };
    yield rowsOf({ ...about, policyResults: resultsOn(live, name, { tree, labels }) });
  }
}

/** The tables without columns in the response that can have labelled ones. */
function labelledTables(labels: LabelScope, live: LiveSchemas): readonly (readonly [string, string])[] {
  return Object.entries(live).flatMap(([schema, { nameInDestination, tables }]) => {
    const inSchema = enterLabels(labels, schema, nameInDestination);
    return Object.entries(tables).flatMap(([table, entry]) =>
      entry.columns === undefined && enterLabels(inSchema, table, entry.nameInDestination).possible.size > 0
        ? [[schema, table] as const]
        : [],
    );
  });
}

interface LabelledTree {
  readonly tree: LiveSchemas;
  readonly labels: LabelScope;
}

function results(project: Project, account: AccountView, { today }: RegisterSession) {
  const resultsOn = policyResults(policiesIn(account.resources), { today, locate: project.locate });
  const namesOf = integrationNames(account);
  return ({ id }: LiveIntegration, name: string, { tree, labels }: LabelledTree) =>
    resultsOn({
      ...namesOf(id),
      address: integrationAddress(name),
      live: tree,
      columnLabels: labels,
      ...unchangedTarget,
    });
}
