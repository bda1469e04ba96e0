import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { registerDiffHtml, registerHtml } from "../../../src/render/register/html.ts";
import { diff, registerOf, rows } from "./registers.ts";

const browsers = [process.env["CHROME_PATH"], "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executablePath = browsers.find((path) => path !== undefined && path !== "" && existsSync(path));
const many = Array.from({ length: 60 }, (_, index) => rows.map((row) => ({ ...row, table: `${row.table}_${index}` }))).flat();
const byIntegration = many.toSorted((a, b) => (a.integration < b.integration ? -1 : a.integration > b.integration ? 1 : 0));
const pages = {
  "a register": registerHtml(registerOf(byIntegration)),
  "an empty register": registerHtml(registerOf([])),
  "a diff": registerDiffHtml(diff),
};

describe.skipIf(executablePath === undefined)(
  executablePath === undefined ? "skipped: no Chromium found (apt-get install chromium, or set CHROME_PATH)" : "in Chromium",
  () => {
    let browser: Browser;
    let folder: string;
    let axe: string;
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), "dimsync-register-html-"));
      axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
      browser = await chromium.launch({ ...(executablePath === undefined ? {} : { executablePath }), args: ["--no-sandbox"] });
    });
    afterAll(async () => {
      await browser?.close();
      rmSync(folder, { recursive: true, force: true });
    });

    async function open(html: string, view: BrowserContextOptions): Promise<Page> {
      const file = join(folder, "register.html");
      writeFileSync(file, html);
      const page = await browser.newPage(view);
      await page.goto(pathToFileURL(file).href);
      return page;
    }

    test.each(
      Object.entries(pages).flatMap(([name, html]) =>
        [390, 1280].flatMap((width) => (["light", "dark"] as const).map((colorScheme) => ({ name, html, width, colorScheme }))),
      ),
    )("$name, $width px, $colorScheme: axe-core finds nothing, and nothing overflows the page", async ({ html, width, colorScheme }) => {
      const page = await open(html, { viewport: { width, height: 900 }, colorScheme });
      await page.evaluate(axe);
      expect(
        await page.evaluate("axe.run(document).then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes[0].html))"),
      ).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
      await page.close();
    });

    test("is printed on A4, in landscape, with its heads on every page and no row cut off", async () => {
      const page = await open(pages["a register"], { viewport: { width: 1280, height: 900 }, colorScheme: "dark" });
      await page.emulateMedia({ media: "print" });
      // 297 mm without margins of 12 mm, at 96 pixels per inch.
      await page.setViewportSize({ width: 1032, height: 700 });
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(1032);
      expect(await page.evaluate("getComputedStyle(document.querySelector('thead')).display")).toBe("table-header-group");
      expect(await page.evaluate("getComputedStyle(document.querySelector('tbody tr')).breakInside")).toBe("avoid");
      const pdf = (await page.pdf({ preferCSSPageSize: true })).toString("latin1");
      expect([...pdf.matchAll(/\/MediaBox\s*\[0 0 (8\d\d(?:\.\d+)?) (59\d(?:\.\d+)?)\]/gu)].length).toBeGreaterThan(2);
      await page.close();
    });
  },
);
