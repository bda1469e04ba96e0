import { cachedReads } from "../engine/reads/cached-reads.ts";
import { readAccount, readAhead, readSchemas, readTags } from "../engine/reads/read-account.ts";
import { isSchemaConfig } from "../kinds/manifests.ts";
import { schemaConfig } from "../kinds/schema-config/index.ts";
import type { Project } from "../manifests/project.ts";
import type { OnProgress } from "../model/runtime/progress.ts";
import type { Reads } from "../model/service.ts";
import type { RecordsState } from "../records/records.ts";
import { evaluateAssertions, type TestOutcome } from "./evaluate.ts";
import type { Assertion } from "./parse.ts";

export interface AssertionSession {
  /** Of the account, or of a snapshot. */
  readonly reads: Reads;
  readonly records: RecordsState;
  /** YYYY-MM-DD: `ignore` entries expire. */
  readonly today: string;
  readonly onProgress?: OnProgress | undefined;
}

/** How many integrations are read before the one that is being checked; no more are held in memory. */
const ahead = 4;

/** Checks the tests on the manifests and the account. Sends GET only. Throws ServiceError if a read fails. */
export async function runAssertions(
  project: Project,
  assertions: readonly Assertion[],
  session: AssertionSession,
): Promise<readonly TestOutcome[]> {
  const reads = cachedReads(session.reads);
  const { account: listed } = await readAccount(project, session.records, { reads, today: session.today });
  const needsTags = assertions.some(({ integrations }) => integrations.tagged !== undefined);
  const account = needsTags ? { ...listed, tags: await readTags(reads, listed) } : listed;
  const evaluation = evaluateAssertions(assertions, account);
  const configs = account.resources.filter(isSchemaConfig);
  const units = new Map(schemaConfig.units(configs, account).units.map((unit) => [unit.liveId, unit]));
  const total = account.integrations.length;
  let done = 0;
  const outcomes = readAhead(account.integrations, ahead, async (live) =>
    evaluation.needsSchemas(live) ? readSchemas(reads, live.id) : undefined,
  );
  for await (const outcome of outcomes) {
    if ("error" in outcome) throw outcome.error;
    const { item, read } = outcome;
    evaluation.check(item, read, units.get(item.id));
    session.onProgress?.({ type: "step", phase: "read", done: ++done, total, label: item.name });
  }
  return evaluation.outcomes();
}
