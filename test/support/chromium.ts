import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, onTestFinished } from "vitest";
import { program } from "./programs.mjs";
import { waiting } from "./waiting.ts";

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
  /** The URLs that the page in it has requested, and its messages and errors. */
  readonly requested: readonly string[];
  readonly said: readonly string[];
  readonly open: (url: string, view?: View) => Promise<Page>;
  readonly openHtml: (html: string) => Promise<Page>;
  /** A tab of its own, with other settings or a page that a test changes; closed when the test ends. */
  readonly openApart: (options?: BrowserContextOptions) => Promise<Page>;
}

/** Starts Chromium for the suite that calls it, which needs("chromium"), and returns the tab of its tests. */
export function tabOfSuite(): Tab {
  let started: { readonly browser: Browser; readonly page: Page; readonly folder: string } | undefined;
  const requested: string[] = [];
  const said: string[] = [];
  const running = (): NonNullable<typeof started> => {
    if (started === undefined) throw new Error("Chromium did not start.");
    return started;
  };
  beforeAll(async () => {
    const folder = mkdtempSync(join(tmpdir(), "dimsync-html-"));
    const browser = await chromium.launch({ executablePath: program("chromium"), args: ["--no-sandbox"] });
    const page = await browser.newPage();
    page.setDefaultTimeout(waiting.timeout);
    page.on("request", (request) => requested.push(request.url()));
    page.on("console", (message) => said.push(message.text()));
    page.on("pageerror", (error) => said.push(error.message));
    started = { browser, page, folder };
  });
  afterAll(async () => {
    await started?.browser.close();
    if (started !== undefined) rmSync(started.folder, { recursive: true, force: true });
  });
  const open = async (url: string, view: View = views["desktop, light"]): Promise<Page> => {
    const { page } = running();
    requested.length = 0;
    said.length = 0;
    await show(page, view);
    await page.goto(url);
    return page;
  };
  return {
    requested,
    said,
    open,
    openHtml(html) {
      const file = join(running().folder, "page.html");
      writeFileSync(file, html);
      return open(pathToFileURL(file).href);
    },
    async openApart(options) {
      const context = await running().browser.newContext(options);
      onTestFinished(() => context.close());
      context.setDefaultTimeout(waiting.timeout);
      return context.newPage();
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
