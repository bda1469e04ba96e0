import type { ColumnLabels, LabelledColumn } from "../../base/model/columns.ts";
import { getOrAdd } from "../../base/model/maps.ts";
import { type Problem, problemAt } from "../../base/model/problem.ts";
import { counted } from "../../base/text/counts.ts";
import { andMore } from "../../base/text/lists.ts";
import { nameText } from "../../base/text/paths.ts";
import {
  type ColumnLabel,
  columnLabels,
  enterLabels,
  indicesIn,
  type LabelScope,
  labelScopes,
  nameInAddresses,
  type Question,
} from "../../kinds/index.ts";
import { everything } from "../scope.ts";
import type { Check, CheckInput } from "./check.ts";

// Whether labels have an effect is known only for all integrations together: a column that a file labels, or a pattern,
// may match in any of them. Most of them match in the first tables, so a table whose labels have all been found is skipped.

/** Whether the labels of the project match something. Asks nothing without a Classification, and in a run that reads only a part of the account. */
export function checkLabels({ run: { project, scope }, account }: CheckInput): Check {
  const scopes = labelScopes(account);
  if (project.columnLabels === undefined || scopes === undefined || scope !== everything) return {};
  const { ask, problems } = labelCoverage(project.columnLabels);
  let trees = 0;
  return {
    tree({ id, tree }) {
      if (tree === undefined) return undefined;
      trees++;
      return { questions: [ask(scopes(id), nameInAddresses(id, account))] };
    },
    end: ({ complete }) => ({ problems: complete && trees > 0 ? problems() : [] }),
  };
}

interface Collected {
  readonly labels: ColumnLabels;
  /** Positions of the labels that matched nothing so far. */
  readonly pending: Set<number>;
  /** Ids of the scopes whose columns were visited. */
  readonly visited: Set<number>;
  /** Those of them in which nothing is pending. */
  readonly done: Set<number>;
  readonly disagreements: Map<string, Disagreement>;
}

/** Two descriptions that give the same column different labels. */
interface Disagreement {
  readonly labels: readonly ColumnLabel[];
  /** "public.customers.email of shop-01" */
  readonly columns: Set<string>;
}

/** Collects what the labels match. */
export function labelCoverage(labels: ColumnLabels) {
  const collected: Collected = {
    labels,
    pending: new Set([...labels.columns, ...labels.patterns].keys()),
    visited: new Set(),
    done: new Set(),
    disagreements: new Map(),
  };
  return {
    /** About one integration. `name`: as in addresses. */
    ask: (root: LabelScope, name: string): Question => questionOf(collected, root, name),
    /** What matched nothing, and what files disagree about. */
    problems: (): readonly Problem[] => [
      ...columnProblems(collected),
      ...patternProblems(collected),
      ...[...collected.disagreements.values()].map(disagreementProblem),
    ],
  };
}

function questionOf({ pending, visited, done, disagreements }: Collected, root: LabelScope, name: string): Question {
  let inSchema = root;
  let inTable = root;
  return {
    schema({ path, live }) {
      inSchema = enterLabels(root, path[0], live.nameInDestination);
      return inSchema.possible.size > 0;
    },
    table({ path, live }) {
      inTable = enterLabels(inSchema, path[1], live.nameInDestination);
      if (done.has(inTable.id)) return false;
      // Unknown columns may match.
      if (live.columns === undefined) for (const index of indicesIn(inTable)) pending.delete(index);
      const isFirst = !visited.has(inTable.id);
      visited.add(inTable.id);
      if (!isFirst && indicesIn(inTable).every((index) => !pending.has(index))) done.add(inTable.id);
      return !done.has(inTable.id);
    },
    column({ path, live }) {
      const found = columnLabels(inTable, path[2], live.nameInDestination);
      for (const { index } of found) pending.delete(index);
      if (found.length > 1) addDisagreement(disagreements, found, textOf(path, name));
    },
  };
}

const textOf = (path: readonly string[], integration: string): string => `${path.map(nameText).join(".")} of ${integration}`;

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
      columns.map(
        ({ schema, table, column, origin }) =>
          `${[schema, table, ...(column === undefined ? [] : [column])].map(nameText).join(".")} (${origin.text})`,
      ),
      "column",
    );
    const where =
      first.side === "source"
        ? "The names are those of the source, in the same case"
        : "dbt describes the destination: the names are compared with those that the columns have there";
    const message = `${counted(columns.length, "labelled column")} ${columns.length === 1 ? "matches" : "match"} no column that this run read: ${names}. ${where}. Correct the names, or remove what no longer exists.`;
    return [problemAt(first.origin.place, { code: "W_NO_MATCH", severity: "warning", message })];
  });
}

const patternProblems = ({ labels, pending }: Collected): readonly Problem[] =>
  labels.patterns
    .filter((_, index) => pending.has(labels.columns.length + index))
    .map(({ label, origin }) => ({
      code: "W_NO_MATCH",
      severity: "warning",
      message: `The patterns for label ${JSON.stringify(label)} match no column that this run read. Correct or remove them.`,
      place: origin.place,
    }));

function disagreementProblem({ labels, columns }: Disagreement): Problem {
  const said = labels.map(({ label, origin }) => `${JSON.stringify(label)} (${origin.text})`);
  const message = `Two descriptions give different labels to ${andMore([...columns], "column")}: ${said.join(" and ")}. The column has all of these labels. Correct the one that is wrong.`;
  return problemAt(labels[0]?.origin.place, { code: "W_LABELS_DISAGREE", severity: "warning", message });
}
