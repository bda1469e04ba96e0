import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { renderHtmlAll } from "../../../src/render/html/index.ts";
import { type Document, renderers } from "../../../src/render/index.ts";
import { axeViolations, chromiumMissing, chromiumTitle, launchChromium, pageWidth } from "../../support/chromium.ts";
import { invalid } from "../diagnostics.ts";
import { fullPlan, planOfColumns } from "../full-plan.ts";
import { history, largeReport, past, tracedReport } from "../html-report.ts";
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
const views: Readonly<Record<string, BrowserContextOptions>> = {
  "phone, light": { viewport: { width: 390, height: 844 }, colorScheme: "light" },
  "desktop, dark": { viewport: { width: 1280, height: 900 }, colorScheme: "dark" },
};

describe.skipIf(chromiumMissing)(chromiumTitle, () => {
  let browser: Browser;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "dimsync-html-"));
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The document in a page, with all requests and errors of the page. */
  async function open(
    document: Document,
    view: BrowserContextOptions = {},
  ): Promise<{ readonly page: Page; readonly asked: readonly string[]; readonly said: readonly string[] }> {
    const file = join(folder, "report.html");
    writeFileSync(file, renderers.html(document, { color: false, verbose: false, history }));
    const page = await browser.newPage(view);
    const asked: string[] = [];
    const said: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    page.on("console", (message) => said.push(message.text()));
    page.on("pageerror", (error) => said.push(error.message));
    await page.goto(pathToFileURL(file).href);
    return { page, asked, said };
  }

  describe.each(Object.entries(documents))("%s", (_, document) => {
    test.each(Object.entries(views))("%s: axe-core finds nothing, and nothing overflows the page", async (_view, view) => {
      const { page, asked, said } = await open(document, view);
      await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true");
      expect(await axeViolations(page)).toEqual([]);
      expect(await pageWidth(page)).toBeLessThanOrEqual(view.viewport?.width ?? 0);
      expect(asked).toHaveLength(1);
      expect(said).toEqual([]);
      await page.close();
    });
  });

  test("a page of several targets begins with a table of them, and axe-core finds nothing", async () => {
    const targets = [tracedReport, { ...largeReport(3, 20), target: "staging" }, plan({ kind: "DriftReport", target: "eu" })];
    const file = join(folder, "several.html");
    writeFileSync(file, renderHtmlAll(targets, { color: false, verbose: false, history }));
    const page = await browser.newPage(views["phone, light"]);
    await page.goto(pathToFileURL(file).href);
    expect(await page.locator("table.targets tbody tr").count()).toBe(3);
    expect(await pageWidth(page)).toBeLessThanOrEqual(390);
    expect(await axeViolations(page)).toEqual([]);
    await page.close();
  });

  test("the policy allows the style and blocks an injected script", async () => {
    const { page } = await open(tracedReport, { colorScheme: "light" });
    expect(await page.evaluate("getComputedStyle(document.querySelector('.chip.bad')).color")).toBe("rgb(130, 7, 30)");
    await page.evaluate("{ const s = document.createElement('script'); s.textContent = 'window.ran = true'; document.body.append(s); }");
    expect(await page.evaluate("window.ran")).toBeUndefined();
    await page.close();
  });

  test("everything can be focused and opened with the keyboard", async () => {
    const { page } = await open(largeReport(80, 3));
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Skip to the content");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.tagName")).toBe("SUMMARY");
    expect(await page.evaluate("document.activeElement.parentElement.open")).toBe(false);
    expect(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")).toBe("solid");
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.activeElement.parentElement.open")).toBe(true);
    await page.close();
  });

  test("a page with 10 000 differences opens, and so do its folded parts", { timeout: 60_000 }, async () => {
    const { page, said } = await open(largeReport(1, 10_000));
    expect(await page.evaluate("document.querySelectorAll('tbody tr').length")).toBe(10_000 + 5 + past.points.length);
    await page.locator("#changes ~ details > summary").click();
    expect(await page.evaluate("[...document.querySelectorAll('tbody tr')].at(10_004).getBoundingClientRect().height")).toBeGreaterThan(10);
    expect(said).toEqual([]);
    await page.close();
  });
});
