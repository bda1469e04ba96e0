import { expand } from "../kinds/schema-config/expand.ts";
import { type Explanation, explain } from "../kinds/schema-config/explain.ts";
import { schemaConfig, withColumns } from "../kinds/schema-config/index.ts";
import { absenceOf, stoppedBy } from "../kinds/schema-config/missing.ts";
import { type Field, type NodePath, nodePointer, nodeText } from "../kinds/schema-config/tree.ts";
import type { SchemaConfigUnit } from "../kinds/schema-config/units.ts";
import { type Address, manifestAddress } from "../model/address.ts";
import { DimsyncError, ProblemsError } from "../model/errors.ts";
import { own } from "../model/json.ts";
import type { LiveSchemas } from "../model/live.ts";
import { fromPointer } from "../model/pointer.ts";
import type { Problem } from "../model/problem.ts";
import type { SchemaTree } from "../model/resource.ts";
import type { PlannedRequest } from "../model/service.ts";
import { didYouMean } from "../text/suggest.ts";
import { cachedReads, columnBudget } from "./cached-reads.ts";
import { ignoring } from "./ignore.ts";
import { observeAccount } from "./observe.ts";
import type { Session } from "./session.ts";

/** One node of one integration, with everything that was said of it. */
export interface Explained extends Explanation {
  readonly address: Address;
  readonly liveId: string;
  /** The names that the integration goes by. */
  readonly names: readonly string[];
  /** Fields that `ignore` entries of the config leave to others. */
  readonly leftAlone: readonly Field[];
  /** The whole request that apply would send for this integration; empty where nothing differs, and where something is refused. */
  readonly requests: readonly PlannedRequest[];
  /** How many changes those requests make in all, this node's among them. */
  readonly changesInAll: number;
  /** Why there is no live node to show, if so, and what may have been meant. */
  readonly absent?: string;
  /** The node above, as "public.users", that ends up disabled, so that nothing of this one is replicated. */
  readonly stoppedBy?: string;
  /** Why nothing can be sent for this integration, if so. */
  readonly refused: readonly Problem[];
}

/** Why a schema, table or column is to be as it is (product §4, `explain`). Throws E_UNKNOWN_ADDRESS, and ServiceError where a read fails. */
export async function explainNode(session: Session, address: Address, path: NodePath): Promise<readonly Explained[]> {
  const { units, reads, diff, world } = await compared(session, [address]);
  if (units.length === 0)
    throw new DimsyncError(
      "E_NOT_LIVE",
      `The integration of ${address} is not in the account yet, so there are no schemas to explain. dimsync plan shows what it waits for.`,
    );
  return Promise.all(
    units.map(async ({ unit, live }) => {
      const whole = await withColumns(unit.liveId, live, unknownTable(live, path), reads);
      const { items, problems } = diff(unit, whole);
      const liveName = world.integrations.find(({ id }) => id === unit.liveId)?.name;
      const ignored = (node: NodePath, key: Field): boolean => world.ignored(unit.address, nodePointer(node, key));
      const changes = items.flatMap((item) => item.changes);
      const absent = absenceOf(whole, path);
      const stopped = stoppedBy(whole, path, new Map(changes.map((change) => [change.path, change.after])));
      return {
        address: unit.address,
        liveId: unit.liveId,
        names: [...new Set([unit.label, ...(liveName === undefined ? [] : [liveName])])],
        leftAlone: (["enabled", "hashed"] as const).filter((key) => (key === "enabled" || path.length === 3) && ignored(path, key)),
        requests: items.flatMap(({ requests }) => requests),
        changesInAll: changes.length,
        ...(absent === undefined ? {} : { absent }),
        ...(stopped === undefined ? {} : { stoppedBy: nodeText(stopped) }),
        refused: problems.filter(({ severity }) => severity === "error"),
        ...explain(unit.program, whole, path, ignored),
      };
    }),
  );
}

/** The table of a column whose table was answered without columns. */
function unknownTable(live: LiveSchemas, [schema, table, column]: NodePath): readonly (readonly [schema: string, table: string])[] {
  if (table === undefined || column === undefined) return [];
  const entry = own(own(live, schema)?.tables, table);
  return entry !== undefined && entry.columns === undefined ? [[schema, table]] : [];
}

/** What is managed of one integration, written out. */
export interface Expanded {
  readonly address: Address;
  readonly liveId: string;
  readonly config: string;
  /** Every configuration that has a say in it. */
  readonly configs: readonly Address[];
  readonly label: string;
  readonly schemas: SchemaTree;
}

