import type { AccountView, ReadNeeds } from "../kinds/kind.ts";
import { isSchemaConfig, kindNames } from "../kinds/manifests.ts";
import { expand } from "../kinds/schema-config/coverage.ts";
import { absenceOf, disabledAbove, type Explanation, explain } from "../kinds/schema-config/explain.ts";
import { type ObservedSchemas, schemaConfig, withColumns } from "../kinds/schema-config/index.ts";
import { switchedOffBy } from "../kinds/schema-config/new-columns.ts";
import { type Field, type NodePath, nodePointer, nodeText, type TablePath } from "../kinds/schema-config/tree.ts";
import type { SchemaConfigUnit } from "../kinds/schema-config/units.ts";
import { type Address, kindOf, manifestAddress } from "../model/address.ts";
import { DimsyncError, ProblemsError } from "../model/errors.ts";
import { own } from "../model/json/json.ts";
import type { LiveSchemas } from "../model/live.ts";
import type { Problem } from "../model/problem.ts";
import type { SchemaTree } from "../model/resource.ts";
import type { PlannedRequest, Reads } from "../model/service.ts";
import { didYouMean } from "../text/suggest.ts";
import { observeAccount } from "./observe.ts";
import { cachedReads, columnBudget, columnsNeeded } from "./reads/cached-reads.ts";
import { ignoring } from "./scope.ts";
import type { Session } from "./session.ts";

/** One node of one integration, with everything that applies to it. */
export interface Explained extends Explanation {
  readonly address: Address;
  readonly liveId: string;
  /** The names of the integration. */
  readonly names: readonly string[];
  /** Fields that `ignore` entries of the config exclude. */
  readonly leftAlone: readonly Field[];
  /**
   * All requests that apply would send for this integration; none if there are no differences or
   * the unit is refused.
   */
  readonly requests: readonly PlannedRequest[];
  /** How many changes those requests make, including those of this node. */
  readonly changesInAll: number;
  /** Why there is no live node, with a suggestion. */
  readonly absent?: string;
  /** The node above that is disabled after apply, such as "public.users", so that this one is not replicated. */
  readonly stoppedBy?: string;
  /** Why nothing can be sent for this integration. */
  readonly refused: readonly Problem[];
}

/** Why a schema, table or column has its desired state. Throws E_UNKNOWN_ADDRESS and E_NOT_LIVE, and ServiceError if a read fails. */
export async function explainNode(session: Session, address: Address, path: NodePath): Promise<readonly Explained[]> {
  const observed = await observeConfigs(session, [address]);
  if (observed.units.length === 0)
    throw new DimsyncError(
      "E_NOT_LIVE",
      `The integration of ${address} does not exist yet, so there are no schemas to explain. dimsync plan shows what it waits for.`,
    );
  return Promise.all(observed.units.map((unit) => explainUnit(unit, observed, path)));
}

async function explainUnit({ unit, live }: ReadUnit, { reads, account }: ObservedConfigs, path: NodePath): Promise<Explained> {
  const whole = await withColumns({ id: unit.liveId, tree: live.tree }, unknownTable(live.tree, path), reads);
  const { items, problems, review } = schemaConfig.diff(unit, whole, account);
  const liveName = account.integrations.find(({ id }) => id === unit.liveId)?.name;
  const isIgnored = (node: NodePath, key: Field): boolean => account.ignored(unit.address, nodePointer(node, key));
  const changes = items.flatMap((item) => item.changes);
  const absent = absenceOf(whole.tree, path);
  const switchedOff = review && switchedOffBy(unit, review);
  const disabled = disabledAbove(whole.tree, path, new Map(changes.map((change) => [change.path, change.after])));
  return {
    address: unit.address,
    liveId: unit.liveId,
    names: [...new Set([unit.label, ...(liveName === undefined ? [] : [liveName])])],
    leftAlone: (["enabled", "hashed"] as const).filter((key) => (key === "enabled" || path.length === 3) && isIgnored(path, key)),
    requests: items.flatMap(({ requests }) => requests),
    changesInAll: changes.length,
    ...(absent === undefined ? {} : { absent }),
    ...(disabled === undefined ? {} : { stoppedBy: nodeText(disabled) }),
    refused: problems.filter(({ severity }) => severity === "error"),
    ...explain(unit.rules, whole.tree, path, { isIgnored, switchedOff }),
  };
}

