import { type Content, folded, type Html, html, table } from "../../../../core/render/html/html.ts";
import { counted } from "../../../../core/text/counts.ts";
import type { Day } from "../../views/status.ts";

const days = 90;
const dayMs = 86_400_000;
// Stretched to the width of the page. Strokes keep their width, and stripes are horizontal, so that
// stretching does not change them. Labels are text of the page, so that they can be read at any size.
const step = 10;
const width = days * step;
const half = 60;

/** The last 90 days: exposed columns as an area, findings opened (up) and closed (down) as bars, and all of it as a table. */
export function timeline(given: readonly Day[], now: Date): Html {
  const all = everyDay(given, now);
  const [first, middle, last] = [0, days / 2, days - 1].map((index) => all[index]?.day);
  const opened = given.reduce((sum, day) => sum + day.opened, 0);
  const closed = given.reduce((sum, day) => sum + day.closed, 0);
  const most = given.reduce((sofar, { exposedColumns }) => Math.max(sofar, exposedColumns), 0);
  const mostEvents = given.reduce((sofar, day) => Math.max(sofar, day.opened, day.closed), 0);
  const unchecked = all.filter(({ isUnchecked }) => isUnchecked).length;
  const checks =
    given.length === 0
      ? "no check"
      : unchecked === 0
        ? `checked every day since ${given[0]?.day}`
        : `${counted(unchecked, "day")} without a check`;
  const summary = `${first} to ${last}: ${counted(opened, "finding")} opened, ${closed} closed; exposed columns at most ${most}, now ${given.at(-1)?.exposedColumns ?? 0}; ${checks}.`;
  return html`<div class="timeline small">
<p class="quiet">Exposed columns${most === 0 && ": none in 90 days"}</p>
${most > 0 && plot(`Exposed columns per day, ${summary}`, exposedSvg(all, most), [String(most), "0"])}
<p class="quiet">Findings opened and closed per day${opened + closed === 0 && ": none in 90 days"}</p>
${mostEvents > 0 && plot(`Findings opened and closed per day, ${summary}`, barsSvg(all, mostEvents), [`+${mostEvents}`, `−${mostEvents}`])}
<div class="days quiet" aria-hidden="true"><span>${first}</span><span>${middle}</span><span>${last}</span></div>
<ul class="legend">
<li>${swatch("exposed", stripes)} exposed columns (striped)</li><li>${swatch("opened")} opened (filled, up)</li><li>${swatch("closed")} closed (outlined, down)</li><li>${swatch("unchecked")} no check that day (dotted line)</li>
</ul>
<p>${summary}</p>
</div>
${dayTable(given)}`;
}

interface PlacedDay {
  readonly day: string;
  readonly found: Day | undefined;
  /** Whether it had no check, and an earlier day had one. */
  readonly isUnchecked: boolean;
}

function everyDay(given: readonly Day[], now: Date): readonly PlacedDay[] {
  const byDay = new Map(given.map((day) => [day.day, day]));
  const first = given[0]?.day;
  return Array.from({ length: days }, (_, index) => {
    const day = new Date(now.getTime() - (days - 1 - index) * dayMs).toISOString().slice(0, 10);
    const found = byDay.get(day);
    return { day, found, isUnchecked: found === undefined && first !== undefined && day > first };
  });
}

function plot(label: string, content: Content, [top, bottom]: readonly [string, string]): Html {
  return html`<div class="plot"><div class="y quiet" aria-hidden="true"><span>${top}</span><span>${bottom}</span></div>
<svg role="img" aria-label=${label} viewBox="0 0 ${width} ${2 * half}" preserveAspectRatio="none">${content}</svg></div>`;
}

const stripes = html`<defs><pattern id="stripes" width="8" height="8" patternUnits="userSpaceOnUse"><path class="stripe" d="M0 2h8"/></pattern></defs>`;

/** A step for each day; days without a check keep the last value, under a dotted line. */
function exposedSvg(all: readonly PlacedDay[], most: number): Html {
  const height = 2 * half;
  let value = 0;
  let line = `M0 ${height}`;
  all.forEach(({ found }, index) => {
    value = found?.exposedColumns ?? value;
    line += `V${round(height - (value / most) * (height - 4))}H${(index + 1) * step}`;
  });
  return html`<path class="area" d="${line}V${height}Z"/><path class="edge" d="${line}"/>${uncheckedLines(all, height)}`;
}

function barsSvg(all: readonly PlacedDay[], most: number): Html {
  const bars = all.map(({ found }, index) => {
    if (found === undefined) return undefined;
    const size = (count: number): number => (count === 0 ? 0 : Math.max(4, round((count / most) * (half - 4))));
    const bar = (name: string, y: number, height: number): Content =>
      height > 0 && html`<rect class=${name} x="${index * step + 1}" y="${y}" width="${step - 2}" height="${height}"/>`;
    return [bar("opened", half - size(found.opened), size(found.opened)), bar("closed", half, size(found.closed))];
  });
  return html`<path class="axis" d="M0 ${half}H${width}"/>${bars}${uncheckedLines(all, half)}`;
}

const uncheckedLines = (all: readonly PlacedDay[], y: number): Content =>
  all.map(({ isUnchecked }, index) => isUnchecked && html`<path class="unchecked" d="M${index * step} ${y}h${step}"/>`);

const round = (value: number): number => Math.round(value * 10) / 10;

const swatch = (name: string, defs?: Html): Html =>
  html`<svg aria-hidden="true" viewBox="0 0 32 12">${defs}${
    name === "unchecked"
      ? html`<path class="unchecked" d="M0 6h32"/>`
      : html`<rect class="${name === "exposed" ? "area edge" : name}" x="1" y="1" width="30" height="10"/>`
  }</svg>`;

function dayTable(given: readonly Day[]): Content {
  const columns = ["day", "checks", "failures", "exposedColumns", "differences", "manual", "opened", "closed", "changesSent"] as const;
  const heads = ["Day (UTC)", "Checks", "Failed", "Exposed columns", "Differences", "Manual", "Opened", "Closed", "Changes sent"];
  const rows = given.toReversed().map((day) => columns.map((column) => day[column]));
  return rows.length > 0 && folded("The timeline as a table", table("Days with a check, newest first", heads, rows, "numbers"), "days");
}
