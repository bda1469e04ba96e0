import { readAudit } from "../../drift/audit.ts";
import { eventsAbout } from "../../drift/event-matching.ts";
import { type Explained, explainNode } from "../../engine/explain.ts";
import type { Project } from "../../manifests/project.ts";
import { parseAddress } from "../../model/address.ts";
import { DimsyncError, ServiceError } from "../../model/errors.ts";
import type { ExitCode } from "../../model/exit.ts";
import type { AuditEntry } from "../../model/live.ts";
import { toDiagnostic } from "../../model/problem.ts";
import type { Reads } from "../../model/service.ts";
import { withReadSession } from "../../operations/plan.ts";
import { explainText } from "../../render/terminal/explain.ts";
import type { Context } from "../shared/context.ts";
import type { ExplainFlags } from "../shared/flags.ts";
import { checkOutputs, deliverForms } from "../shared/output.ts";
import { loadValidProject, withLocations } from "../shared/project.ts";
import { nodePath } from "./node-path.ts";

/** Limits of what is read from the audit log. */
const windowMs = 30 * 86_400_000;
const maxEntries = 1_000;
const maxEvents = 5;

/**
 * `dimsync explain ADDRESS SCHEMA[.TABLE[.COLUMN]]`: every rule that matches a node, the resulting values, what would be sent, and the last changes to
 * the integration's schemas in the audit log. Only sends GET.
 */
export async function runExplain(context: Context<ExplainFlags>, address: string, path: string | undefined): Promise<ExitCode> {
  const { io, flags } = context;
  checkOutputs(context, ["human", "json"]);
  if (parseAddress(address)?.kind !== "SchemaConfig")
    throw new DimsyncError(
      "E_USAGE",
      `explain needs the address of a SchemaConfig, such as SchemaConfig/orders@orders, not ${JSON.stringify(address)}. For other kinds, use plan.`,
      { command: `dimsync plan --only ${JSON.stringify(address)}` },
    );
  const node = nodePath(path, flags.pointer);
  const project = await loadValidProject(context, { account: true });
  if (project === undefined) return 1;
  const { explained, log } = await withReadSession(project, { env: io.env, signal: io.interrupted }, async (session) => ({
    explained: await withLocations(project, explainNode(session, address, node)),
    log: await lastEntries(session.reads, io.interrupted),
  }));
  const shown = explained.map((one) => located(one, project, log));
  await deliverForms(context, {
    human: () => shown.map(explainText).join("\n"),
    json: () => `${JSON.stringify(shown, undefined, 2)}\n`,
  });
  return 0;
}

type Log = { readonly entries: readonly AuditEntry[] } | { readonly unavailable: string };

/** Without access to the audit log, the output says so; that is not an error. */
async function lastEntries(reads: Pick<Reads, "auditLogs">, signal: AbortSignal): Promise<Log> {
  const nowMs = Date.now();
  const window = { since: new Date(nowMs - windowMs).toISOString(), until: new Date(nowMs + 900_000).toISOString() };
  try {
    return { entries: (await readAudit(reads, window, { limit: maxEntries, signal })).items };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ServiceError)) throw error;
    return { unavailable: error.message };
  }
}

function located({ names, applied, ...one }: Explained, { locate }: Project, log: Log) {
  const at = (place: Parameters<typeof locate>[0]): { readonly file: string; readonly line?: number } => {
    const { file, line } = locate(place);
    return { file, ...(line === undefined ? {} : { line }) };
  };
  return {
    ...one,
    said: applied.map(({ place, ...setting }) => ({ ...setting, ...at(place) })),
    changes: one.changes.map(({ path: _, by: __, cause: { place, ...cause }, ...change }) => ({
      ...change,
      cause: { ...cause, ...at(place) },
    })),
    refused: one.refused.map((problem) => toDiagnostic(problem, locate)),
    ...("unavailable" in log
      ? { events: [], eventsUnavailable: log.unavailable }
      : { events: eventsAbout(log.entries, { id: one.liveId, names }, maxEvents) }),
  };
}
