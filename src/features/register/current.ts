import { columnsSeen } from "../../core/catalog/seen.ts";
import { cachedReads, columnBudget } from "../../core/engine/reads/cached-reads.ts";
import { readAccount, readAhead } from "../../core/engine/reads/read-account.ts";
import { integrationAddress } from "../../core/kinds/manifests.ts";
import { readSchemas, type ScannedTable, schemaUnits, tablesWithoutColumns } from "../../core/kinds/schemas.ts";
import { integrationNames, integrationsByName, labelScopes, nameInAddresses } from "../../core/kinds/select.ts";
import type { Project } from "../../core/manifests/project.ts";
import { refuseErrors } from "../../core/model/errors.ts";
import type { LiveIntegration } from "../../core/model/live.ts";
import type { RegisterRow } from "../../core/model/register.ts";
import type { OnProgress } from "../../core/model/runtime/progress.ts";
import type { Reads } from "../../core/model/service.ts";
import { newPolicyEvaluator, unchangedTarget } from "../../core/policies/evaluate.ts";
import { policiesIn } from "../../core/policies/validate.ts";
import type { RecordsState } from "../../core/records/records.ts";
import { rowsOf } from "./rows.ts";

interface RegisterSession {
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
  const namesOf = integrationNames(account);
  const evaluator = newPolicyEvaluator(policiesIn(account.resources), { today: session.today, locate: project.locate });
  const claim = columnBudget(project.settings.client.maxColumnReads);
  const sorted = integrationsByName(account);
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
    yield rowsOf({ live, name, tree, labels, rules: rulesById.get(live.id), policies, locate: project.locate, since });
  }
}
