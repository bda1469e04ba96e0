import { labelledNodes, parseManifest } from "../labels/dbt.ts";
import { type NamedManifest, textNow } from "../labels/sources.ts";
import type { Problem, SourceLocation } from "../model/problem.ts";
import { andMore } from "../text/lists.ts";
import { type LazyLineage, type Lineage, lineageOf, type ReadersOf, readersIn } from "./lineage.ts";

/** Who reads the columns in the destination, according to dbt. */
export interface ColumnReaders {
  /** Reads a manifest when it is asked for a table that one of its sources describes. */
  readonly of: ReadersOf;
  /** Why readers may be missing in what `of` has returned so far. */
  readonly problems: () => readonly Problem[];
  /** What dbt marks in models, as an entry of a Classification marks sources; it has no effect. Reads the manifests. */
  readonly withoutEffect: () => readonly MarkedNodes[];
}

/** The models, or their columns, that one entry of a Classification would label if they were sources. */
interface MarkedNodes {
  readonly file: string;
  readonly place: SourceLocation | undefined;
  /** "stg_customers.email (models/stg_customers.sql)" */
  readonly names: readonly string[];
}

/** Undefined if there is no manifest. One that is named several times is read once, for the sources of all its entries. */
export function columnReaders(named: readonly NamedManifest[]): ColumnReaders | undefined {
  if (named.length === 0) return undefined;
  const problems: Problem[] = [];
  const paths = [...new Set(named.map(({ path }) => path))];
  const of = readersIn(
    paths.map((path) =>
      lazily(
        named.filter((one) => one.path === path),
        problems,
      ),
    ),
  );
  const withoutEffect = (): readonly MarkedNodes[] => named.flatMap(markedNodes).filter(({ names }) => names.length > 0);
  return { of, problems: () => problems, withoutEffect };
}

function markedNodes({ path, file, place, wanted }: NamedManifest): readonly MarkedNodes[] {
  const parsed = wanted === undefined ? undefined : manifestAt(path);
  if (wanted === undefined || parsed === undefined || "refusal" in parsed) return [];
  return [{ file, place, names: labelledNodes(parsed.manifest, wanted) }];
}

function manifestAt(path: string): ReturnType<typeof parseManifest> {
  const read = textNow(path);
  return "refusal" in read ? read : parseManifest(read.text);
}

/** One manifest. Why it cannot be read, or what is wrong with it, is added to `problems`. */
function lazily(entries: readonly NamedManifest[], problems: Problem[]): LazyLineage {
  let made: { readonly lineage: Lineage | undefined } | undefined;
  const isKnown = entries.every(({ tables }) => tables !== undefined);
  return {
    tables: isKnown ? new Set(entries.flatMap(({ tables }) => [...(tables ?? [])])) : undefined,
    lineage() {
      made ??= { lineage: readLineage(entries, problems) };
      return made.lineage;
    },
  };
}

function readLineage(entries: readonly NamedManifest[], problems: Problem[]): Lineage | undefined {
  const [{ path = "", file = "", place } = {}] = entries;
  const report = (what: string): void => {
    problems.push({
      code: "W_DBT_LINEAGE",
      severity: "warning",
      message: `${file} ${what} Run this in the dbt project:`,
      ...(place === undefined ? {} : { place }),
      command: "dbt parse",
    });
  };
  const parsed = manifestAt(path);
  if ("refusal" in parsed) {
    report(`${parsed.refusal}, so dimsync cannot say who reads a column.`);
    return undefined;
  }
  const lineage = lineageOf(
    parsed.manifest,
    entries.map(({ wanted }) => wanted?.database),
  );
  if (lineage.cycle.length > 0)
    report(
      `has nodes that depend on each other in a cycle: ${andMore(lineage.cycle, "node")}. dbt does not write such a manifest. Readers of columns that these nodes read may be missing.`,
    );
  return lineage;
}
