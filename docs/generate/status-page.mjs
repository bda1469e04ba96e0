// Writes docs/controller-page.png, the picture of the status page in docs/controller-page.md:
// `node docs/generate/status-page.mjs`. Starts the page with the accounts of its tests, and takes a
// screenshot with Chromium (CHROME_PATH, or /usr/bin/chromium).
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { chromium } from "playwright-core";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The page and its test data, bundled for this run. */
async function modules() {
  const temp = await mkdtemp(join(root, "node_modules/.dimsync-docs-"));
  try {
    const outfile = join(temp, "page.mjs");
    const contents = 'export * from "./src/features/controller/page/server.ts"; export * from "./test/features/controller/page/world.ts";';
    await build({
      stdin: { contents, resolveDir: root },
      outfile,
      ...{ bundle: true, format: "esm", platform: "node", packages: "external", logLevel: "error" },
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    await rm(temp, { recursive: true });
  }
}

const { startPage, account, before, causesOf, closedOf, now, suspension, worldOf } = await modules();

const accounts = [
  account({ target: "shop-eu", labels: { team: "sales" }, state: "exposed", exposedColumns: 12, differences: 14, policyViolations: 2 }),
  account({ target: "shop-us", labels: { team: "sales" }, state: "exposed", exposedColumns: 3, differences: 3, mode: "protect" }),
  account({ target: "billing", labels: { team: "finance" }, state: "drifted", differences: 2, manual: 1 }),
  account({
    target: "payroll",
    labels: { team: "finance" },
    state: "failing",
    error: { code: "E_UNAUTHORIZED", message: "The service refused the API key (401)." },
    lastCheckedAt: before(31 * 60_000),
  }),
  account({ target: "logistics", labels: { team: "operations" }, state: "suspended", suspension }),
  ...["crm", "inventory", "web-analytics"].map((target, index) =>
    account({ target, labels: { team: "data-platform" }, mode: ["protect", "apply", "report"][index] }),
  ),
];
const [rule, , , policy] = causesOf(accounts, 4);
const causes = [
  { ...rule, findings: 15, accounts: ["shop-eu", "shop-us"] },
  { ...policy, cause: "pii-must-be-hashed", findings: 2, accounts: ["shop-eu"] },
];
const closed = closedOf(accounts, 1).map((group) => ({ ...group, findings: 2, accounts: ["crm"] }));
const reads = worldOf(accounts, { causes: async () => causes, closed: async () => closed });

const page = await startPage({ reads, host: "127.0.0.1", port: 0, now: () => now });
const executablePath = process.env.CHROME_PATH ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
try {
  const tab = await browser.newPage({ viewport: { width: 1200, height: 1130 }, colorScheme: "light", deviceScaleFactor: 1.5 });
  await tab.goto(page.url);
  await tab.screenshot({ path: join(root, "docs/controller-page.png") });
} finally {
  await browser.close();
  await page.close();
}
