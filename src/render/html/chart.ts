import type { HistoryPoint, ReportHistory } from "../document.ts";
import { timeText } from "../report/attribution.ts";
import { escaped } from "./escape.ts";

const lines = [
  { key: "differences", label: "Differences", style: "c1" },
  { key: "exposed", label: "Exposed", style: "c2" },
  { key: "manual", label: "To do by hand", style: "c3" },
] as const;

// Drawn in a box of 1000 × 100 that is stretched to its place: lines keep their width, and the labels are text of the page, legible at any size.
const [width, height] = [1000, 100];
const mostRows = 200;

/** Drift over time as steps, since what a report found holds until the next one; below it the same as a table. "" without a report before. */
export function chart({ points }: ReportHistory): string {
  const [first] = points;
  const last = points.at(-1);
  if (first === undefined || last === undefined || points.length < 2) return "";
  const top = niceTop(Math.max(...points.flatMap((point) => lines.map(({ key }) => point[key]))));
  const x = ({ ms }: HistoryPoint): number => (last.ms === first.ms ? width : round(((ms - first.ms) / (last.ms - first.ms)) * width));
  const y = (value: number): number => round(height - (value / top) * height);
  const drawn = lines.map(({ key, style }) => {
    const path = points.map((point, index) => (index === 0 ? `M${x(point)} ${y(point[key])}` : `H${x(point)}V${y(point[key])}`)).join("");
    const dots = points.length > 60 ? "" : points.map((point) => `M${x(point)} ${y(point[key])}h0`).join("");
    return `<path class="${style}" d="${path}"/>${dots === "" ? "" : `<path class="${style} dots" d="${dots}"/>`}`;
  });
  const told = lines.map(({ key, label }) => `${label.toLowerCase()} from ${first[key]} to ${last[key]}`).join(", ");
  return `<div class="chart small quiet">
<div class="y" aria-hidden="true"><span>${top}</span><span>0</span></div>
<svg role="img" aria-label="${escaped(`Drift over ${points.length} reports, ${timeText(first.at)} to ${timeText(last.at)}: ${told}.`)}" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none">${drawn.join("")}</svg>
<div class="x" aria-hidden="true"><span>${escaped(timeText(first.at))}</span><span>${escaped(timeText(last.at))}</span></div>
</div>
<ul class="legend small">${lines.map(({ label, style }) => `<li><svg aria-hidden="true" viewBox="0 0 32 12"><path class="${style}" d="M0 6h32"/></svg>${label}</li>`).join("")}</ul>
<details><summary>The chart as a table</summary>
<table class="t-chart"><caption>${points.length > mostRows ? `The newest ${mostRows} of ${points.length} reports` : "Every report"}, newest first</caption>
<thead><tr><th scope="col">Report</th>${lines.map(({ label }) => `<th scope="col">${label}</th>`).join("")}</tr></thead>
<tbody>
${[...points]
  .reverse()
  .slice(0, mostRows)
  .map(
    (point) => `<tr><th scope="row">${escaped(timeText(point.at))}</th>${lines.map(({ key }) => `<td>${point[key]}</td>`).join("")}</tr>`,
  )
  .join("\n")}
</tbody></table></details>`;
}

const round = (value: number): number => Math.round(value * 10) / 10;

/** The next of 5, 10, 20, 50, 100, … that isn't smaller. */
function niceTop(value: number): number {
  let top = 5;
  for (let factor = 0; top < value; factor++) top *= factor % 3 === 2 ? 2.5 : 2;
  return Math.round(top);
}
