import { type Address, kindOf } from "../base/model/address.ts";
import { eachChange, notKeptValues } from "../base/model/changes.ts";
import { DimsyncError, refuseErrors } from "../base/model/errors.ts";
import { isObject, type JsonObject, own } from "../base/model/json/json.ts";
import { fromPointer, type Pointer } from "../base/model/json/pointer.ts";
import type { LiveSchemas } from "../base/model/live.ts";
import { type NodePath, nodePointer } from "../base/model/nodes.ts";
import { draftItems, type NotKept, stepsOf } from "../base/model/plan.ts";
import { isError, type Problem } from "../base/model/problem.ts";
import type { ColumnPath, Field, TablePath } from "../base/model/schema-tree.ts";
import type { PlannedRequest, Reads } from "../base/model/service.ts";
import { nodeText } from "../base/text/paths.ts";
import { didYouMean } from "../base/text/suggest.ts";
import type { Account, Explanation, ReadNeeds, SchemaConfigUnit } from "../kinds/index.ts";
import {
  absenceOf,
  disabledAbove,
  evaluate,
  explain,
  integrations,
  isSchemaConfig,
  kindNames,
  overlayOf,
  schemaConfig,
  switchedOffBy,
  tablesToRead,
  wholeSchemas,
  withColumns,
} from "../kinds/index.ts";
import { observeAccount } from "./observe-account.ts";
import { columnBudget } from "./reads/cached-reads.ts";
import type { Run } from "./run.ts";
import { ignoring } from "./scope.ts";

/** One node of one integration, with everything that applies to it. */
export interface Explained extends Explanation {
  readonly address: Address;
  readonly liveId: string;
  /** The names of the integration. */
  readonly names: readonly string[];
  /** Fields that `ignore` entries of the config exclude. */
  readonly leftAlone: readonly Field[];
  /** The parts of the requests that change this node. None if nothing is sent for the integration. */
  readonly requests: readonly PlannedRequest[];
  /** How many changes would be sent for the integration, including those of this node, as far as its columns were read. */
  readonly changesInAll: number;
  /** How many other tables a plan would read the columns of; absent if the response has all that it needs. */
  readonly unreadTables?: number;
  /** Why there is no live node, with a suggestion. */
  readonly absent?: string;
  /** The node above that is disabled after apply, such as "public.users", so that this one is not replicated. */
  readonly stoppedBy?: string;
  /** Values of the node that the service does not keep. */
  readonly notKept?: readonly NotKept[];
  /** Why nothing can be sent for this integration. */
  readonly refused: readonly Problem[];
}

/** Why a schema, table or column has its desired state. Throws E_UNKNOWN_ADDRESS and E_STILL_WAITING, and ServiceError if a read fails. */
export async function explainNode(run: Run, address: Address, path: NodePath): Promise<readonly Explained[]> {
  const observed = await observeConfigs(run, (one) => one === address);
  if (observed.units.length === 0 && !observed.isWaiting) {
    refuseErrors(observed.problems); // A SchemaConfig with errors selects nothing, and may be the one that is asked for.
    throw new DimsyncError(
      "E_UNKNOWN_ADDRESS",
      `No SchemaConfig selects a live integration with the address ${JSON.stringify(address)}.${didYouMean(address, observed.known)}`,
    );
  }
  if (observed.units.length === 0)
    throw new DimsyncError(
      "E_STILL_WAITING",
      `The integration of ${address} does not exist yet, so there are no schemas to explain. dimsync plan shows what it waits for.`,
    );
  return Promise.all(observed.units.map((unit) => explainUnit(unit, observed, path)));
}

async function explainUnit(unit: SchemaConfigUnit, { reads, account, needs }: ObservedConfigs, path: NodePath): Promise<Explained> {
  const id = unit.liveId;
  const tree = existing(unit, await wholeSchemas(reads, id));
  const explained = unknownTable(tree, path);
  needs.claimColumns(id, explained.length);
  // A plan reads the columns of all these tables. They decide nothing about this node.
  const needed = tablesToRead(unit.rules, tree, needs.policyColumns(id)).filter(
    ([schema, table]) => schema !== path[0] || table !== path[1],
  );
  const whole = await withColumns({ id, tree }, explained, reads);
  const difference = schemaConfig.diff(unit, whole, account);
  const { problems, findings = [] } = difference;
  const items = draftItems(difference);
  const liveName = account.list(integrations).byId.get(unit.liveId ?? "")?.name;
  const isIgnored = (key: Field): boolean => account.ignored(unit.address, nodePointer(path, key));
  const { decide } = overlayOf(unit, whole.tree, account);
  const changes = items.flatMap((item) => [...eachChange(item)]);
  const absent = absenceOf(whole.tree, path);
  const added = findings.flatMap(({ rule, path = "" }) => (rule === "new-column" ? [columnAt(path)] : []));
  const switchedOff = switchedOffBy(unit, added);
  const evaluation = evaluate(unit.rules, whole.tree, { decide, switchedOff });
  const ofNode = notKeptValues(difference).filter((one) => one.path.slice(0, one.path.lastIndexOf("/")) === nodePointer(path));
  const disabled = disabledAbove(whole.tree, path, new Map(changes.map((change) => [change.path, change.after])));
  return {
    address: unit.address,
    liveId: unit.liveId,
    names: [...new Set([unit.name, ...(liveName === undefined ? [] : [liveName])])],
    leftAlone: (["enabled", "hashed"] as const).filter((key) => (key === "enabled" || path.length === 3) && isIgnored(key)),
    requests: items.flatMap(({ requests }) => requests.flatMap((request) => partOf(request, path))),
    changesInAll: changes.length,
    ...(needed.length === 0 ? {} : { unreadTables: needed.length }),
    ...(absent === undefined ? {} : { absent }),
    ...(disabled === undefined ? {} : { stoppedBy: nodeText(disabled) }),
    refused: problems.filter(isError),
    ...explain(unit.rules, whole.tree, path, { evaluation, switchedOff }),
    ...(ofNode.length === 0 ? {} : { notKept: ofNode }),
  };
}

