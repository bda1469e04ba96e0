import type { ColumnReview } from "../base/model/columns.ts";
import { problemIn } from "../base/model/manifest.ts";
import { type Problem, problemAt } from "../base/model/problem.ts";
import { visible } from "../base/text/control-characters.ts";
import { shellWord } from "../base/text/shell.ts";
import { isSchemaConfig, unreviewedIn } from "../kinds/index.ts";
import type { Project } from "../manifests/index.ts";

/** How columns are reviewed. Undefined if the target has no catalog; then nothing of it is loaded. */
export async function openReview({ catalog }: Pick<Project, "catalog">): Promise<ColumnReview | undefined> {
  if (catalog === undefined) return undefined;
  const { newReview } = await import("../columns/catalog/index.ts");
  return newReview({ catalog: catalog.columns, file: catalog.file });
}

/** What keeps a run from reviewing columns: as problems, so that nothing is compared. */
export function withCatalogProblems(project: Project): Project {
  const problems = [...catalogProblems(project), ...missingCatalog(project)];
  return problems.length === 0 ? project : { ...project, problems: [...project.problems, ...problems] };
}

/** `unreviewed` of SchemaConfigs in a target without a catalog, where it would have no effect. */
export function catalogProblems({ settings, manifests }: Pick<Project, "settings" | "manifests">): readonly Problem[] {
  if (settings.catalogFile !== undefined) return [];
  const { target } = settings;
  return manifests.filter(isSchemaConfig).flatMap((config): readonly Problem[] => {
    const mode = unreviewedIn(config);
    if (mode === undefined) return [];
    const message = `unreviewed: ${mode} needs a file of reviewed columns, and the target ${visible(target)} has none. Add catalog: dimsync.catalog.${visible(target)}.yaml to the target in dimsync.yaml, then accept the columns that the account has now.`;
    return [problemIn(config, "/spec/unreviewed", { code: "E_NO_CATALOG", message, command: acceptAll(target) })];
  });
}

const acceptAll = (target: string): string => `dimsync catalog accept --all -t ${shellWord(target)}`;

/** An error if the file does not exist: deleting it must not end the review of columns without a word. */
function missingCatalog({ catalog, settings: { target } }: Project): readonly Problem[] {
  if (catalog === undefined || catalog.text !== "") return [];
  const message = `${catalog.file} does not exist, so no column has been reviewed. Review the account once, accept its columns, and commit the file.`;
  return [problemAt(undefined, { code: "E_CATALOG_MISSING", message, command: acceptAll(target) })];
}
