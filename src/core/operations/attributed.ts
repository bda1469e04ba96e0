import { eachAttribution, eachChange, withTraces } from "../base/model/changes.ts";
import { ServiceError } from "../base/model/errors.ts";
import { defined } from "../base/model/json/json.ts";
import { type Plan, type Result, readySteps, type Step, stepsOf } from "../base/model/plan.ts";
import { isLocal } from "../base/model/settings/config.ts";
import { capitalized } from "../base/text/describe.ts";
import { attribute, endOfNow, readAudit, runOf, withOtherProjects, withoutAttribution, withPartialAttribution } from "../drift/index.ts";
import type { Run } from "../plan/index.ts";
import type { PastWrite } from "../records/index.ts";
import { attributionText } from "../render/index.ts";
import { withRecords } from "./stores-records.ts";

const defaultWindowMs = 30 * 86_400_000;

interface AttributionOptions {
  /** Since when the audit log is read, ISO 8601. Default: 30 days ago. */
  readonly since?: string | undefined;
}

/** The report with who made the changes, and with the reads of the audit log. Throws the signal's reason, and as `Records.read` does. */
export async function attributed(report: Plan, { since }: AttributionOptions, run: Run): Promise<Plan> {
  if (readySteps(report).every(({ verb }) => verb === "bind" || verb === "create") && stepsOf(report, "byHand").length === 0) return report;
  const { reads, records, calls, signal } = run;
  const madeMs = Date.parse(report.createdAt);
  const window = { since: since ?? new Date(madeMs - defaultWindowMs).toISOString(), until: endOfNow(madeMs) };
  const withCalls = (made: Plan): Plan => ({ ...made, calls: { ...report.calls, read: calls() } });
  try {
    const log = await readAudit(reads, window, { signal });
    const idByAddress = new Map([...records().bindings].map(([address, { id }]) => [address, id]));
    const made = attribute(report, log.items, { idByAddress });
    const known = await runsOf(made, run);
    return withCalls(withOtherProjects(withPartialAttribution(made, log), known));
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ServiceError)) throw error;
    return withCalls(withoutAttribution(report, `The audit log could not be read: ${error.message}`));
  }
}

/** The result of a saved plan, with who changed each stale step's object after `plan` was made, as far as the audit log shows it. */
export async function withStaleAuthors(result: Result, plan: Plan, run: Run): Promise<Result> {
  // Whoever changed the account did not change the manifests, whatever the origin of the planned change is.
  const stale = result.steps.flatMap((step): readonly Step[] =>
    step.why?.code === "E_STALE" ? [{ ...step, changes: withTraces(step.changes, () => ({ origin: "drift" })) }] : [],
  );
  if (stale.length === 0) return result;
  const asked = { ...plan, steps: stale, createdAt: result.finishedAt };
  // The writes are done: a result is never lost because its explanation fails.
  const { steps } = await attributed(asked, { since: plan.createdAt }, run).catch(() => asked);
  const authors = new Map(steps.map((step) => [step.id, authorOf(step)]));
  const named = (step: Step): Step => {
    const { why } = step;
    const author = authors.get(step.id) ?? "";
    return why === undefined || author === "" ? step : { ...step, why: { ...why, message: `${why.message} ${author}` } };
  };
  return { ...result, steps: result.steps.map(named) };
}

/** "Un-hashed by dana@example.com, 2026-03-03 07:55 UTC."; "" if no event says it. */
function authorOf({ attribution, changes, address, liveName }: Step): string {
  const change = [...eachChange({ changes })].find((one) => one.attribution !== undefined);
  const text = attributionText({ ...(change ?? defined({ attribution })), address, ...defined({ liveName }) });
  return text === "" ? "" : `${capitalized(text)}.`;
}

const mostWrites = 10_000;

/** The writes to the records of the target. None if no run of dimsync changed anything, or if the records are in a folder, which no other machine sees. */
async function runsOf(report: Plan, { project: { settings }, env }: Run): Promise<readonly PastWrite[]> {
  if (isLocal(settings.records) || ![...eachAttribution(report)].some((one) => runOf(one) !== undefined)) return [];
  return await withRecords(settings, env, (records) => records.history(mostWrites));
}
