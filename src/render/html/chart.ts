import type { HistoryPoint, ReportHistory } from "../document.ts";
import { timeText } from "../report/attribution.ts";
import { folded, type Html, html, table } from "./html.ts";

const lines = [
  { key: "differences", label: "Differences", style: "c1" },
  { key: "exposed", label: "Exposed", style: "c2" },
  { key: "manual", label: "Manual steps", style: "c3" },
] as const;

// The box is stretched to its place. Lines keep their width, and labels are text of the page, so that
// they can be read at any size.
const [width, height] = [1000, 100];
const mostRows = 200;

/** Drift over time as steps, because a report holds until the next one, and as a table. Empty without an earlier report. */
export function chart({ points }: ReportHistory): Html {
  const [first] = points;
  const last = points.at(-1);
  if (first === undefined || last === undefined || points.length < 2) return html``;
  const top = niceTop(Math.max(...points.flatMap((point) => lines.map(({ key }) => point[key]))));
  const x = ({ ms }: HistoryPoint): number => (last.ms === first.ms ? width : round(((ms - first.ms) / (last.ms - first.ms)) * width));
  const y = (value: number): number => round(height - (value / top) * height);
  const drawn = lines.map(({ key, style }) => {
    const path = points.map((point, index) => (index === 0 ? `M${x(point)} ${y(point[key])}` : `H${x(point)}V${y(point[key])}`)).join("");
    const dots = points.length > 60 ? "" : points.map((point) => `M${x(point)} ${y(point[key])}h0`).join("");
    return html`<path class=${style} d=${path}/>${dots !== "" && html`<path class="${style} dots" d=${dots}/>`}`;
  });
  const summary = lines.map(({ key, label }) => `${label.toLowerCase()} from ${first[key]} to ${last[key]}`).join(", ");
  return html`<div class="chart small quiet">
<div class="y" aria-hidden="true"><span>${top}</span><span>0</span></div>
<svg role="img" aria-label="Drift over ${points.length} reports, ${timeText(first.at)} to ${timeText(last.at)}: ${summary}." viewBox="0 0 ${width} ${height}" preserveAspectRatio="none">${drawn}</svg>
<div class="x" aria-hidden="true"><span>${timeText(first.at)}</span><span>${timeText(last.at)}</span></div>
</div>
<ul class="legend small">${lines.map(({ label, style }) => html`<li><svg aria-hidden="true" viewBox="0 0 32 12"><path class=${style} d="M0 6h32"/></svg>${label}</li>`)}</ul>
${folded("The chart as a table", chartTable(points))}`;
}

function chartTable(points: readonly HistoryPoint[]): Html {
  const isCut = points.length > mostRows;
  const caption = `${isCut ? `The newest ${mostRows} of ${points.length} reports` : "Every report"}, newest first`;
  const rows = [...points].reverse().slice(0, mostRows);
  return table(
    caption,
    ["Report", ...lines.map(({ label }) => label)],
    rows.map((point) => [timeText(point.at), ...lines.map(({ key }) => point[key])]),
  );
}

const round = (value: number): number => Math.round(value * 10) / 10;

/** The smallest of 5, 10, 20, 50, 100, … that is not smaller than the value. */
function niceTop(value: number): number {
  let top = 5;
  for (let factor = 0; top < value; factor++) top *= factor % 3 === 2 ? 2.5 : 2;
  return Math.round(top);
}
