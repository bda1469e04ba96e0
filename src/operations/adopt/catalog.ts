import { type AcceptedColumns, acceptColumns } from "../../catalog/accept.ts";
import { newReview } from "../../catalog/review.ts";
import { plan } from "../../engine/pipeline.ts";
import type { PlanOptions } from "../../engine/session.ts";
import { schemasAddress } from "../../kinds/manifests.ts";
import type { Project, ProjectCatalog } from "../../manifests/project.ts";
import { DimsyncError } from "../../model/errors.ts";
import { withReadSession } from "../core/plan.ts";
import type { RunEnvironment } from "../session.ts";

export interface AcceptOptions extends Pick<PlanOptions, "scope"> {
  /** Whether the column is accepted; `address` is that of the schemas. */
  readonly includes: (address: string, column: { readonly schema: string; readonly table: string; readonly column: string }) => boolean;
  /** Whether integrations that the account no longer has are removed. */
  readonly dropsMissing: boolean;
}

/**
 * The catalog with the columns that are accepted. Reads only, and writes nothing. Throws
 * E_CATALOG_INCOMPLETE if the account could not be read completely.
 */
export async function acceptLiveColumns(
  project: Project & { readonly catalog: ProjectCatalog },
  { scope, includes, dropsMissing }: AcceptOptions,
  run: RunEnvironment,
): Promise<AcceptedColumns> {
  const { catalog, settings } = project;
  const review = newReview({ reviewed: catalog.columns.get(settings.target) ?? [], seen: undefined });
  const made = await withReadSession(project, run, (session) => plan({ ...session, review }, scope === undefined ? {} : { scope }));
  if (!made.complete) {
    const why = made.diagnostics.find(({ severity }) => severity === "error")?.message ?? "";
    throw new DimsyncError("E_CATALOG_INCOMPLETE", `The account was not read completely, so nothing was accepted. ${why}`);
  }
  return acceptColumns(catalog.columns, {
    target: settings.target,
    live: review.compared(),
    includes: (integration, [schema, table, column]) => includes(schemasAddress(integration), { schema, table, column }),
    keeps: () => !dropsMissing,
  });
}