/** The part of a request that leads to a node: its ancestors with their own members, without siblings. None if it only goes through the node. */
function partOf({ body, ...request }: PlannedRequest, path: NodePath): readonly PlannedRequest[] {
  const part = (
    map: unknown,
    [name, ...below]: readonly (string | undefined)[],
    [next = "", ...deeper]: readonly string[],
  ): object | undefined => {
    const entry: unknown = isObject(map) && name !== undefined ? own(map, name) : undefined;
    if (name === undefined || !isObject(entry)) return undefined;
    const scalars = Object.entries(entry).filter(([, member]) => typeof member !== "object");
    const inner = below.length === 0 ? undefined : part(own(entry, next), below, deeper);
    if (below.length === 0 ? scalars.length === 0 : inner === undefined) return undefined;
    return Object.fromEntries([[name, { ...Object.fromEntries(scalars), ...(inner === undefined ? {} : { [next]: inner }) }]]);
  };
  const schemas = part(own(body, "schemas"), path, ["tables", "columns"]) as JsonObject | undefined; // members of a JSON value
  return schemas === undefined ? [] : [{ ...request, body: { schemas } }];
}

/** The table of a column, if the response has no columns for it. */
function unknownTable(live: LiveSchemas, [schema, table, column]: NodePath): readonly TablePath[] {
  if (table === undefined || column === undefined) return [];
  const entry = own(own(live, schema)?.tables, table);
  return entry !== undefined && entry.columns === undefined ? [[schema, table]] : [];
}

interface ObservedConfigs {
  readonly units: readonly SchemaConfigUnit[];
  /** Whether one of them does not exist yet. */
  readonly isWaiting: boolean;
  /** Every address that could be wanted. */
  readonly known: readonly Address[];
  readonly reads: Reads;
  readonly account: Account;
  readonly needs: ReadNeeds;
  /** Of all SchemaConfigs. */
  readonly problems: readonly Problem[];
}

/** Looks up the integrations whose schemas, or one of whose SchemaConfigs, are wanted. Their schemas are not read yet. */
async function observeConfigs(run: Run, isWanted: (address: Address) => boolean): Promise<ObservedConfigs> {
  const { project, reads, today } = run;
  const configs = project.manifests.filter(isSchemaConfig);
  const account = await observeAccount({
    project,
    comparable: configs,
    records: run.records(),
    reads,
    ignored: ignoring(project.settings.ignore, today).ignored,
    run: { review: run.review },
  });
  const found = schemaConfig.units(configs, account);
  const known = [...found.units, ...found.steps].map(({ address }) => account.addressesOf(address));
  const concerned = new Set(known.filter((names) => names.some(isWanted)).flat());
  const concerns = ({ address }: Problem): boolean =>
    address === undefined || kindOf(address) === kindNames.ruleSet || isWanted(address) || concerned.has(address);
  refuseErrors([...account.problems, ...found.problems.filter(concerns)]);
  const isNamed = ({ address }: { readonly address: Address }): boolean => account.addressesOf(address).some(isWanted);
  const claimColumns = columnBudget();
  const needs = { policyColumns: () => (run.review === undefined ? undefined : () => true), claimColumns, isNew: () => false };
  const units = found.units.filter(isNamed);
  const isWaiting = stepsOf(found, "waits").some(isNamed);
  return { units, isWaiting, known: [...new Set(known.flat())], reads, account, needs, problems: found.problems };
}

function existing<T>({ liveId, address }: SchemaConfigUnit, live: T | undefined): T {
  if (live === undefined) throw new DimsyncError("E_READ_FAILED", `${address}: GET of the integration ${liveId} returns 404.`);
  return live;
}

const columnAt = (pointer: Pointer): ColumnPath => {
  const [, schema = "", , table = "", , column = ""] = fromPointer(pointer);
  return [schema, table, column];
};
