import type { ColumnReview, ReviewedIntegration, ReviewedUnit, TableColumns } from "../../base/model/columns.ts";
import { toPointer } from "../../base/model/json/pointer.ts";
import type { LiveColumn, LiveSchemas } from "../../base/model/live.ts";
import { getOrAdd } from "../../base/model/maps.ts";
import type { NamedObject } from "../../base/model/plan.ts";
import type { Problem } from "../../base/model/problem.ts";
import { nameText } from "../../base/text/paths.ts";
import { type ReviewedById, reviewedIn, type Tables } from "./blocks.ts";
import type { Catalog } from "./file.ts";

interface ReviewOptions {
  readonly catalog: Catalog;
  /** The catalog file as shown. */
  readonly file: string;
}

/** A live integration with its columns. */
interface Compared extends ReviewedIntegration {
  readonly tables: Tables;
}

/** A review that also keeps what it has compared. */
interface KeepingReview extends ColumnReview {
  readonly reviewed: ReviewedById;
  /**
   * The columns of the compared integrations as they are. Tables whose columns are not known keep the columns that they are
   * compared with.
   */
  readonly compared: () => ReadonlyMap<string, Compared>;
  /** The integrations of the account; undefined if their list was not read, or may be incomplete. */
  readonly account: () => readonly NamedObject[] | undefined;
}

const none: Tables = new Map();

/**
 * Compares columns with the catalog file. Nearly all tables of a fleet have a known shape, so comparing one costs one look-up
 * for each column.
 */
export function newReview({ catalog, file }: ReviewOptions): KeepingReview {
  const reviewed = reviewedIn(catalog);
  const kept = new Map<string, Compared>();
  const intern = newIntern();
  let account: readonly NamedObject[] | undefined;
  return {
    reviewed,
    compare(integration, live) {
      const { id } = integration;
      const known = reviewed.get(id)?.tables;
      const { tables, ...difference } = compareTables(known ?? none, live, intern);
      kept.set(id, { ...integration, tables });
      return { isReviewed: known !== undefined, ...(known === undefined ? { added: [], gone: [] } : difference) };
    },
    problems(live) {
      account = live;
      return unknownIds(catalog, file, live);
    },
    compared: () => kept,
    account: () => account,
  };
}

/** Ids that the account does not have, each once: a typo, or an integration that was deleted. */
function unknownIds(catalog: Catalog, file: string, live: readonly NamedObject[]): readonly Problem[] {
  const known = new Set(live.map(({ id }) => id));
  return catalog.flatMap(({ integrations }, index) =>
    [...integrations].flatMap(([id, name]): readonly Problem[] => {
      if (known.has(id)) return [];
      known.add(id);
      return [
        {
          code: "W_CATALOG_UNKNOWN_ID",
          severity: "warning",
          message: `The account has no integration with the id ${nameText(id)} (${nameText(name)}), so its entry has no effect. Correct the id; if the integration was deleted, remove the entry.`,
          command: "dimsync catalog accept --all",
          place: { file, document: 0, pointer: `/reviewed/${index}/integrations${toPointer([id])}`, on: "key" },
        },
      ];
    }),
  );
}

type Columns = ReadonlySet<string>;

/** Returns one value for equal sets, because most integrations of a fleet are equal. */
type Intern = (columns: Readonly<Record<string, LiveColumn>>) => Columns;

function newIntern(): Intern {
  const known = new Map<string, Columns>();
  return (columns) => {
    const names = Object.keys(columns);
    return getOrAdd(known, JSON.stringify(names), () => new Set(names));
  };
}

function compareTables(known: Tables, live: LiveSchemas, intern: Intern): Omit<ReviewedUnit, "isReviewed"> & { readonly tables: Tables } {
  const added: TableColumns[] = [];
  const gone: TableColumns[] = [];
  const found = new Map<string, ReadonlyMap<string, Columns>>();
  for (const schema of Object.keys(live)) {
    const { tables = {} } = live[schema] ?? {};
    const knownTables = known.get(schema);
    const ofSchema = new Map<string, Columns>();
    found.set(schema, ofSchema);
    for (const table of Object.keys(tables)) {
      const columns = tables[table]?.columns;
      const before = knownTables?.get(table);
      if (columns === undefined || (before !== undefined && hasExactly(columns, before))) {
        if (before !== undefined) ofSchema.set(table, before);
        continue;
      }
      ofSchema.set(table, intern(columns));
      append(added, { schema, table, columns: Object.keys(columns).filter((name) => before?.has(name) !== true) });
      append(gone, { schema, table, columns: [...(before ?? [])].filter((name) => !Object.hasOwn(columns, name)) });
    }
  }
  for (const [schema, tables] of known)
    for (const [table, columns] of tables)
      if (found.get(schema)?.has(table) !== true) append(gone, { schema, table, columns: [...columns], isTableGone: true });
  return { added, gone, tables: found };
}

function append(list: TableColumns[], one: TableColumns): void {
  if (one.columns.length > 0) list.push(one);
}

function hasExactly(columns: Readonly<Record<string, LiveColumn>>, known: Columns): boolean {
  let count = 0;
  // Responses are plain JSON and inherit nothing that could be listed here; this form of loop is the fastest.
  for (const name in columns) {
    if (!known.has(name)) return false;
    count++;
  }
  return count === known.size;
}
