import { labelReferences } from "../kinds/label-references.ts";
import { wantedLabels } from "../kinds/patterns/labels.ts";
import type { Project } from "../manifests/project.ts";
import { DimsyncError } from "../model/errors.ts";
import type { Diagnostic } from "../model/problem.ts";
import { counted } from "../text/counts.ts";
import { andMore } from "../text/lists.ts";
import { type Check, ok, skip, warn } from "./check.ts";

/** What the manifests alone show: labels that nothing uses, and marks of dbt that have no effect. None without a Classification. */
export function labelChecks({ resources, columnLabels, readers, locate }: Project): readonly Check[] {
  if (columnLabels === undefined) return [];
  const used = new Set(labelReferences(resources).flatMap(({ label }) => wantedLabels(label) ?? []));
  const unused = columnLabels.defined.filter((label) => !used.has(label));
  const ofModels = (readers?.withoutEffect() ?? []).map(({ file, place, names }): Check => {
    const at = place === undefined ? undefined : locate(place);
    const entry = at === undefined ? "a Classification" : `${at.file}${at.line === undefined ? "" : `:${at.line}`}`;
    return warn(
      "dbt models",
      `In ${file}, models have the meta or tag that ${entry} looks for in sources. There it has no effect (${names.length}): ${andMore(names)}.`,
      "dimsync hashes the tables that the service writes, which dbt calls sources. Add the meta or tag to the columns of the source.",
    );
  });
  return [
    ...unused.map((label) =>
      warn(
        "labels",
        `No rule, policy or \`expect\` entry matches label ${JSON.stringify(label)}.`,
        "Its columns are only listed by dimsync register. Add a rule or a policy, or remove the label.",
      ),
    ),
    ...(unused.length > 0 ? [] : [ok("labels", `${counted(columnLabels.defined.length, "label")}, each used by a rule or a policy.`)]),
    ...ofModels,
  ];
}

/** Which labelled columns the account does not have. `planned`: the diagnostics of a plan of everything; undefined: other checks failed. */
export async function labelledColumnsCheck(
  { columnLabels }: Pick<Project, "columnLabels">,
  planned: (() => Promise<readonly Diagnostic[]>) | undefined,
): Promise<readonly Check[]> {
  const check = "labelled columns";
  if (columnLabels === undefined) return [];
  if (planned === undefined) return [skip(check, "another check failed.")];
  try {
    const found = (await planned()).filter(({ code }) => code === "W_LABEL_NO_MATCH" || code === "W_LABELS_DISAGREE");
    if (found.length === 0)
      return [ok(check, "The account has a column for every source of dbt, line of CSV and pattern that has a label.")];
    return found.map(({ message, file, line }) =>
      warn(check, message, `It is in ${file ?? "the Classification"}${line === undefined ? "" : `:${line}`}.`),
    );
  } catch (error) {
    if (!(error instanceof DimsyncError)) throw error;
    return [skip(check, `there is no plan. ${error.message}`)];
  }
}
