import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { type Browser, chromium, type Page } from "playwright-core";

const paths = [process.env["CHROME_PATH"], "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const executablePath = paths.find((path) => path !== undefined && path !== "" && existsSync(path));

/** Whether tests in Chromium must be skipped, and the title of their suite, which then says why. */
export const chromiumMissing = executablePath === undefined;
export const chromiumTitle = chromiumMissing ? "skipped: no Chromium found (apt-get install chromium, or set CHROME_PATH)" : "in Chromium";

export const launchChromium = (): Promise<Browser> =>
  chromium.launch({ ...(executablePath === undefined ? {} : { executablePath }), args: ["--no-sandbox"] });

/** What axe-core finds in the page: one line for each rule, with the elements. */
export async function axeViolations(page: Page): Promise<unknown> {
  await page.evaluate(await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8"));
  return page.evaluate(
    "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 200)).join(' | ')))",
  );
}

/** A page's width in CSS pixels, to compare with that of the window. */
export const pageWidth = (page: Page): Promise<unknown> => page.evaluate("document.documentElement.scrollWidth");
