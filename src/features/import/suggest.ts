import type { LabelScope } from "../../core/kinds/patterns/labels.ts";
import { labelsOfColumn, type Question, scan } from "../../core/kinds/schemas.ts";
import type { LiveSchemas } from "../../core/model/live.ts";
import { atOnce } from "../../core/model/runtime/event-loop.ts";
import { visible } from "../../core/text/control-characters.ts";
import { counted } from "../../core/text/counts.ts";
import { andMore } from "../../core/text/lists.ts";
import { nodeText } from "../../core/text/paths.ts";
import { personalTopics } from "./personal-names.ts";
import { escapeGlob } from "./schemas/escape-glob.ts";

/** Columns without a label whose names look personal. What `import --suggest -o json` prints. */
export interface Suggestion {
  readonly kind: "Suggestion";
  readonly target: string;
  readonly labels: readonly SuggestedLabel[];
}

interface SuggestedLabel {
  /** What columns of such names usually contain. */
  readonly about: string;
  /** The names of the columns, as patterns. */
  readonly column: readonly string[];
  readonly columns: number;
  /** The first ones: "public.customers.email of orders". */
  readonly examples: readonly string[];
}

/** Collects columns, one integration at a time. */
interface Suggester {
  readonly add: (integration: string, tree: LiveSchemas, labels: LabelScope | undefined) => void;
  readonly suggestion: (target: string) => Suggestion;
}

const mostExamples = 5;

interface Found {
  readonly names: Set<string>;
  readonly examples: string[];
  columns: number;
}

export function newSuggester(): Suggester {
  const all = new Map<string, Found>();
  return {
    add(integration, tree, labels) {
      for (const [name, path] of unlabelled(tree, labels))
        for (const about of personalTopics(name)) addColumn(all, about, { name, shown: `${path} of ${integration}` });
    },
    suggestion: (target) => ({
      kind: "Suggestion",
      target,
      labels: [...all]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([about, { names, columns, examples }]) => ({
          about,
          columns,
          examples,
          column: [...names].sort().flatMap((name) => escapeGlob(name) ?? []),
        })),
    }),
  };
}

function addColumn(all: Map<string, Found>, about: string, { name, shown }: { readonly name: string; readonly shown: string }): void {
  const found = all.get(about) ?? { names: new Set(), examples: [], columns: 0 };
  all.set(about, found);
  found.columns++;
  found.names.add(name);
  if (found.examples.length < mostExamples) found.examples.push(shown);
}

/** Names and paths of the columns that no Classification labels. */
function unlabelled(tree: LiveSchemas, labels: LabelScope | undefined): readonly (readonly [name: string, path: string])[] {
  const found: (readonly [string, string])[] = [];
  const question: Question = {
    column(column) {
      const [, , name] = column.path;
      if (labelsOfColumn(column).length === 0) found.push([name, nodeText(column.path)]);
    },
  };
  atOnce(scan(tree, [question], { labels, order: "by-name" }));
  return found;
}

/** The suggestion as a manifest in which every line is a comment, so that it has no effect until someone confirms it. */
export function suggestionYaml({ labels }: Suggestion): string {
  const total = labels.reduce((sum, { columns }) => sum + columns, 0);
  if (total === 0) return "# No column without a label has a name that looks personal.\n";
  const lines = [
    `${counted(total, "column")} without a label ${total === 1 ? "has a name that looks" : "have names that look"} personal. Nothing in this file has an effect.`,
    "Check each label, delete what is wrong, and remove the first `# ` of the lines from apiVersion on. Names prove nothing:",
    "columns with other names can be personal too.",
    "",
    "apiVersion: dimsync/v1",
    "kind: Classification",
    "metadata: { name: personal }",
    "spec:",
    "  labels:",
    ...labels.flatMap(({ about, column, columns, examples }) => [
      `    # ${about}: ${andMore(examples.map(visible), { shown: mostExamples, total: columns })}`,
      `    - { label: pii, match: { column: [${column.map((one) => JSON.stringify(one)).join(", ")}] } }`,
    ]),
  ];
  return `${lines.map((line) => `# ${line}`.trimEnd()).join("\n")}\n`;
}