/** The table of a column, if the response has no columns for it. */
function unknownTable(live: LiveSchemas, [schema, table, column]: NodePath): readonly TablePath[] {
  if (table === undefined || column === undefined) return [];
  const entry = own(own(live, schema)?.tables, table);
  return entry !== undefined && entry.columns === undefined ? [[schema, table]] : [];
}

/** What is managed of one integration, written out. */
export interface Expanded {
  readonly address: Address;
  readonly liveId: string;
  readonly config: string;
  /** Every SchemaConfig that selects the integration. */
  readonly configs: readonly Address[];
  readonly label: string;
  readonly schemas: SchemaTree;
}

/**
 * The effective tree of every integration that these SchemaConfigs select, with rules and `unmatched` resolved over the
 * live names (`render --expand`). An integration that does not exist yet has none. Throws ProblemsError, and ServiceError
 * if a read fails.
 */
export async function expandConfigs(session: Session, addresses: readonly Address[]): Promise<readonly Expanded[]> {
  const { units } = await observeConfigs(session, addresses);
  return units.map(({ unit, live }) => ({
    address: unit.address,
    liveId: unit.liveId,
    config: unit.resource.name,
    configs: configsOf(unit),
    label: unit.label,
    schemas: expand(unit.rules, live.tree),
  }));
}

const configsOf = ({ rules }: SchemaConfigUnit): readonly Address[] => rules.program.layers.map(({ config }) => config.address);

interface ReadUnit {
  readonly unit: SchemaConfigUnit;
  readonly live: ObservedSchemas;
}

interface ObservedConfigs {
  readonly units: readonly ReadUnit[];
  readonly reads: Reads;
  readonly account: AccountView;
}

/** Reads the integrations that these SchemaConfigs select. */
async function observeConfigs(session: Session, addresses: readonly Address[]): Promise<ObservedConfigs> {
  const { project, clock } = session;
  const reads = cachedReads(session.reads);
  const configs = project.resources.filter(isSchemaConfig);
  const { account, problems } = await observeAccount({
    project,
    compared: configs,
    records: session.records(),
    reads,
    ignored: ignoring(project.settings.ignore, clock.now().toISOString().slice(0, 10)).ignored,
    review: session.review,
  });
  const found = schemaConfig.units(configs, account);
  const concerns = ({ address }: Problem): boolean =>
    address === undefined || kindOf(address) === kindNames.ruleSet || addresses.some((wanted) => manifestAddress(wanted) === address);
  const errors = [...problems, ...found.problems.filter(concerns)].filter(({ severity }) => severity === "error");
  if (errors.length > 0) throw new ProblemsError(errors);
  const units = found.units.filter((unit) => addresses.some((address) => isNamed(unit, address)));
  const isWaiting = found.deferred.some((one) => addresses.some((each) => [one.address, manifestAddress(one.address)].includes(each)));
  const [address] = addresses;
  if (units.length === 0 && address !== undefined && !isWaiting) {
    const known = [...found.units, ...configs].map((one) => one.address);
    throw new DimsyncError(
      "E_UNKNOWN_ADDRESS",
      `No SchemaConfig that selects a live integration has the address ${JSON.stringify(address)}.${didYouMean(address, known)}`,
    );
  }
  const claimColumns = columnBudget(project.settings.client.maxColumnReads);
  const needs = { policyColumns: columnsNeeded(session, () => undefined), claimColumns };
  const read = units.map((unit) => readUnit(unit, reads, needs));
  return { units: await Promise.all(read), reads, account };
}

/** Whether the address is that of the unit, or of one of its SchemaConfigs with or without the integration. */
function isNamed(unit: SchemaConfigUnit, address: Address): boolean {
  const names = configsOf(unit).flatMap((config) => [config, `${config}@${unit.label}`]);
  return [unit.address, manifestAddress(unit.address), ...names].includes(address);
}

async function readUnit(unit: SchemaConfigUnit, reads: Reads, needs: ReadNeeds): Promise<ReadUnit> {
  const live = await schemaConfig.observe?.(unit, reads, needs);
  if (live === undefined) throw new DimsyncError("E_GONE", `The integration ${unit.liveId} of ${unit.address} is gone from the account.`);
  return { unit, live };
}
