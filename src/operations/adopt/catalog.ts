import { type AcceptedColumns, acceptColumns } from "../../catalog/accept.ts";
import { newReview } from "../../catalog/review.ts";
import { plan } from "../../engine/pipeline.ts";
import type { PlanOptions } from "../../engine/session.ts";
import type { Project, ProjectCatalog } from "../../manifests/project.ts";
import { DimsyncError } from "../../model/errors.ts";
import { withReadSession } from "../core/plan.ts";
import type { RunEnvironment } from "../session.ts";

export interface AcceptOptions extends Pick<PlanOptions, "scope"> {
  /** Whether columns of these schemas are accepted, "Schemas/orders". */
  readonly selects: (address: string) => boolean;
  readonly includes: (path: readonly [schema: string, table: string, column: string]) => boolean;
  /** Whether integrations that the account no longer has are removed. */
  readonly dropsMissing: boolean;
}

/**
 * The catalog with the columns that are accepted. Reads only, and writes nothing. Throws
 * E_CATALOG_INCOMPLETE if the account could not be read completely.
 */
export async function acceptLiveColumns(
  project: Project & { readonly catalog: ProjectCatalog },
  { scope, selects, includes, dropsMissing }: AcceptOptions,
  run: RunEnvironment,
): Promise<AcceptedColumns> {
  const { file, columns } = project.catalog;
  const review = newReview({ catalog: columns, file, seen: undefined });
  const made = await withReadSession(project, run, (session) => plan({ ...session, review }, scope === undefined ? {} : { scope }));
  if (!made.complete) {
    const why = made.diagnostics.find(({ severity }) => severity === "error")?.message ?? "";
    throw new DimsyncError("E_CATALOG_INCOMPLETE", `The account was not read completely, so nothing was accepted. ${why}`);
  }
  const account = review.account();
  const live = review.compared();
  const names = new Map(account?.map(({ id, name }) => [id, name]));
  return acceptColumns(review.reviewed, {
    live,
    selects: (id) => selects(live.get(id)?.address ?? ""),
    includes,
    keeps: (id) => !dropsMissing || account === undefined || names.has(id),
    names,
  });
}
