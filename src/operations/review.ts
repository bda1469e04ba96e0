import { isSchemaConfig } from "../kinds/manifests.ts";
import type { Project } from "../manifests/project.ts";
import type { ColumnReview } from "../model/columns.ts";
import { titles } from "../model/titles.ts";
import type { RecordsState } from "../records/records.ts";

/**
 * How columns are reviewed: with the catalog file or, if a SchemaConfig asks for it without one, with
 * the columns that earlier runs recorded. Undefined if the project does not ask for it; then nothing of
 * it is loaded.
 */
export async function openReview(
  { catalog, settings, resources }: Project,
  { columnsSeen: seen }: RecordsState,
): Promise<ColumnReview | undefined> {
  const isAsked = settings.catalogFile !== undefined || resources.some((one) => isSchemaConfig(one) && one.spec.unreviewed !== undefined);
  if (!isAsked) return undefined;
  const reviewed = catalog?.columns.get(settings.target);
  const { newReview } = await import("../catalog/review.ts");
  return newReview({ reviewed: settings.catalogFile === undefined ? undefined : (reviewed ?? []), seen });
}

/** The project with an error if its catalog has nothing of the target: every column of the account would be new. */
export function withCatalogProblem(project: Project): Project {
  const { catalog, settings, problems } = project;
  const { target } = settings;
  if (catalog === undefined || catalog.columns.has(target)) return project;
  const problem = {
    ...({ code: "E_CATALOG_MISSING", severity: "error", summary: titles.E_CATALOG_MISSING } as const),
    message: `${catalog.text === "" ? `${catalog.file} does not exist` : `${catalog.file} has no columns of target ${target}`}, so every column would be new. Review the account once, accept its columns, and commit the file.`,
    command: "dimsync catalog accept --all",
  };
  return { ...project, problems: [...problems, problem] };
}
