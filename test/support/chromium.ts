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

/** How a reader sees a page: the size of the window in CSS pixels, and the color scheme. */
export interface View {
  readonly width: number;
  readonly height: number;
  readonly colorScheme: "light" | "dark";
}

export const views = {
  "phone, light": { width: 390, height: 844, colorScheme: "light" },
  "phone, dark": { width: 390, height: 844, colorScheme: "dark" },
  "desktop, light": { width: 1280, height: 900, colorScheme: "light" },
  "desktop, dark": { width: 1280, height: 900, colorScheme: "dark" },
} as const satisfies Readonly<Record<string, View>>;

export async function show(page: Page, { width, height, colorScheme }: View): Promise<void> {
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme, media: "screen" });
}

/** A tab that shows one page after the other: a new tab for each starts two processes. */
export interface Tab {
  readonly page: Page;
  /** The URLs that the page in it has requested, and its messages and errors. */
  readonly requested: readonly string[];
  readonly said: readonly string[];
  readonly open: (url: string, view?: View) => Promise<void>;
}

export async function newTab(browser: Browser): Promise<Tab> {
  const page = await browser.newPage();
  const requested: string[] = [];
  const said: string[] = [];
  page.on("request", (request) => requested.push(request.url()));
  page.on("console", (message) => said.push(message.text()));
  page.on("pageerror", (error) => said.push(error.message));
  return {
    page,
    requested,
    said,
    async open(url, view = views["desktop, light"]) {
      requested.length = 0;
      said.length = 0;
      await show(page, view);
      await page.goto(url);
    },
  };
}

/** What axe-core finds in the page: one line for each rule, with the elements. */
export async function axeViolations(page: Page): Promise<unknown> {
  if ((await page.evaluate("typeof axe")) === "undefined")
    await page.evaluate(await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8"));
  return page.evaluate(
    "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 200)).join(' | ')))",
  );
}

/** A page's width in CSS pixels, to compare with that of the window. */
export const pageWidth = (page: Page): Promise<unknown> => page.evaluate("document.documentElement.scrollWidth");
