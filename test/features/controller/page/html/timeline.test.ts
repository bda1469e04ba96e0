import { describe, expect, test } from "vitest";
import { markupOf } from "../../../../../src/core/render/html/html.ts";
import { pageStyle } from "../../../../../src/features/controller/page/html/style.ts";
import { timeline } from "../../../../../src/features/controller/page/html/timeline.ts";
import type { Day } from "../../../../../src/features/controller/views/status.ts";
import { before, timeline as days, now } from "../world.ts";

const day = (daysAgo: number, members: Partial<Day> = {}): Day => ({
  day: before(daysAgo * 86_400_000).slice(0, 10),
  ...{ checks: 1, failures: 0, exposedColumns: 0, differences: 0, manual: 0, opened: 0, closed: 0, changesSent: 0, durationMs: 1 },
  ...members,
});

test("a sentence and the labels of the pictures have the numbers", () => {
  const text = markupOf(timeline(days, now));
  const summary = "2025-12-02 to 2026-03-01: 47 findings opened, 44 closed; exposed columns at most 31, now 3; 5 days without a check.";
  expect(text).toContain(`<p>${summary}</p>`);
  expect([...text.matchAll(/role="img" aria-label="([^"]*)"/gu)].map(([, label]) => label)).toEqual([
    `Exposed columns per day, ${summary}`,
    `Findings opened and closed per day, ${summary}`,
  ]);
});

describe("it can be read without colour", () => {
  const text = markupOf(
    timeline([day(3, { opened: 4, exposedColumns: 4 }), day(1, { closed: 2, exposedColumns: 2 }), day(0, { exposedColumns: 2 })], now),
  );

  test("opened findings are bars up from the middle, closed ones down, half as high if half as many", () => {
    expect(text).toContain('<rect class="opened" x="861" y="4" width="8" height="56"/>');
    expect(text).toContain('<rect class="closed" x="881" y="60" width="8" height="28"/>');
  });

  test("exposed columns are a striped area with an edge; a day without a check keeps the value, under dots", () => {
    expect(text).toContain('<pattern id="stripes"');
    expect(text).toMatch(/<path class="edge" d="[^"]*V4H870V4H880V62H890V62H900"\/>/u);
    expect(text).toContain('<path class="unchecked" d="M870 120h10"/>');
  });

  test("a legend names the patterns", () => {
    const legend = /<ul class="legend">(.*?)<\/ul>/su.exec(text)?.[1]?.replaceAll(/<[^>]*>/gu, "");
    expect(legend).toContain("exposed columns (striped)");
    expect(legend).toContain("opened (filled, up)");
    expect(legend).toContain("closed (outlined, down)");
    expect(legend).toContain("no check that day (dotted line)");
  });
});

test("without findings it says so instead of an empty picture", () => {
  const text = markupOf(timeline([day(1), day(0)], now));
  expect(text).toContain("Exposed columns: none in 90 days");
  expect(text).toContain("Findings opened and closed per day: none in 90 days");
  expect(text).not.toContain('role="img"');
});

test("without a check it says that", () => {
  expect(markupOf(timeline([], now))).toContain("now 0; no check.");
});

test("the style sheet has every variable that it uses, and a size for the marks of the legend", () => {
  const text = markupOf(pageStyle);
  const defined = new Set([...text.matchAll(/[{;\s](--[\w-]+):/gu)].map(([, name]) => name));
  expect([...text.matchAll(/var\((--[\w-]+)\)/gu)].map(([, name]) => name).filter((name) => !defined.has(name))).toEqual([]);
  expect(text).toContain(".legend svg{width:2rem");
});
