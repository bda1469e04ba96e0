import { describe, expect, test } from "vitest";
import { registerDiffHtml, registerHtml } from "../../../../src/features/register/render/html.ts";
import { axeViolations, pageWidth, show, tabOfSuite, views } from "../../../support/chromium.ts";
import { needs } from "../../../support/programs.ts";
import { diff, registerOf, rows } from "./registers.ts";

/** A register with so many copies of the rows. */
const large = (copies: number): string => {
  const all = Array.from({ length: copies }, (_, index) => rows.map((row) => ({ ...row, table: `${row.table}_${index}` }))).flat();
  return registerHtml(registerOf(all.toSorted((a, b) => (a.integration < b.integration ? -1 : a.integration > b.integration ? 1 : 0))));
};
const pages = {
  "a register": large(10),
  "an empty register": registerHtml(registerOf([])),
  "a diff": registerDiffHtml(diff),
};

test("a register and a diff of more than 20,000 rows say how many are left out", () => {
  const [row] = rows;
  const [change] = diff.changes;
  if (row === undefined || change === undefined) throw new Error("There are no rows.");
  const html = registerHtml(registerOf(Array.from({ length: 20_001 }, () => row)));
  expect(html).toContain("Left out here: 1 column. <code>dimsync register -o csv</code> lists all of them.");
  const changes = Array.from({ length: 20_002 }, () => change);
  expect(registerDiffHtml({ ...diff, changes })).toContain("Left out here: 2 changes.");
});

describe("in Chromium", needs("chromium"), () => {
  const tab = tabOfSuite();

  test.each(Object.entries(pages))("%s: axe-core finds nothing, and nothing overflows the page", async (_, html) => {
    const page = await tab.openHtml(html);
    for (const [name, view] of Object.entries(views)) {
      await show(page, view);
      expect(await axeViolations(page), name).toEqual([]);
      expect(await pageWidth(page), name).toBeLessThanOrEqual(view.width);
    }
  });

  test("is printed on A4, in landscape, with its heads on every page and no row cut off", async () => {
    const page = await tab.openHtml(large(60));
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    // 297 mm without margins of 12 mm, at 96 pixels per inch.
    await page.setViewportSize({ width: 1032, height: 700 });
    expect(await pageWidth(page)).toBeLessThanOrEqual(1032);
    expect(await page.evaluate("getComputedStyle(document.querySelector('thead')).display")).toBe("table-header-group");
    expect(await page.evaluate("getComputedStyle(document.querySelector('tbody tr')).breakInside")).toBe("avoid");
    const pdf = (await page.pdf({ preferCSSPageSize: true })).toString("latin1");
    expect([...pdf.matchAll(/\/MediaBox\s*\[0 0 (8\d\d(?:\.\d+)?) (59\d(?:\.\d+)?)\]/gu)].length).toBeGreaterThan(2);
  });
});
