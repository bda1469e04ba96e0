import type { AccountView, DiffResult, Kind } from "../kinds/kind.ts";
import { labelScopes } from "../kinds/select.ts";
import { type Address, byText } from "../model/address.ts";
import { isOfNodes } from "../model/changes.ts";
import { own } from "../model/json/json.ts";
import type { LiveSchemas } from "../model/live.ts";
import { getOrAdd } from "../model/maps.ts";
import { eachNode, type NodePath, nodePointer } from "../model/nodes.ts";
import type { DraftItem, Impact } from "../model/plan.ts";
import { isStep, type Steps } from "../model/runtime/event-loop.ts";
import type { Readers, ReadersOf } from "./lineage.ts";
import type { ColumnReaders } from "./lineage-files.ts";

/** A unit that a run compares. */
interface ComparedUnit {
  readonly kind: Kind;
  readonly unit: { readonly liveId?: string | undefined };
  readonly live: unknown;
  readonly difference: Pick<DiffResult, "items">;
}

/** Collects who reads what the items of a run change. */
interface ImpactCheck {
  readonly checkUnit: (unit: ComparedUnit) => Steps<void>;
  /** Sorted by the first address, then by name. */
  readonly impact: () => readonly Impact[];
}

/** Undefined if the project names no dbt manifest. dbt names columns as they are in the destination. */
export function checkImpact(readersOf: ReadersOf | undefined, account: AccountView): ImpactCheck | undefined {
  if (readersOf === undefined) return undefined;
  const scopes = labelScopes(account);
  // The columns of equal integrations have the same readers, so one entry stands for all of them.
  const found = new Map<Readers, Map<string, AffectedColumns>>();
  return {
    *checkUnit({ kind, unit, live, difference }) {
      if (kind.schemas === undefined || unit.liveId === undefined || live === undefined) return;
      const destination = { tree: kind.schemas.tree(live), destinationSchema: scopes?.(unit.liveId).destinationSchema, readersOf };
      let done = 0;
      for (const { address, changes } of difference.items)
        for (const [key, { path, isGone }] of yield* affectedBy(changes, destination.tree)) {
          if (isStep(++done)) yield;
          const readers = readersAt(path, { ...destination, isGone });
          if (readers === undefined) continue;
          const byPath = getOrAdd(found, readers, () => new Map<string, AffectedColumns>());
          const known = byPath.get(key);
          if (known === undefined) byPath.set(key, { path, addresses: [address] });
          else known.addresses.push(address);
        }
    },
    impact: () =>
      [...found]
        .flatMap(([readers, byPath]) =>
          Array.from(byPath, ([key, { path, addresses }]) => ({ key, impact: toImpact(addresses.sort(byText), path, readers) })),
        )
        .sort((a, b) => byText(a.impact.addresses[0], b.impact.addresses[0]) || byText(a.key, b.key))
        .map(({ impact }) => impact),
  };
}

interface AffectedColumns {
  readonly path: TablePath;
  /** Not sorted. */
  readonly addresses: [Address, ...Address[]];
}

interface Destination {
  readonly tree: LiveSchemas;
  /** For schemas for which the service returns none. */
  readonly destinationSchema: string | undefined;
  readonly readersOf: ReadersOf;
}

const affecting: ReadonlySet<string> = new Set(["hashed", "enabled"]);

interface AffectedPath {
  readonly path: TablePath;
  readonly isGone: boolean;
}

/** By pointer, each column once, although it may be both hashed and switched off. */
function* affectedBy(changes: DraftItem["changes"], tree: LiveSchemas): Steps<ReadonlyMap<string, AffectedPath>> {
  const affected = new Map<string, AffectedPath>();
  let done = 0;
  for (const entry of changes) {
    if (!isOfNodes(entry) || !affecting.has(entry.field)) continue;
    const isGone = entry.field === "enabled" && entry.after === false;
    for (const node of eachNode(entry.nodes)) {
      if (isStep(++done)) yield;
      for (const path of tablesOf(node, tree)) {
        const key = nodePointer(path);
        affected.set(key, { path, isGone: isGone || affected.get(key)?.isGone === true });
      }
    }
  }
  return affected;
}

/** Who reads a table, or one of its columns. Undefined if dbt does not know the table, or nobody reads it. */
function readersAt(
  [schema, table, column]: TablePath,
  { tree, destinationSchema, readersOf, isGone }: Destination & { readonly isGone: boolean },
): Readers | undefined {
  const liveSchema = own(tree, schema);
  const liveTable = own(liveSchema?.tables, table);
  return readersOf({
    schema: liveSchema?.nameInDestination ?? destinationSchema ?? schema,
    table: liveTable?.nameInDestination ?? table,
    column: column === undefined ? undefined : (own(liveTable?.columns, column)?.nameInDestination ?? column),
    isGone,
  });
}

const toImpact = (addresses: Impact["addresses"], [schema, table, column]: TablePath, readers: Readers): Impact => ({
  addresses,
  schema,
  table,
  ...(column === undefined ? {} : { column }),
  ...readers,
});

/** Who reads a live table or column, whether it changes or not. */
export function readersOfNode(
  { readers, account, tree, isGone }: NodeReaders,
  { address, liveId }: { readonly address: Address; readonly liveId: string },
  [schema, table, column]: NodePath,
): Impact | undefined {
  if (readers === undefined || table === undefined) return undefined;
  const path: TablePath = column === undefined ? [schema, table] : [schema, table, column];
  const { destinationSchema } = labelScopes(account)?.(liveId) ?? {};
  const found = readersAt(path, { tree, destinationSchema, readersOf: readers.of, isGone });
  return found && toImpact([address], path, found);
}

interface NodeReaders {
  readonly readers: ColumnReaders | undefined;
  readonly account: AccountView;
  readonly tree: LiveSchemas;
  /** Whether to answer as if it went away, not as if its values changed. */
  readonly isGone: boolean;
}

type TablePath = readonly [schema: string, table: string, column?: string];

/** A schema stands for its tables. */
const tablesOf = ([schema, table, column]: NodePath, tree: LiveSchemas): readonly TablePath[] =>
  table === undefined
    ? Object.keys(own(tree, schema)?.tables ?? {}).map((name) => [schema, name] as const)
    : [column === undefined ? [schema, table] : [schema, table, column]];
