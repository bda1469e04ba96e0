import { visible } from "../../text/control-characters.ts";
import { counted } from "../../text/counts.ts";
import type { RenderOptions } from "../document.ts";
import { grouped } from "../report/changes/grouped.ts";
import { cell, joined, type Row, type Screen, screenOf, tableLines, wrap } from "./layout.ts";

/** What `dimsync compare` found. */
export interface ShownComparison {
  readonly from: string;
  readonly to: string;
  readonly differences: readonly ShownDifference[];
}

interface ShownDifference {
  /** "Integration orders" */
  readonly object: string;
  /** "" for an object that only one side has; `from` or `to` is then its id. */
  readonly path: string;
  readonly from?: unknown;
  readonly to?: unknown;
}

/** Differences per object that are shown without --verbose. */
const shownPerObject = 20;

export function comparisonText({ from, to, differences }: ShownComparison, options: RenderOptions): string {
  const screen = screenOf(options);
  const { paint, width } = screen;
  if (differences.length === 0) return `${wrap(`No differences between ${visible(from)} and ${visible(to)}.`, "", width).join("\n")}\n`;
  const objects = grouped(differences, ({ object }) => object);
  const sides = [
    [cell("from", paint.dim), cell(visible(from))],
    [cell("to", paint.dim), cell(visible(to))],
  ];
  const summary = `${counted(differences.length, "difference")} in ${counted(objects.length, "object")}.`;
  return `${[
    ...tableLines(sides, "", width),
    "",
    ...tableLines(
      objects.flatMap((found) => objectRows(found, { from, to }, screen)),
      "  ",
      width,
    ),
    "",
    summary,
  ].join("\n")}\n`;
}

function objectRows(
  found: readonly [ShownDifference, ...ShownDifference[]],
  sides: Pick<ShownComparison, "from" | "to">,
  { paint, verbose }: Screen,
): readonly Row[] {
  const shown = verbose ? found : found.slice(0, shownPerObject);
  const left = found.length - shown.length;
  return [
    paint.bold(visible(found[0].object)),
    ...shown.map(({ path, from, to }) =>
      path === ""
        ? [cell(`only in ${visible(from === undefined ? sides.to : sides.from)}`), cell(`id ${visible(JSON.stringify(from ?? to))}`)]
        : [cell(visible(path.slice(1)), paint.cyan), joined(cell(valueText(from)), cell(" → ", paint.dim), cell(valueText(to)))],
    ),
    ...(left > 0 ? [`  and ${left} more; --verbose shows all`] : []),
  ];
}

const valueText = (value: unknown): string => (value === undefined ? "(none)" : visible(JSON.stringify(value)));
