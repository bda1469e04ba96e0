import { type Address, kindOf, parseAddress, schemasKind } from "../../core/base/model/address.ts";
import { DimsyncError, ServiceError } from "../../core/base/model/errors.ts";
import type { AuditEntry } from "../../core/base/model/live.ts";
import type { NodePath } from "../../core/base/model/nodes.ts";
import { locatedCause, locatedLabel } from "../../core/base/model/plan.ts";
import { toDiagnostic } from "../../core/base/model/problem.ts";
import type { Reads } from "../../core/base/model/service.ts";
import { shellWord, withTarget } from "../../core/base/text/shell.ts";
import { endOfNow, eventsAbout, readAudit } from "../../core/drift/index.ts";
import { kindNames, schemasAddress } from "../../core/kinds/index.ts";
import { type Project, withLocations } from "../../core/manifests/index.ts";
import { type RunEnvironment, withReadRun } from "../../core/operations/index.ts";
import { type Explained, explainNode } from "../../core/plan/index.ts";

/** Limits of what is read from the audit log. */
const windowMs = 30 * 86_400_000;
const maxEntries = 1_000;
const maxEvents = 5;

/** A node of one integration with everything that applies to it; files and lines are looked up. */
export type ExplainedNode = ReturnType<typeof located>;

/**
 * Every rule that matches a schema, table or column, the resulting values, what would be sent, and the last changes to the integration's schemas in the
 * audit log; one entry for the integration, or for each that the SchemaConfig selects. Sends GET only. Throws E_USAGE for other addresses.
 */
export async function explainSchemaNode(
  project: Project,
  { address: given, node }: { readonly address: Address; readonly node: NodePath },
  environment: RunEnvironment,
): Promise<readonly ExplainedNode[]> {
  // "orders" and "Integration/orders" are the integration whose schemas are asked for.
  const { kind = kindNames.integration, name } = parseAddress(given) ?? { name: given };
  const address = kind === kindNames.integration ? schemasAddress(name) : given;
  if (![kindNames.schemaConfig, schemasKind].includes(kindOf(address)))
    throw new DimsyncError(
      "E_USAGE",
      `explain needs an integration, such as orders or Schemas/orders, or a SchemaConfig, not ${JSON.stringify(address)}. For other kinds, use plan.`,
      { command: `dimsync plan --only ${shellWord(address)}` },
    );
  const { explained, log } = await withReadRun(project, environment, async (run) => ({
    explained: await withLocations(project, explainNode(run, address, node)),
    log: await lastEntries(run.reads, run.signal),
  }));
  return explained.map((one) => located(one, project, log));
}

interface Log {
  readonly entries: readonly AuditEntry[];
  /** Why there are none. */
  readonly unavailable?: string;
}

/** Without access to the audit log, the output says so; that is not an error. */
async function lastEntries(reads: Pick<Reads, "auditLogs">, signal: AbortSignal): Promise<Log> {
  const nowMs = Date.now();
  const window = { since: new Date(nowMs - windowMs).toISOString(), until: endOfNow(nowMs) };
  try {
    return { entries: (await readAudit(reads, window, { limit: maxEntries, signal })).items };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ServiceError)) throw error;
    return { entries: [], unavailable: error.message };
  }
}

function located({ names, applied, ...one }: Explained, { locate, settings }: Project, log: Log) {
  const at = (place: Parameters<typeof locate>[0]): { readonly file: string; readonly line?: number } => {
    const { file, line } = locate(place);
    return { file, ...(line === undefined ? {} : { line }) };
  };
  return {
    ...one,
    said: applied.map(({ place, label, ...setting }) => ({
      ...setting,
      ...(label === undefined ? {} : { label: locatedLabel(label, locate) }),
      ...at(place),
    })),
    changes: one.changes.map(({ path: _, by: __, cause, ...change }) => ({ ...change, cause: locatedCause(cause, locate) })),
    refused: one.refused.map((problem) => withTarget(toDiagnostic(problem, locate), settings)),
    events: eventsAbout(log.entries, { id: one.liveId, names }, maxEvents),
    ...(log.unavailable === undefined ? {} : { eventsUnavailable: log.unavailable }),
  };
}
