// The page in Chromium: readable without JavaScript, on a phone and a desktop, light and dark; one statement and one document, however many accounts.
import { expect, onTestFinished, test } from "vitest";
import type { AccountRow } from "../../../src/features/controller/accounts.ts";
import type { Database } from "../../../src/features/controller/database.ts";
import { servePage } from "../../../src/features/controller/server.ts";
import { axeViolations, pageWidth, tabOfSuite, views } from "../../support/chromium.ts";
import { fileNeeds } from "../../support/programs.ts";
import { accountRow } from "./rows.ts";

fileNeeds("chromium");
const { open, said } = tabOfSuite();

const email = { what: "public.customers.email is not hashed", address: "Schemas/orders", path: "", isExposed: true };
const phone = { ...email, what: "public.customers.phone is not hashed" };
const byDana = { actor: "dana@example.com", at: "2026-03-01T08:00:00Z" };
const byEve = { event: "Orders was changed by eve@example.com, 2026-03-01 08:02 UTC" };
const found = { exposedSince: "2026-03-01T08:10:00Z" };
const frequency = { what: "frequency differs", address: "Integration/orders", path: "", isExposed: false };
const done = { ...byDana, address: "Schemas/orders", path: "/schemas/public/tables/customers/columns/email/hashed" };
const note = "/schemas/public/tables/orders/columns/note/hashed";
const renamed = "public.orders.mail is new and readable";
const states: readonly Partial<AccountRow>[] = [
  { ...found, exposed: 1, differences: 1, mode: "protect", findings: [{ ...email, ...byDana }] },
  { ...found, exposed: 2, differences: 2, findings: [email, phone].map((one) => ({ ...one, ...byEve })), locked: "migration" },
  { ...found, exposed: 1, differences: 1, mode: "protect", findings: [{ ...email, ...byDana }] },
  { ...found, exposed: 1, differences: 1, error: "E_GUARD: 120 columns would change. The limit is 100.", failures: 2, findings: [phone] },
  { differences: 1, byHand: 1, findings: [frequency] },
  { differences: 1, findings: [frequency] },
  { error: "E_UNAUTHORIZED: The service refused the API key. Check the variable.", failures: 3, isStale: true },
  { isStale: true, checkedAt: "2026-03-01T03:00:00Z" },
  { checkedAt: null, commit: null },
  { mode: "protect", repairs: [{ ...done, what: email.what, doneAt: "2026-03-01T08:12:00Z" }] },
  {
    repairs: [{ ...byEve, after: "2026-03-01T08:01:00Z", address: "Schemas/orders", path: note, what: "", doneAt: "2026-03-01T08:12:00Z" }],
  },
  { ...found, exposed: 1, byHand: 1, findings: [{ ...email, what: renamed, isByHand: true, after: "2026-03-01T08:05:00Z" }] },
];
const accountsOf = (count: number): readonly AccountRow[] =>
  Array.from({ length: count }, (_, index) =>
    accountRow({ target: `shop-${index}`, labels: { team: index % 2 ? "data" : "growth" }, ...states[index] }),
  );

/** The site of these accounts. `statements`: receives what the page asks the database. */
async function siteOf(count: number, statements: string[] = []): Promise<string> {
  const accounts = accountsOf(count);
  const rows = (sql: string, [target]: readonly unknown[] = []): unknown =>
    statements.push(sql) && sql.includes("select report")
      ? []
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
  expect(text).toContain("5 of 40 accounts expose 6 columns.");
  const cause =
    "public.customers.email is not hashed shop-0 Schemas/orders, shop-2 Schemas/orders 2026-03-01 08:00 UTC 61 min ago dana@example.com";
  expect(text).toContain(`${cause} The next check repairs it.`);
  const { event } = byEve;
  const both = `public.customers.email is not hashed, public.customers.phone is not hashed shop-1 Schemas/orders found 2026-03-01 08:10 UTC 51 min ago ${event}`;
  expect(text).toContain(`${both} Not repaired: the account is locked.`);
  expect(text).toContain("public.customers.email hashed shop-9 Schemas/orders 2026-03-01 08:12 UTC 49 min ago dana@example.com 12 min");
  expect(text).toContain(
    "public.orders.note hashed shop-10 Schemas/orders 2026-03-01 08:12 UTC 49 min ago Orders was changed by eve@example.com, 2026-03-01 08:02 UTC at most 11 min",
  );
  expect(text).toContain("2 accounts differ in another way.");
  expect(text).toContain(
    "public.orders.mail is new and readable shop-11 Schemas/orders after 2026-03-01 08:05 UTC 56 min ago not in the audit log Not repaired: no request can.",
  );
  const account = await open(`${await siteOf(40)}/accounts/shop-0`);
  expect(await account.evaluate("document.body.innerText")).toContain("dimsync apply --protect-only -t shop-0");
  const byHand = await open(`${await siteOf(40)}/accounts/shop-11`);
  expect(await byHand.evaluate("document.body.innerText")).not.toContain("--protect-only");
});

test("the policy blocks a script that someone injects", async () => {
  const tab = await open(await siteOf(3));
  await tab.evaluate(
    '{ const script = document.createElement("script"); script.textContent = "window.ran = true"; document.body.append(script); }',
  );
  expect(await tab.evaluate("window.ran")).toBe(undefined);
});

test("500 accounts are one statement and one document", async () => {
  const statements: string[] = [];
  const tab = await open(await siteOf(500, statements));
  const [accounts, resources] = ["document.querySelectorAll('.accounts tbody tr')", "performance.getEntriesByType('resource')"];
  expect(await tab.evaluate(`[${accounts}.length, ${resources}.length]`)).toEqual([500, 0]);
  expect(statements).toHaveLength(1);
});
