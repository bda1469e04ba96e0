import { type Address, type Bindings, isRelation } from "../base/model/address.ts";
import type { Blocked } from "../base/model/draft-steps.ts";
import { readOr } from "../base/model/errors.ts";
import { defined } from "../base/model/json/json.ts";
import type { AuditEntry } from "../base/model/live.ts";
import type { DraftItem } from "../base/model/plan.ts";
import { isError } from "../base/model/problem.ts";
import type { Reads } from "../base/model/service.ts";
import { bindCommand, resolveCommand } from "../base/text/shell.ts";
import { kindNamed } from "../kinds/index.ts";
import type { OpenIntent, RecordsState } from "../records/index.ts";
import { auditEvidence, describeEvidence } from "./reads/audit-log.ts";
import type { Run } from "./run.ts";

/** What was found out about POSTs of earlier runs whose response was lost. */
export interface Recovered {
  /** Ids of objects that were created. */
  readonly ids: ReadonlyMap<Address, string>;
  /** Addresses whose outcome is still unknown, with the reason. */
  readonly unknown: ReadonlyMap<Address, Unknown>;
  /** Entries that are no longer open: the object is bound, or the relation exists. A run that writes closes them. */
  readonly settled: readonly SettledEntry[];
}

interface SettledEntry {
  readonly entryId: string;
  /** Absent for a relation. */
  readonly id?: string;
}

const nothingToRecover: Recovered = { ids: new Map(), unknown: new Map(), settled: [] };

/** The open journal entries in the scope of the run. Nothing is read if the project has errors. */
export function recover({ project, records, scope, reads }: Run): Promise<Recovered> {
  if (project.problems.some(isError)) return Promise.resolve(nothingToRecover);
  const { open, bindings } = records();
  return recoverCreates(
    open.filter(({ address }) => scope.item(address)),
    bindings,
    reads,
  );
}

/** Resolves open journal entries with GET requests only. */
export async function recoverCreates(open: readonly OpenIntent[], bindings: Bindings, reads: Reads): Promise<Recovered> {
  const ids = new Map<Address, string>();
  const unknown = new Map<Address, Unknown>();
  const settled: SettledEntry[] = [];
  for (const intent of open) {
    const outcome = await outcomeOf(intent, bindings, reads);
    if (outcome.state === "settled") settled.push({ entryId: intent.entryId, ...(outcome.id === undefined ? {} : { id: outcome.id }) });
    else if (outcome.state === "created") ids.set(intent.address, outcome.id);
    else unknown.set(intent.address, outcome);
  }
  return { ids, unknown, settled };
}

type RecoveredOutcome =
  | { readonly state: "settled"; readonly id?: string }
  | { readonly state: "created"; readonly id: string }
  | ({ readonly state: "unknown" } & Unknown);

/** Why it is not known whether an object was created. */
interface Unknown {
  readonly why: string;
  /** The id that the response named, or that the only object has that may have been created. */
  readonly id?: string;
}

async function outcomeOf(intent: OpenIntent, bindings: Bindings, reads: Reads): Promise<RecoveredOutcome> {
  const bound = bindings.get(intent.address)?.id;
  if (bound !== undefined) return { state: "settled", id: bound };
  return readOr(
    () => readOutcome(intent, bindings, reads),
    ({ message }) => ({ state: "unknown", why: `A read failed: ${message}` }),
  );
}

async function readOutcome(intent: OpenIntent, bindings: Bindings, reads: Reads): Promise<RecoveredOutcome> {
  const { address, answeredId } = intent;
  const kind = kindNamed(intent.kind);
  if (answeredId !== undefined && !isRelation(address)) {
    // An object that can't be read by id (an asset) exists if the response had an id. Nothing else
    // can be checked.
    const exists = kind?.list === undefined || (await reads.one(kind.list, answeredId)) !== undefined;
    if (exists) return { state: "created", id: answeredId };
  }
  const { isCreated, id, alike } = await findCreated(intent, reads, { bindings, named: answeredId === undefined ? [] : [answeredId] });
  if (isCreated) return id === undefined ? { state: "settled" } : { state: "created", id };
  if (alike.length > 1) return { state: "unknown", why: `${alike.length} new objects match it: ${alike.join(", ")}.` };
  const hint =
    answeredId === undefined ? describeEvidence(await creationEvidence(intent, reads)) : ` The response named the id ${answeredId}.`;
  return { state: "unknown", why: `It was not found in the account.${hint}`, ...defined({ id: answeredId }) };
}

