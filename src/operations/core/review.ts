import { isSchemaConfig } from "../../kinds/manifests.ts";
import { unreviewedIn } from "../../kinds/schema-config/compiled-config.ts";
import type { Project } from "../../manifests/project.ts";
import type { ColumnReview } from "../../model/columns.ts";
import type { Problem } from "../../model/problem.ts";
import { locationIn } from "../../model/resource.ts";
import { titles } from "../../model/titles.ts";
import type { RecordsState } from "../../records/records.ts";

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
  const { newReview } = await import("../../catalog/review.ts");
  return newReview({ reviewed: settings.catalogFile === undefined ? undefined : (reviewed ?? []), seen });
}

/** What keeps a run from reviewing columns: as problems, so that nothing is compared. */
export function withCatalogProblems(project: Project): Project {
  const problems = [...catalogProblems(project), ...missingCatalog(project)];
  return problems.length === 0 ? project : { ...project, problems: [...project.problems, ...problems] };
}

/**
 * SchemaConfigs that refuse or switch off new columns in a project without a catalog. The records alone
 * can't do that: after one apply, they know every column.
 */
export function catalogProblems({ settings, resources }: Pick<Project, "settings" | "resources">): readonly Problem[] {
  if (settings.catalogFile !== undefined) return [];
  return resources.filter(isSchemaConfig).flatMap((config): readonly Problem[] => {
    const mode = unreviewedIn(config);
    if (mode !== "error" && mode !== "disable") return [];
    return [
      {
        ...({ code: "E_UNREVIEWED_NEEDS_CATALOG", severity: "error", summary: titles.E_UNREVIEWED_NEEDS_CATALOG } as const),
        message: `unreviewed: ${mode} needs a file of reviewed columns. Add catalog: dimsync.catalog.yaml to dimsync.yaml, then accept the columns that the account has now.`,
        place: locationIn(config, "/spec/unreviewed"),
        address: config.address,
        command: "dimsync catalog accept --all",
      },
    ];
  });
}

/** An error if the catalog has nothing of the target: every column of the account would be new. */
function missingCatalog({ catalog, settings: { target } }: Project): readonly Problem[] {
  if (catalog === undefined || catalog.columns.has(target)) return [];
  const what = catalog.text === "" ? `${catalog.file} does not exist` : `${catalog.file} has no columns of target ${target}`;
  return [
    {
      ...({ code: "E_CATALOG_MISSING", severity: "error", summary: titles.E_CATALOG_MISSING } as const),
      message: `${what}, so every column would be new. Review the account once, accept its columns, and commit the file.`,
      command: "dimsync catalog accept --all",
    },
  ];
}
