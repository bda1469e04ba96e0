// The embedded audit log has pages, filters and refusals as documented.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AuditRecord, type EmbeddedService, seedAccount, startEmbeddedService } from "../../../src/embedded/index.ts";
import { call } from "../caller.ts";

let service: EmbeddedService;
const at = (minute: number): string => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();

beforeAll(async () => {
  const state = seedAccount();
  // 120 entries, two per minute, in pairs with the same time, unsorted.
  state.auditLogs = Array.from({ length: 120 }, (_, i): AuditRecord => {
    const n = (i * 7) % 120;
    return {
      id: `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`,
      timestamp: at(Math.floor(n / 2)),
      event: `entry ${n}`,
      actor: { type: "user", email: "sam@example.com" },
      context: { ipAddress: "203.0.113.9", userAgent: "test" },
    };
  });
  service = await startEmbeddedService({ state });
});
afterAll(() => service.close());

async function page(query: string): Promise<{ readonly totalItems: number; readonly items: readonly AuditRecord[] }> {
  const { status, json } = await call(service, "GET", `/v1/audit-logs${query}`);
  expect([status, json.code]).toEqual([200, "success"]);
  return json.data;
}

test("the default is 20 entries, newest first", async () => {
  const { totalItems, items } = await page("");
  expect([totalItems, items.length, items[0]?.timestamp]).toEqual([120, 20, at(59)]);
});

test("pages by limit and offset contain each entry once, in the same order", async () => {
  const first = await page("?limit=100&sortOrder=asc");
  const second = await page("?limit=100&offset=100&sortOrder=asc");
  const entries = [...first.items, ...second.items];
  expect(new Set(entries.map((entry) => entry.id)).size).toBe(120);
  expect(entries.map((entry) => entry.timestamp)).toEqual(entries.map((entry) => entry.timestamp).sort());
  expect((await page("?offset=500")).items).toEqual([]);
});

test("desc is the reverse of asc", async () => {
  const up = await page("?limit=100&sortOrder=asc&sortBy=timestamp");
  const down = await page("?limit=100&offset=20&sortOrder=desc");
  expect(down.items).toEqual([...up.items].reverse());
});

test("startAt is inclusive, endAt is exclusive, and totalItems counts the entries in between", async () => {
  const { totalItems, items } = await page(`?startAt=${at(10)}&endAt=${at(12)}&sortOrder=asc`);
  expect([totalItems, items.map((entry) => entry.timestamp)]).toEqual([4, [at(10), at(10), at(11), at(11)]]);
});

test("times may have an offset from UTC", async () => {
  expect((await page(`?startAt=${encodeURIComponent("2026-01-01T01:58:00+01:00")}`)).totalItems).toBe(4);
});

describe("refused with 400", () => {
  test.each([
    "limit=101",
    "limit=0",
    "limit=-1",
    "limit=ten",
    "limit=1.5",
    "offset=-1",
    "sortBy=event",
    "sortOrder=up",
    "startAt=yesterday",
    "endAt=2026-01-01",
  ])("%s", async (query) => {
    expect((await call(service, "GET", `/v1/audit-logs?${query}`)).status).toBe(400);
  });
});
