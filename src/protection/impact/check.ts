import type { AccountView, DiffResult, Kind } from "../../kinds/kind.ts";
import { labelScopes } from "../../kinds/select.ts";
import { type Address, byText } from "../../model/address.ts";
import { isOfNodes } from "../../model/changes.ts";
import { own } from "../../model/json/json.ts";
import type { LiveSchemas } from "../../model/live.ts";
import { eachNode, type NodePath, nodePointer } from "../../model/nodes.ts";
import type { DraftItem, Impact } from "../../model/plan.ts";
import { flatMapInSteps, isStep, type Steps } from "../../model/runtime/event-loop.ts";
import type { ReadersOf } from "./lineage.ts";
import type { ColumnReaders } from "./lineage-files.ts";

/** A unit that a run compares. */
interface ComparedUnit {
  readonly kind: Kind;
  readonly unit: { readonly liveId?: string | undefined };
  readonly live: unknown;
  readonly difference: Pick<DiffResult, "items">;
}

/** Collects who reads what the items of a run change. */
export interface ImpactCheck {
  readonly checkUnit: (unit: ComparedUnit) => Steps<void>;
  /** Sorted by address; in an item, in the order of its changes. */
  readonly impact: () => readonly Impact[];
}

/** Undefined if the project names no dbt manifest. dbt names columns as they are in the destination. */
export function checkImpact(readersOf: ReadersOf | undefined, account: AccountView): ImpactCheck | undefined {
  if (readersOf === undefined) return undefined;
  const scopes = labelScopes(account);
  const found: Impact[] = [];
  return {
    *checkUnit({ kind, unit, live, difference }) {
      if (kind.schemas === undefined || unit.liveId === undefined || live === undefined) return;
      const destinationSchema = scopes?.(unit.liveId).destinationSchema;
      const tree = kind.schemas.tree(live);
      for (const item of difference.items) for (const one of yield* impactOf(item, { tree, destinationSchema, readersOf })) found.push(one);
    },
    impact: () => [...found].sort((a, b) => byText(a.address, b.address)),
  };
}

interface Destination {
  readonly tree: LiveSchemas;
  /** For schemas for which the service returns none. */
  readonly destinationSchema: string | undefined;
  readonly readersOf: ReadersOf;
}

const affecting: ReadonlySet<string> = new Set(["hashed", "enabled"]);

/** Each column once, although it may be both hashed and switched off. */
function* impactOf({ address, changes }: DraftItem, destination: Destination): Steps<readonly Impact[]> {
  const affected = new Map<string, { readonly path: TablePath; readonly isGone: boolean }>();
  let done = 0;
  for (const entry of changes) {
    if (!isOfNodes(entry) || !affecting.has(entry.field)) continue;
    const isGone = entry.field === "enabled" && entry.after === false;
    for (const node of eachNode(entry.nodes)) {
      if (isStep(++done)) yield;
      for (const path of tablesOf(node, destination.tree)) {
        const key = nodePointer(path);
        affected.set(key, { path, isGone: isGone || affected.get(key)?.isGone === true });
      }
    }
  }
  return yield* flatMapInSteps([...affected.values()], ({ path, isGone }) => {
    const found = readersAt(address, path, { ...destination, isGone });
    return found === undefined ? [] : [found];
  });
}

/** Who reads a table, or one of its columns. Undefined if dbt does not know the table, or nobody reads it. */
function readersAt(
  address: Address,
  [schema, table, column]: TablePath,
  { tree, destinationSchema, readersOf, isGone }: Destination & { readonly isGone: boolean },
): Impact | undefined {
  const liveSchema = own(tree, schema);
  const liveTable = own(liveSchema?.tables, table);
  const readers = readersOf({
    schema: liveSchema?.nameInDestination ?? destinationSchema ?? schema,
    table: liveTable?.nameInDestination ?? table,
    column: column === undefined ? undefined : (own(liveTable?.columns, column)?.nameInDestination ?? column),
    isGone,
  });
  return readers && { address, schema, table, ...(column === undefined ? {} : { column }), ...readers };
}

/** Who reads a live table or column, whether it changes or not. */
export function readersOfNode(
  { readers, account, tree, isGone }: NodeReaders,
  { address, liveId }: { readonly address: Address; readonly liveId: string },
  [schema, table, column]: NodePath,
): Impact | undefined {
  if (readers === undefined || table === undefined) return undefined;
  const destination = { tree, destinationSchema: labelScopes(account)?.(liveId).destinationSchema, readersOf: readers.of, isGone };
  return readersAt(address, column === undefined ? [schema, table] : [schema, table, column], destination);
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
