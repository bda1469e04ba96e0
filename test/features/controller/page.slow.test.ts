// The page in Chromium: readable without JavaScript, on a phone and a desktop, light and dark; and fast with 500 accounts.
import { expect, onTestFinished, test } from "vitest";
import type { Account } from "../../../src/features/controller/accounts.ts";
import type { Database } from "../../../src/features/controller/database.ts";
import { servePage } from "../../../src/features/controller/server.ts";
import { axeViolations, pageWidth, tabOfSuite, views } from "../../support/chromium.ts";
import { fileNeeds } from "../../support/programs.ts";
import { accountRow } from "./rows.ts";

fileNeeds("chromium");
const { open, said } = tabOfSuite();

const email = { what: "public.customers.email is not hashed", address: "Schemas/orders", path: "", isExposed: true };
const byDana = { actor: "dana@example.com", at: "2026-03-01T08:00:00Z" };
const states: readonly Partial<Account>[] = [
  { exposed: 1, differences: 1, mode: "protect", exposedSince: "2026-03-01T08:10:00Z", findings: [{ ...email, ...byDana }] },
  {
    exposed: 2,
    differences: 2,
    exposedSince: "2026-03-01T08:10:00Z",
    findings: [{ ...email, event: "Orders was changed by eve@example.com" }],
    locked: "migration",
  },
  { differences: 1, manual: 1, findings: [{ what: "frequency differs", address: "Integration/orders", path: "", isExposed: false }] },
  { error: "E_UNAUTHORIZED: The service refused the API key. Check the variable.", failures: 3, isStale: true },
  { isStale: true },
  { checkedAt: null, commit: null },
];
const accountsOf = (count: number): readonly Account[] =>
  Array.from({ length: count }, (_, index) =>
    accountRow({ target: `shop-${index}`, labels: { team: index % 2 ? "data" : "growth" }, ...states[index] }),
  );
const repair = {
  target: "shop-9",
  address: "Schemas/orders",
  path: "/schemas/public/tables/customers/columns/email/hashed",
  actor: "dana@example.com",
};
const done = { ...repair, changedAt: "2026-03-01T08:00:00Z", doneAt: "2026-03-01T08:12:00Z", told: true };

/** The site of these accounts. */
async function siteOf(count: number): Promise<string> {
  const accounts = accountsOf(count);
  const rows = (sql: string, [target]: readonly unknown[] = []): unknown =>
    sql.includes(".repair")
      ? [done]
      : sql.includes("select report")
        ? [{ report: null }]
        : accounts.filter((account) => (target ?? null) === null || account.target === target);
  const database = { rows: async (sql: string, values: readonly unknown[]) => rows(sql, values) } as unknown as Database;
  const page = await servePage(database, { listen: "127.0.0.1:0", token: "" });
  onTestFinished(page.close);
  return page.url;
}

test.each(Object.entries(views))("%s: axe-core finds nothing, nothing overflows, and nothing is blocked", async (_, how) => {
  const url = await siteOf(40);
  for (const path of ["/", "/accounts/shop-0", "/accounts/shop-3", "/?state=stale&label=team%3Ddata"]) {
    const tab = await open(url + path, how);
    expect([path, await axeViolations(tab), await pageWidth(tab), said]).toEqual([path, [], how.width, []]);
  }
});

test("it says what is exposed, by whom, since when and what to do", async () => {
  const tab = await open(await siteOf(40));
  const text = String(await tab.evaluate("document.body.innerText")).replaceAll(/\s+/gu, " ");
  expect(text).toContain("2 of 40 accounts expose 3 columns.");
  expect(text).toMatch(
    /public\.customers\.email is not hashed shop-0 Schemas\/orders \d+ days ago dana@example\.com The next check repairs it\./u,
  );
  expect(text).toContain("Orders was changed by eve@example.com Not repaired: the account is locked.");
  expect(text).toMatch(/public\.customers\.email hashed shop-9 Schemas\/orders \d+ days ago dana@example\.com 12 min/u);
  const account = await open(`${await siteOf(40)}/accounts/shop-0`);
  expect(await account.evaluate("document.body.innerText")).toContain("dimsync apply -t shop-0 --protect-only");
});

test("the policy blocks a script that someone injects", async () => {
  const tab = await open(await siteOf(3));
  await tab.evaluate(
    '{ const script = document.createElement("script"); script.textContent = "window.ran = true"; document.body.append(script); }',
  );
  expect(await tab.evaluate("window.ran")).toBe(undefined);
});

test("500 accounts are shown within a second", async () => {
  const url = await siteOf(500);
  await open(url);
  const tab = await open(url);
  expect(await tab.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")).toBeLessThan(1_000);
});
