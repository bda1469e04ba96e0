import { canonicalJson } from "../../base/model/json/json.ts";
import type { Pointer } from "../../base/model/json/pointer.ts";
import { getOrAdd } from "../../base/model/maps.ts";
import { nodePointer } from "../../base/model/nodes.ts";
import type { SourceLocation } from "../../base/model/problem.ts";
import { visible } from "../../base/text/control-characters.ts";
import { counted } from "../../base/text/counts.ts";
import { andMore, joinParts } from "../../base/text/lists.ts";
import { nodeText } from "../../base/text/paths.ts";
import type { ColumnLabel, Question } from "../../kinds/index.ts";
import { labelReferences, labelsOf, labelsOfColumn, scan, wantedLabels, whereLabelsAre } from "../../kinds/index.ts";
import type { ReviewedTree } from "./columns.ts";
import type { Draft, Review } from "./entry.ts";

// The labels that columns lose, and what they lose with them: one entry for each label.

/** Whether a Classification, or a file that one names, labels columns in another way. */
const areLabelsChanged = ({ base, head }: Pick<Review, "base" | "head">): boolean => {
  const textOf = (labels: typeof head.columnLabels): string =>
    labels === undefined
      ? ""
      : canonicalJson([
          labels.patterns.map(({ label, match }) => [label, match]),
          labels.columns.map(({ origin: _, describedBy: __, ...column }) => column),
        ]);
  return textOf(base.columnLabels) !== textOf(head.columnLabels);
};

/** What columns lose with their label: what does not check or protect "them" any more. */
export interface Loss {
  readonly by: string;
  readonly text: (them: string) => string;
  readonly columns: number;
}

/** The labels that columns of a tree lost, by the pointer of the column. */
export type LostLabels = ReadonlyMap<Pointer, ReadonlySet<string>>;

/** The columns that lost a label. */
interface LostLabel {
  /** Of the first. */
  readonly place: SourceLocation;
  columns: number;
  readonly names: Set<string>;
  readonly sources: Set<string>;
  readonly losses: Map<string, Loss>;
}

const mostNames = 3;

export type LabelTallies = ReturnType<typeof labelTallies>;

/** Collects the columns that lose a label which a rule or policy uses, and what they lose with it. */
export function labelTallies({ base, head }: Pick<Review, "base" | "head">) {
  const areChanged = areLabelsChanged({ base, head });
  const users = new Map<string, Set<string>>();
  for (const { manifest, label } of labelReferences([...base.manifests, ...head.manifests]))
    for (const name of wantedLabels(label) ?? []) getOrAdd(users, name, () => new Set<string>()).add(manifest.address);
  const found = new Map<string, LostLabel>();
  const loseLabel = ({ label, origin }: ColumnLabel, column: string): void => {
    const lost = getOrAdd(found, label, () => ({
      place: origin.place,
      columns: 0,
      names: new Set(),
      sources: new Set(),
      losses: new Map(),
    }));
    lost.columns++;
    lost.sources.add(origin.text);
    if (lost.names.size < mostNames) lost.names.add(column);
  };
  return {
    areChanged,
    isNeeded: users.size > 0 && base.columnLabels !== undefined && areChanged,
    add({ live, labels: { before, now } }: ReviewedTree): LostLabels {
      const lost = new Map<Pointer, ReadonlySet<string>>();
      if (before === undefined) return lost;
      const question: Question = {
        ...whereLabelsAre,
        column(column) {
          const used = labelsOfColumn(column).filter(({ label }) => users.has(label));
          if (used.length === 0) return;
          const still = new Set((now === undefined ? [] : labelsOf(now, live, column.path)).map(({ label }) => label));
          const gone = new Map(used.flatMap((one) => (still.has(one.label) ? [] : [[one.label, one]])));
          for (const one of gone.values()) loseLabel(one, nodeText(column.path));
          if (gone.size > 0) lost.set(nodePointer(column.path), new Set(gone.keys()));
        },
      };
      scan(live, [question], { labels: before });
      return lost;
    },
    /** Columns whose label is lost lose this with it. */
    loses(label: string, loss: Loss): void {
      const losses = found.get(label)?.losses;
      const key = loss.by + loss.text("");
      losses?.set(key, { ...loss, columns: loss.columns + (losses.get(key)?.columns ?? 0) });
    },
    /** The labels that columns of today lost. */
    lost: (label: string): boolean => found.has(label),
    drafts: (): readonly Draft[] =>
      [...found].map(([label, lost]) => ({
        code: "label-lost",
        subject: `label ${visible(label)}`,
        message: lostText(lost, [...(users.get(label) ?? [])].sort()),
        at: "base",
        place: lost.place,
        columns: lost.columns,
      })),
  };
}

function lostText({ columns, names, sources, losses }: LostLabel, users: readonly string[]): string {
  const them = (count: number): string => (count < columns ? `${count} of them` : columns === 1 ? "it" : "them");
  const lost = [...losses.values()].map((loss) => `${loss.by} ${loss.text(them(loss.columns))}.`);
  const used = `${andMore(users, "manifest")} use${users.length === 1 ? "s" : ""} it.`;
  const [columnNames, sourceNames] = [
    andMore([...names], "column", { shown: mostNames, total: columns }),
    andMore([...sources].map(visible), "source", { shown: 1 }),
  ];
  return joinParts(
    [`${counted(columns, "column")} lost it: ${columnNames} (${sourceNames}).`, ...(lost.length === 0 ? [used] : lost)],
    " ",
  );
}