/** What a read shows of a POST that was sent, or may have been. */
interface FoundCreated {
  readonly isCreated: boolean;
  /** Absent for a relation. */
  readonly id?: string;
  /** The objects that it may have created. */
  readonly alike: readonly string[];
}

/**
 * Which object a POST has created: the only one with its natural key that no other address is bound to, or of several, the one whose
 * id the response `named`.
 */
export async function findCreated(
  { address, kind, naturalKey }: Pick<OpenIntent, "address" | "kind" | "naturalKey">,
  reads: Reads,
  { bindings, named }: { readonly bindings: Bindings; readonly named: readonly string[] },
): Promise<FoundCreated> {
  const existing = naturalKey === undefined ? undefined : await kindNamed(kind)?.find?.(naturalKey, reads);
  const found = existing === undefined || existing === "gone" ? [] : existing;
  if (isRelation(address)) return { isCreated: found.length > 0, alike: [] };
  const taken = new Set([...bindings].flatMap(([other, { id }]) => (other === address ? [] : [id])));
  const alike = found.filter((id) => !taken.has(id));
  const [only, ...others] = alike.length === 1 ? alike : alike.filter((id) => named.includes(id));
  return only === undefined || others.length > 0 ? { isCreated: false, alike } : { isCreated: true, id: only, alike };
}

/** Entries of the audit log that show that it was created. Only for objects that are in no list: assets. */
export async function creationEvidence(
  { kind, runId, naturalKey, at }: Pick<OpenIntent, "kind" | "runId" | "naturalKey" | "at">,
  reads: Reads,
): Promise<readonly AuditEntry[]> {
  const name = naturalKey?.["name"];
  return name === undefined || kindNamed(kind)?.list !== undefined ? [] : auditEvidence(reads, { runId, name, at });
}

/** Results of earlier runs that prevent a create. */
interface EarlierRuns {
  /** Addresses whose last create has no known outcome, with the reason. */
  readonly unknown: ReadonlyMap<Address, Unknown>;
  readonly created: RecordsState["created"];
  readonly bindings: Bindings;
}

/** Why an object or relation may not be created: its last create has no known outcome, or its id was lost from the bindings. */
export function blockedByEarlierRun(
  { address, kind, verb }: Pick<DraftItem, "address" | "kind" | "verb">,
  { unknown, created, bindings }: EarlierRuns,
): Blocked | undefined {
  const why = unknown.get(address);
  if (why !== undefined) return unknownOutcome(address, why);
  // An object that can be looked up was looked up. For an asset, the journal is the last record.
  const earlier = verb === "create" && kindNamed(kind)?.list === undefined ? created.get(address) : undefined;
  // After a manifest was renamed, its object is bound to the new address.
  if (earlier === undefined || [...bindings.values()].some(({ id }) => id === earlier.id)) return undefined;
  return {
    address,
    code: "E_UNBOUND",
    message: `An earlier run created it as ${earlier.id}, and the bindings file no longer has that id, so it is not created again. To create another one, unbind the address (dimsync unbind). Otherwise, bind the id again:`,
    command: bindCommand(address, earlier.id),
  };
}

export function unknownOutcome(address: Address, { why, id }: Unknown): Blocked {
  return {
    address,
    code: "E_UNKNOWN_OUTCOME",
    message: `An earlier run sent a create for it, and no response showed whether it was created. ${why} It is not sent again until you resolve it.`,
    command: resolveCommand(address, id),
  };
}
