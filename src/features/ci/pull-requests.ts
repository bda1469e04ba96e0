import type { NewColumn } from "../../core/model/columns.ts";
import type { Plan } from "../../core/model/plan.ts";
import type { AcceptedDrift } from "../../core/operations/accept.ts";
import { code, prose } from "../../core/render/markdown/escape.ts";
import { renderMarkdown } from "../../core/render/markdown/index.ts";
import { traceText } from "../../core/render/report/attribution.ts";
import { summaryLine } from "../../core/render/report/totals.ts";
import { counted } from "../../core/text/counts.ts";
import { andMore, grouped, joinParts, moreOf } from "../../core/text/lists.ts";
import { nameText, pathText, spaced, wholePath } from "../../core/text/paths.ts";
import { forTarget } from "../../core/text/shell.ts";
import { cutMiddle, valueAt } from "../../core/text/values.ts";
import type { FileOwners } from "./code-owners.ts";

interface PullRequestContent extends Omit<AcceptedDrift, "files"> {
  readonly report: Plan;
  readonly owners: readonly FileOwners[];
  readonly footer: string;
}

type Difference = AcceptedDrift["accepted"][number];

const mostTitle = 200;
const mostLeftOut = 50;
// This many differences or more are grouped, as in the report.
const groupedFrom = 30;
const mostGroups = 50;
/** GitHub refuses a body with more than 65,536 characters. */
const reportBudget = 40_000;

export const pullRequestTitle = ({ target }: Plan): string => cutMiddle(`Accept drift of ${target}`, mostTitle);

/** What the pull request changes and leaves out, who owns the files, and the report with the differences by cause. */
export function pullRequestBody({ report, accepted, columns, leftOut, shared, owners, footer }: PullRequestContent): string {
  const did = [
    ...(accepted.length === 0 ? [] : [`- accepts ${counted(accepted.length, "difference")} in the manifests`]),
    ...(columns.length === 0 ? [] : [`- adds ${counted(columns.length, "reviewed column")} to the catalog`]),
  ];
  const blocks = [
    `${prose(summaryLine(report))}.`.replace(/\.\.$/u, "."),
    `Merging this keeps what the account has:\n\n${did.join("\n")}`,
    `To restore what the manifests declare instead, close this and run ${code(forTarget("dimsync drift --resolve revert", report))}.`,
    acceptedSection(accepted),
    columnsSection(columns),
    sharedSection(shared),
    leftOutSection(leftOut),
    ownersSection(owners),
    renderMarkdown(report, { color: false, verbose: false, byRule: accepted.length >= groupedFrom, budget: reportBudget }).trim(),
    footer,
  ];
  return joinParts(blocks, "\n\n");
}

/** Each difference with its values, who made it and when; many are grouped by what they have in common. */
function acceptedSection(accepted: readonly Difference[]): string {
  if (accepted.length === 0) return "";
  const isGrouped = accepted.length >= groupedFrom;
  const shownValue = (path: string, value: Difference["live"]): string => (value === undefined ? "(not set)" : code(valueAt(path, value)));
  const textsOf = (one: Difference) => ({
    change: `${shownValue(one.path, one.desired)} → ${shownValue(one.path, one.live)}`,
    who: prose(traceText(one)),
  });
  const groups = grouped(accepted, (one) =>
    isGrouped ? JSON.stringify([one.address, pathText(one.path).leaf, ...Object.values(textsOf(one))]) : `${one.address} ${one.path}`,
  );
  const lines = groups.slice(0, mostGroups).map((group) => {
    const [first] = group;
    const { node, leaf } = pathText(first.path);
    const nodes = group.map(({ path }) => code(pathText(path).node));
    const what =
      group.length === 1 ? code(spaced(node, leaf)) : `${code(leaf)} of ${counted(group.length, "node")} (${andMore(nodes, "node")})`;
    const { change, who } = textsOf(first);
    return `- ${joinParts([`${code(first.address)} ${what}: ${change}`, who], "; ")}`;
  });
  const more = groups.length > mostGroups ? [`- … ${moreOf(groups.length - mostGroups, "change")}`] : [];
  return `### Accepted in the manifests (${accepted.length})\n\n${[...lines, ...more].join("\n")}`;
}

function columnsSection(columns: readonly NewColumn[]): string {
  if (columns.length === 0) return "";
  const names = columns.map((column) => `- ${code(column.address)} ${code(columnName(column))}`);
  const shown =
    names.length < groupedFrom ? names : [...names.slice(0, groupedFrom - 1), `- … ${moreOf(names.length - groupedFrom + 1, "column")}`];
  return `### Added to the catalog (${columns.length})\n\n${shown.join("\n")}`;
}

/** What merging changes for other targets. */
function sharedSection(shared: PullRequestContent["shared"]): string {
  if (shared.length === 0) return "";
  const lines = shared.flatMap(({ file, targets, values }) => [
    `- ${code(file)} also belongs to ${targets.slice(0, mostLeftOut).map(code).join(", ")}. Merging changes there:`,
    ...values
      .slice(0, mostLeftOut)
      .map(
        ({ address, path, value, isInNew }) =>
          `  - ${code(address)} ${code(wholePath(path))}: ${code(String(value))}${isInNew ? ", in a new SchemaConfig" : ""}`,
      ),
    ...(values.length > mostLeftOut ? [`  - … ${moreOf(values.length - mostLeftOut, "value")}`] : []),
  ]);
  return `### Other targets\n\n${lines.slice(0, 3 * mostLeftOut).join("\n")}`;
}

function leftOutSection(leftOut: PullRequestContent["leftOut"]): string {
  if (leftOut.length === 0) return "";
  const lines = leftOut
    .slice(0, mostLeftOut)
    .map(({ address, path, why }) => `- ${spaced(code(address), path === "" ? "" : code(wholePath(path)))}: ${prose(why)}`);
  const more = leftOut.length > mostLeftOut ? [`- … ${moreOf(leftOut.length - mostLeftOut, "difference")}`] : [];
  return `### Left out (${leftOut.length})\n\n${[...lines, ...more].join("\n")}`;
}

function ownersSection(owners: readonly FileOwners[]): string {
  if (owners.length === 0) return "";
  return `### Owners of the files\n\n${owners.map(({ file, names }) => `- ${code(file)}: ${names.join(" ")}`).join("\n")}`;
}

/** "public.customers.email" of a new column. */
const columnName = ({ schema, table, column }: Pick<NewColumn, "schema" | "table" | "column">): string =>
  [schema, table, column].map(nameText).join(".");
