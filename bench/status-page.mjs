// The controller's status page with 3, 50 and 500 accounts: time to render it, to read it over HTTP, and to
// show it in Chromium. `node bench/status-page.mjs [--runs 15]` prints the shortest times as Markdown.
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { table } from "./table.mjs";

const { values } = parseArgs({ options: { runs: { type: "string", default: "15" } } });
const root = fileURLToPath(new URL("..", import.meta.url));
const folder = mkdtempSync(join(root, "node_modules/.dimsync-bench-"));
const outfile = join(folder, "page.mjs");
const contents = `export * from "./src/features/controller/page/server.ts"; export * from "./src/features/controller/page/html/accounts.ts";
export * from "./test/features/controller/page/world.ts";`;
await build({ stdin: { contents, resolveDir: root }, outfile, bundle: true, format: "esm", platform: "node", packages: "external" });
const { startPage, accountsPage, accountsOf, worldOf, now } = await import(pathToFileURL(outfile).href);
rmSync(folder, { recursive: true });

/** The shortest time in ms after one warm-up: it depends least on what else the machine does. */
async function shortest(action) {
  const times = [];
  for (let run = 0; run <= Number(values.runs); run++) {
    const started = performance.now();
    await action();
    if (run > 0) times.push(performance.now() - started);
  }
  return Math.min(...times);
}

/** Reading the height waits for the layout. */
async function shown(tab, url) {
  await tab.goto(url);
  await tab.evaluate("document.documentElement.scrollHeight");
}

const browser = await chromium.launch({ executablePath: process.env.CHROME_PATH ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
const rows = [];
for (const count of [3, 50, 500]) {
  const reads = worldOf(accountsOf(count));
  const page = await startPage({ reads, host: "127.0.0.1", port: 0, now: () => now });
  const tab = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  const size = (await (await fetch(page.url)).text()).length;
  const times = [
    await shortest(() => accountsPage(reads, { path: "/", query: new URLSearchParams(), now })),
    await shortest(async () => (await fetch(page.url)).text()),
    await shortest(() => shown(tab, page.url)),
  ];
  rows.push([String(count), `${Math.round(size / 1000)} kB`, ...times.map((ms) => `${ms.toFixed(1)} ms`)]);
  await tab.close();
  await page.close();
}
await browser.close();
console.log(table([["accounts", "size", "rendered", "read over HTTP", "shown in Chromium"], ...rows]));
