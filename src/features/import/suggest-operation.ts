import { cachedReads } from "../../core/engine/reads/cached-reads.ts";
import { readAccount, readAhead } from "../../core/engine/reads/read-account.ts";
import { readSchemas } from "../../core/kinds/schemas.ts";
import { integrationsByName, labelScopes, nameInAddresses } from "../../core/kinds/select.ts";
import type { Project } from "../../core/manifests/project.ts";
import { systemClock } from "../../core/model/runtime/clock.ts";
import { readRecords } from "../../core/operations/open-records.ts";
import { withReads } from "../../core/operations/reads.ts";
import type { RunEnvironment } from "../../core/operations/session.ts";
import { newSuggester, type Suggestion, suggestionYaml } from "./suggest.ts";

/** Columns of the account whose names look personal and that have no label, and a Classification for them. Sends GET only, and writes nothing. Throws ServiceError. */
export async function suggestClassification(
  project: Project,
  run: RunEnvironment,
): Promise<{ readonly suggestion: Suggestion; readonly yaml: string }> {
  return withReads(project, run, async (all) => {
    const reads = cachedReads(all);
    const records = await readRecords(project.settings, run);
    const { account } = await readAccount(project, records, { reads, today: systemClock.now().toISOString().slice(0, 10) });
    const labelsOf = labelScopes(account);
    const suggester = newSuggester();
    const sorted = integrationsByName(account);
    let done = 0;
    for await (const { item, read } of readAhead(sorted, ({ id }) => readSchemas(reads, id))) {
      run.onProgress?.({ type: "step", phase: "read", done: ++done, total: sorted.length, label: item.name });
      if (read !== undefined) suggester.add(nameInAddresses(item.id, account), read, labelsOf?.(item.id));
    }
    const suggestion = suggester.suggestion(project.settings.target);
    return { suggestion, yaml: suggestionYaml(suggestion) };
  });
}
