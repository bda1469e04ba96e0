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

  test("a name with room is on one line, one without breaks after a dot or underscore, and nothing overflows a tablet", async () => {
    const names = ["customers", "payment_method_details"].flatMap((table) =>
      ["email", "billing_street_address"].map((column) => ({ ...rows[1], schema: "orders", table, column })),
    );
    const page = await tab.openHtml(registerHtml(registerOf(names as typeof rows)));
    // The lines of each name, from the top of its characters.
    const lines = `[...document.querySelectorAll(".register tbody th code")].map((code) => {
      const tops = new Map();
      for (const node of [...code.childNodes].filter(({ nodeType }) => nodeType === 3))
        for (let at = 0; at < node.length; at++) {
          const range = document.createRange();
          range.setStart(node, at);
          range.setEnd(node, at + 1);
          const { top } = range.getBoundingClientRect();
          tops.set(top, (tops.get(top) ?? "") + node.data[at]);
        }
      return [...tops.values()];
    })`;
    for (const width of [1280, 800, 390]) {
      await show(page, { width, height: 900, colorScheme: "light" });
      expect(await pageWidth(page)).toBeLessThanOrEqual(width);
      const [first, ...others] = await page.evaluate<string[][]>(lines);
      if (width !== 800) expect(first).toEqual(["orders.customers.email"]);
      for (const line of others.flatMap((all) => all.slice(0, -1))) expect(line, String(width)).toMatch(/[._]$/u);
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
