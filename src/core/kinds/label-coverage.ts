import type { ColumnLabels, LabelledColumn } from "../model/labels.ts";
import type { LiveSchemas, LiveTable } from "../model/live.ts";
import { getOrAdd } from "../model/maps.ts";
import { type Problem, problemAt } from "../model/problem.ts";
import { isStep, type Steps } from "../model/runtime/event-loop.ts";
import { counted } from "../text/counts.ts";
import { andMore } from "../text/lists.ts";
import { nameText } from "../text/paths.ts";
import { type ColumnLabel, columnLabels, enterLabels, indicesIn, type LabelScope } from "./patterns/labels.ts";

// Whether labels have an effect is known only for all integrations together: a column that a file labels, or a pattern,
// may match in any of them. Most of them match in the first tables, so a table whose labels have all been found is skipped.

/** Collects what the labels match. */
export interface LabelCoverage {
  /** Adds the schemas of one integration. `name`: as in addresses. */
  readonly add: (root: LabelScope, live: LiveSchemas, name: string) => Steps<void>;
  /** What matched nothing, and what files disagree about. */
  readonly problems: () => readonly Problem[];
}

interface Collected {
  readonly labels: ColumnLabels;
  /** Positions of the labels that matched nothing so far. */
  readonly pending: Set<number>;
  /** Ids of scopes in which nothing is pending. */
  readonly done: Set<number>;
  readonly disagreements: Map<string, Disagreement>;
}

/** Two descriptions that give the same column different labels. */
interface Disagreement {
  readonly labels: readonly ColumnLabel[];
  /** "public.customers.email of shop-01" */
  readonly columns: Set<string>;
}

export function labelCoverage(labels: ColumnLabels): LabelCoverage {
  const collected: Collected = {
    labels,
    pending: new Set([...labels.columns, ...labels.patterns].keys()),
    done: new Set(),
    disagreements: new Map(),
  };
  return {
    *add(root, live, name) {
      for (const [schema, entry] of Object.entries(live)) {
        const inSchema = enterLabels(root, schema, entry.nameInDestination);
        if (inSchema.possible.size === 0) continue;
        for (const [table, tableEntry] of Object.entries(entry.tables)) {
          const inTable = enterLabels(inSchema, table, tableEntry.nameInDestination);
          if (!collected.done.has(inTable.id))
            yield* addTable(collected, inTable, tableEntry, (column) => textOf([schema, table, column], name));
        }
      }
    },
    problems: () => [
      ...columnProblems(collected),
      ...patternProblems(collected),
      ...[...collected.disagreements.values()].map(disagreementProblem),
    ],
  };
}

const textOf = (path: readonly string[], integration: string): string => `${path.map(nameText).join(".")} of ${integration}`;

function* addTable(
  { pending, done, disagreements }: Collected,
  scope: LabelScope,
  { columns }: LiveTable,
  shown: (column: string) => string,
): Steps<void> {
  const indices = indicesIn(scope);
  // Unknown columns may match.
  if (columns === undefined) for (const index of indices) pending.delete(index);
  let position = 0;
  for (const column in columns) {
    if (isStep(++position)) yield;
    const found = columnLabels(scope, column, columns[column]?.nameInDestination);
    for (const { index } of found) pending.delete(index);
    if (found.length > 1) addDisagreement(disagreements, found, shown(column));
  }
  if (indices.every((index) => !pending.has(index))) done.add(scope.id);
}

function addDisagreement(disagreements: Collected["disagreements"], found: readonly ColumnLabel[], column: string): void {
  const bySource = new Map<string, Set<string>>();
  for (const { label, describedBy } of found) if (describedBy !== undefined) getOrAdd(bySource, describedBy, () => new Set()).add(label);
  const different = new Set([...bySource.values()].map((labels) => [...labels].sort().join("\n")));
  if (different.size < 2) return;
  const labels = found.filter(({ describedBy }) => describedBy !== undefined);
  getOrAdd(disagreements, labels.map(({ index }) => index).join(), () => ({ labels, columns: new Set<string>() })).columns.add(column);
}

/** One problem for each file. */
function columnProblems({ labels, pending }: Collected): readonly Problem[] {
  const byFile = new Map<string, LabelledColumn[]>();
  for (const [index, column] of labels.columns.entries()) {
    const { file, document, pointer } = column.origin.place;
    const key = column.side === "source" ? file : JSON.stringify([file, document, pointer]);
    const ofFile = getOrAdd(byFile, key, () => []);
    if (pending.has(index)) ofFile.push(column);
  }
  return [...byFile.values()].flatMap((columns): readonly Problem[] => {
    const [first] = columns;
    if (first === undefined) return [];
    const names = andMore(
      columns.map(({ schema, table, column, origin }) => `${[schema, table, column].map(nameText).join(".")} (${origin.text})`),
    );
    const where =
      first.side === "source"
        ? "The names are those of the source, in the same case"
        : "dbt describes the destination: the names are compared with those that the columns have there";
    const message = `${counted(columns.length, "labelled column")} ${columns.length === 1 ? "matches" : "match"} no column that this run read: ${names}. ${where}. Correct the names, or remove what no longer exists.`;
    return [problemAt(first.origin.place, { code: "W_LABEL_NO_MATCH", severity: "warning", message })];
  });
}

const patternProblems = ({ labels, pending }: Collected): readonly Problem[] =>
  labels.patterns
    .filter((_, index) => pending.has(labels.columns.length + index))
    .map(({ label, origin }) => ({
      code: "W_LABEL_NO_MATCH",
      severity: "warning",
      message: `The patterns for label ${JSON.stringify(label)} match no column that this run read. Correct or remove them.`,
      place: origin.place,
    }));

function disagreementProblem({ labels, columns }: Disagreement): Problem {
  const said = labels.map(({ label, origin }) => `${JSON.stringify(label)} (${origin.text})`);
  const message = `Two descriptions give different labels to ${andMore([...columns])}: ${said.join(" and ")}. The column has all of these labels. Correct the one that is wrong.`;
  return problemAt(labels[0]?.origin.place, { code: "W_LABELS_DISAGREE", severity: "warning", message });
}
