// The page works in a browser, with a keyboard and without scripts.
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { renderHtmlAll } from "../../../../src/core/render/html/index.ts";
import { type Document, renderers } from "../../../../src/core/render/index.ts";
import { axeViolations, pageWidth, show, tabOfSuite, views } from "../../../support/chromium.ts";
import { needs } from "../../../support/programs.ts";
import { invalid } from "../diagnostics.ts";
import { fullPlan, planOfColumns } from "../full-plan.ts";
import { largeReport, tracedReport } from "../html-report.ts";
import { plan } from "../plans.ts";
import { fullResult } from "../results.ts";

const documents: Readonly<Record<string, Document>> = {
  "a drift report with everything": tracedReport,
  "a report without drift": plan({ kind: "DriftReport" }),
  "a plan with everything": fullPlan,
  "a result": fullResult,
  "a validation": invalid,
  "a plan that is grouped by rule": planOfColumns(60),
};
describe("in Chromium", needs("chromium"), () => {
  const tab = tabOfSuite();
  const open = (document: Document): Promise<Page> => tab.openHtml(renderers.html(document, { color: false, verbose: false }));

  test.each(Object.entries(documents))("%s: axe-core finds nothing, and nothing overflows the page", async (_, document) => {
    const page = await open(document);
    await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true");
    for (const view of [views["phone, light"], views["desktop, dark"]]) {
      await show(page, view);
      expect(await axeViolations(page)).toEqual([]);
      expect(await pageWidth(page)).toBeLessThanOrEqual(view.width);
    }
    expect(tab.requested).toHaveLength(1);
    expect(tab.said).toEqual([]);
  });

  test("a page of several targets begins with a table of them, and axe-core finds nothing", async () => {
    const targets = [tracedReport, { ...largeReport(3, 20), target: "staging" }, plan({ kind: "DriftReport", target: "eu" })];
    const page = await tab.openHtml(renderHtmlAll(targets, { color: false, verbose: false }));
    await show(page, views["phone, light"]);
    expect(await page.locator("table.targets tbody tr").count()).toBe(3);
    expect(await pageWidth(page)).toBeLessThanOrEqual(390);
    expect(await axeViolations(page)).toEqual([]);
  });

  test("the policy allows the style and blocks an injected script", async () => {
    const page = await open(tracedReport);
    expect(await page.evaluate("getComputedStyle(document.querySelector('.chip.bad')).color")).toBe("rgb(130, 7, 30)");
    await page.evaluate("{ const s = document.createElement('script'); s.textContent = 'window.ran = true'; document.body.append(s); }");
    expect(await page.evaluate("window.ran")).toBeUndefined();
  });

  test("everything can be focused and opened with the keyboard", async () => {
    const page = await open(largeReport(80, 3));
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Skip to the content");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.tagName")).toBe("SUMMARY");
    expect(await page.evaluate("document.activeElement.parentElement.open")).toBe(false);
    expect(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")).toBe("solid");
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.activeElement.parentElement.open")).toBe(true);
  });

  test("a page with 10 000 differences opens, and so do its folded parts", async () => {
    const page = await open(largeReport(1, 10_000));
    expect(await page.evaluate("document.querySelectorAll('tbody tr').length")).toBe(10_000 + 5);
    await page.locator("#changes-each ~ details > summary").click();
    expect(await page.evaluate("[...document.querySelectorAll('tbody tr')].at(10_004).getBoundingClientRect().height")).toBeGreaterThan(10);
    expect(tab.said).toEqual([]);
  });
});
