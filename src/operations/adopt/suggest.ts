import { cachedReads } from "../../engine/reads/cached-reads.ts";
import { readAccount, readAhead } from "../../engine/reads/read-account.ts";
import { newSuggester, type Suggestion, suggestionYaml } from "../../import/suggest.ts";
import { integrations } from "../../kinds/lists.ts";
import { readSchemas } from "../../kinds/schemas.ts";
import { labelScopes, nameInAddresses } from "../../kinds/select.ts";
import type { Project } from "../../manifests/project.ts";
import { byText } from "../../model/address.ts";
import { systemClock } from "../account.ts";
import { withReads } from "../reads.ts";
import { readRecords } from "../records/open.ts";
import type { RunEnvironment } from "../session.ts";

/** How many integrations are read ahead of the one that is in use. */
const ahead = 4;

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
    const sorted = [...account.list(integrations).items].sort((a, b) =>
      byText(nameInAddresses(a.id, account), nameInAddresses(b.id, account)),
    );
    let done = 0;
    for await (const outcome of readAhead(sorted, ahead, ({ id }) => readSchemas(reads, id))) {
      if ("error" in outcome) throw outcome.error;
      const { item, read } = outcome;
      run.onProgress?.({ type: "step", phase: "read", done: ++done, total: sorted.length, label: item.name });
      if (read !== undefined) suggester.add(nameInAddresses(item.id, account), read, labelsOf?.(item.id));
    }
    const suggestion = suggester.suggestion(project.settings.target);
    return { suggestion, yaml: suggestionYaml(suggestion) };
  });
}
