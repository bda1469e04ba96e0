import { attribute, withoutAttribution, withPartialAttribution } from "../../drift/attribution.ts";
import { endOfNow, readAudit } from "../../drift/audit.ts";
import type { Project } from "../../manifests/project.ts";
import { ServiceError } from "../../model/errors.ts";
import { merged } from "../../model/json/lazy.ts";
import type { Plan } from "../../model/plan.ts";
import { openAccount } from "../account.ts";
import { readRecords } from "../records/open.ts";
import type { RunEnvironment } from "../session.ts";

const defaultWindowMs = 30 * 86_400_000;

/**
 * Adds to the report who made the changes, from the audit log. If the log cannot be read, the report says so; that is not an error. Without differences
 * the log is not read. Counts the reads in the report. `since`: ISO 8601; 30 days by default. Throws the signal's reason.
 */
export async function attributeReport(project: Project, report: Plan, since: string | undefined, run: RunEnvironment): Promise<Plan> {
  const { settings } = project;
  if (report.items.every(({ action }) => action === "bind" || action === "create") && report.manual.length === 0) return report;
  const madeMs = Date.parse(report.createdAt);
  const window = {
    since: since ?? new Date(madeMs - defaultWindowMs).toISOString(),
    until: endOfNow(madeMs),
  };
  const account = await openAccount(project, { readOnly: true, env: run.env, signal: run.signal });
  try {
    const log = await readAudit(account.client, window, { signal: run.signal });
    const { bindings } = await readRecords(settings, { env: run.env });
    const idByAddress = new Map([...bindings].map(([address, { id }]) => [address, id]));
    const attributed = attribute(report, log.items, { idByAddress });
    return counted(
      log.complete ? attributed : withPartialAttribution(attributed, log.items.length, log.totalItems),
      account.client.calls(),
    );
  } catch (error) {
    run.signal.throwIfAborted();
    if (!(error instanceof ServiceError)) throw error;
    return counted(withoutAttribution(report, `The audit log could not be read: ${error.message}`), account.client.calls());
  } finally {
    await account.close();
  }
}

function counted(report: Plan, calls: Plan["calls"]["read"]): Plan {
  const read: Record<string, number> = { ...report.calls.read };
  for (const [method, count] of Object.entries(calls)) read[method] = (read[method] ?? 0) + count;
  return merged(report, { calls: { ...report.calls, read } });
}