/**
 * The effective tree of every integration that these configurations act on: rules and `unmatched` worked out over what is live (`render --expand`).
 * A configuration whose integration is not there yet has none. Throws ProblemsError, and ServiceError where a read fails.
 */
export async function expandConfigs(session: Session, addresses: readonly Address[]): Promise<readonly Expanded[]> {
  const { units } = await compared(session, addresses);
  return units.map(({ unit, live }) => ({
    address: unit.address,
    liveId: unit.liveId,
    config: unit.resource.name,
    configs: unit.program.layers.map(({ config }) => config.address),
    label: unit.label,
    schemas: expand(unit.program, live),
  }));
}

async function compared(session: Session, addresses: readonly Address[]) {
  const { project, clock } = session;
  const today = clock.now().toISOString().slice(0, 10);
  const reads = cachedReads(session.reads);
  const claimColumns = columnBudget(project.settings.client.maxColumnReads);
  const configs = project.resources.filter(({ kind }) => kind === "SchemaConfig");
  const { account: world, problems } = await observeAccount({
    project,
    compared: configs,
    records: session.records(),
    reads,
    ignored: ignoring(project.settings.ignore, today).ignored,
  });
  const { units: all, problems: mistakes, deferred } = schemaConfig.units(configs, world);
  const isMeant = (address: Address | undefined): boolean =>
    address === undefined || address.startsWith("RuleSet/") || addresses.some((wanted) => manifestAddress(wanted) === address);
  const errors = [...problems, ...mistakes.filter(({ address }) => isMeant(address))].filter(({ severity }) => severity === "error");
  if (errors.length > 0) throw new ProblemsError(errors);
  const wanted = all.filter((unit) =>
    addresses.some(
      (address) =>
        [unit.address, manifestAddress(unit.address)].includes(address) ||
        unit.program.layers.some(({ config }) => [config.address, `${config.address}@${unit.label}`].includes(address)),
    ),
  );
  const [address] = addresses;
  const isAwaited = deferred.some((one) => addresses.some((each) => [one.address, manifestAddress(one.address)].includes(each)));
  if (wanted.length === 0 && address !== undefined && !isAwaited) {
    const known = [...all.map((unit) => unit.address), ...configs.map((config) => config.address)];
    throw new DimsyncError(
      "E_UNKNOWN_ADDRESS",
      `No schema configuration that acts on a live integration has the address ${JSON.stringify(address)}.${didYouMean(address, known)}`,
    );
  }
  const units = await Promise.all(
    wanted.map(async (unit) => {
      const live = await schemaConfig.observe?.(unit, reads, { policyColumns: () => undefined, claimColumns });
      if (live === undefined)
        throw new DimsyncError("E_GONE", `The integration ${unit.liveId} of ${unit.address} is gone from the account.`);
      return { unit, live };
    }),
  );
  return { units, reads, world, diff: (unit: SchemaConfigUnit, live: LiveSchemas) => schemaConfig.diff(unit, live, world) };
}

/** A node's path from what a person types: `public.users.email`, or a JSON Pointer where names hold dots. Throws E_USAGE. */
export function nodePath(text: string | undefined, pointer: string | undefined): NodePath {
  const isPointer = pointer?.startsWith("/") === true;
  const names = pointer === undefined ? (text ?? "").split(".") : shortened(fromPointer(pointer));
  const [schema, table, column, ...more] = names;
  if (schema === undefined || schema === "" || more.length > 0 || (pointer !== undefined && !isPointer))
    throw new DimsyncError(
      "E_USAGE",
      "explain takes SCHEMA, SCHEMA.TABLE or SCHEMA.TABLE.COLUMN. Where a name holds a dot, give --pointer /SCHEMA/TABLE/COLUMN.",
    );
  return column !== undefined && table !== undefined ? [schema, table, column] : table !== undefined ? [schema, table] : [schema];
}

/** `/schemas/public/tables/users/columns/email/hashed`, as plans write it, means `/public/users/email`. */
function shortened(segments: readonly string[]): readonly string[] {
  const [schemas, schema, tables, table, columns, column] = segments;
  if (schemas !== "schemas" || schema === undefined || (tables !== undefined && tables !== "tables" && tables !== "enabled"))
    return segments;
  return [
    schema,
    ...(tables === "tables" && table !== undefined ? [table] : []),
    ...(columns === "columns" && column !== undefined ? [column] : []),
  ];
}
