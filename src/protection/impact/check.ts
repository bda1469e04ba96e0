import type { AccountView, DiffResult, Kind } from "../../kinds/kind.ts";
import { labelScopes } from "../../kinds/select.ts";
import { type Address, byText } from "../../model/address.ts";
import { isOfNodes } from "../../model/changes.ts";
import { own } from "../../model/json/json.ts";
import type { LiveSchemas, LiveTable } from "../../model/live.ts";
import { getOrAdd } from "../../model/maps.ts";
import { type NodePath, nodeLists } from "../../model/nodes.ts";
import type { DraftItem, Impact } from "../../model/plan.ts";
import { flatMapInSteps, isStep, type Steps } from "../../model/runtime/event-loop.ts";
import type { ReadersOf, TableReaders } from "./lineage.ts";
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
  const affected: AffectedNode[] = [];
  const tables = new Map<string, Map<string, AffectedTable>>();
  const add = (schema: string, table: string, { column, isGone }: Pick<AffectedNode, "column" | "isGone">): void => {
    const ofSchema = getOrAdd(tables, schema, () => new Map<string, AffectedTable>());
    const { read, nodes } = getOrAdd(ofSchema, table, () => ({ read: readTable(destination, schema, table), nodes: new Map() }));
    const known = nodes.get(column);
    if (known !== undefined) known.isGone ||= isGone;
    else if (read !== undefined) {
      const node = { table: read, column, isGone };
      nodes.set(column, node);
      affected.push(node);
    }
  };
  let done = 0;
  for (const entry of changes) {
    if (!isOfNodes(entry) || !affecting.has(entry.field)) continue;
    const isGone = entry.field === "enabled" && entry.after === false;
    for (const { above, names } of nodeLists(entry.nodes)) {
      const [schema, table] = above;
      for (const name of names) {
        if (isStep(++done)) yield;
        if (schema === undefined)
          for (const one of Object.keys(own(destination.tree, name)?.tables ?? {})) add(name, one, { column: undefined, isGone });
        else if (table === undefined) add(schema, name, { column: undefined, isGone });
        else add(schema, table, { column: name, isGone });
      }
    }
  }
  return yield* flatMapInSteps(affected, (node) => {
    const found = readersAt(address, node);
    return found === undefined ? [] : [found];
  });
}

interface AffectedTable {
  /** Undefined if dbt does not know the table. */
  readonly read: ReadTable | undefined;
  readonly nodes: Map<string | undefined, AffectedNode>;
}

/** A table that dbt knows, or one of its columns. */
interface AffectedNode {
  readonly table: ReadTable;
  readonly column: string | undefined;
  isGone: boolean;
}

interface ReadTable {
  readonly schema: string;
  readonly table: string;
  readonly live: LiveTable | undefined;
  readonly readers: TableReaders;
}

function readTable({ tree, destinationSchema, readersOf }: Destination, schema: string, table: string): ReadTable | undefined {
  const liveSchema = own(tree, schema);
  const live = own(liveSchema?.tables, table);
  const readers = readersOf(liveSchema?.nameInDestination ?? destinationSchema ?? schema, live?.nameInDestination ?? table);
  return readers && { schema, table, live, readers };
}

/** Undefined if nobody reads it. */
function readersAt(address: Address, { table: { schema, table, live, readers }, column, isGone }: AffectedNode): Impact | undefined {
  const found = readers(column === undefined ? undefined : (own(live?.columns, column)?.nameInDestination ?? column), isGone);
  return found && { address, schema, table, ...(column === undefined ? {} : { column }), ...found };
}

/** Who reads a live table or column, whether it changes or not. */
export function readersOfNode(
  { readers, account, tree, isGone }: NodeReaders,
  { address, liveId }: { readonly address: Address; readonly liveId: string },
  [schema, table, column]: NodePath,
): Impact | undefined {
  if (readers === undefined || table === undefined) return undefined;
  const destinationSchema = labelScopes(account)?.(liveId).destinationSchema;
  const read = readTable({ tree, destinationSchema, readersOf: readers.of }, schema, table);
  return read && readersAt(address, { table: read, column, isGone });
}

interface NodeReaders {
  readonly readers: ColumnReaders | undefined;
  readonly account: AccountView;
  readonly tree: LiveSchemas;
  /** Whether to answer as if it went away, not as if its values changed. */
  readonly isGone: boolean;
}
