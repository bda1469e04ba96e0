// The audit log is read once and whole, or said to be incomplete.
import { describe, expect, onTestFinished, test } from "vitest";
import { momentOf } from "../../../src/cli/argument-values.ts";
import type { AuditEntry } from "../../../src/core/base/model/live.ts";
import type { AuditQuery } from "../../../src/core/base/model/service.ts";
import { Secret } from "../../../src/core/base/model/settings/secret.ts";
import { readAudit } from "../../../src/core/drift/audit.ts";
import { createClient } from "../../../src/core/service/client.ts";
import { startService } from "../../support/service.ts";

const until = "2026-03-01T00:00:00.000Z";
const entryAt = (index: number): AuditEntry => ({
  id: `e-${index}`,
  timestamp: new Date(Date.UTC(2026, 1, 1) + Math.floor(index / 3) * 1000).toISOString(),
  event: `event ${index}`,
  actor: { type: "user", email: "dana@example.com" },
  context: { ipAddress: undefined, userAgent: undefined },
});

/** A log, newest first, in which `meanwhile` entries appear before each page after the first. */
function logOf(total: number, meanwhile = 0) {
  const queries: AuditQuery[] = [];
  let all = Array.from({ length: total }, (_, index) => entryAt(total - 1 - index));
  const auditLogs = async (query: AuditQuery) => {
    if (queries.length > 0)
      all = [...Array.from({ length: meanwhile }, (_, index) => entryAt(100_000 + queries.length * 10 + index)), ...all];
    queries.push(query);
    const { offset = 0, limit = 20 } = query;
    return { totalItems: all.length, items: all.slice(offset, offset + limit) };
  };
  return { auditLogs, queries };
}

describe("every page is read", () => {
  test.each([
    [0, 1],
    [1, 1],
    [100, 1],
    [101, 2],
    [250, 3],
  ])("%i entries in %i pages: each once, newest first, with a fixed end", async (total, pages) => {
    const log = logOf(total);
    const { items, totalItems, complete } = await readAudit(log, { until, since: "2026-01-01T00:00:00Z" });
    expect(items.map(({ id }) => id)).toEqual(
      Array.from({ length: total }, (_, index) => `e-${total - 1 - index}`).sort(
        (a, b) => Math.floor(Number(b.slice(2)) / 3) - Math.floor(Number(a.slice(2)) / 3),
      ),
    );
    expect({ totalItems, complete }).toEqual({ totalItems: total, complete: true });
    expect(log.queries).toHaveLength(pages);
    expect(new Set(log.queries.map(({ endAt, startAt, limit }) => `${endAt} ${startAt} ${limit}`))).toEqual(
      new Set([`${until} 2026-01-01T00:00:00Z 100`]),
    );
  });

  test("entries that are added meanwhile cause neither duplicates nor gaps", async () => {
    const { items } = await readAudit(logOf(250, 3), { until });
    const ids = items.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (let index = 0; index < 250; index++) expect(ids).toContain(`e-${index}`);
  });

  test("with a limit, the newest entries are kept and the log is incomplete", async () => {
    const { items, totalItems, complete } = await readAudit(logOf(500), { until }, { limit: 150 });
    expect(items).toHaveLength(150);
    expect(items[0]?.id).toMatch(/^e-49[789]$/u);
    expect({ totalItems, complete }).toEqual({ totalItems: 500, complete: false });
  });

  test("if pages contain less than the total, reading ends and the log is incomplete", async () => {
    const auditLogs = async ({ offset = 0 }: AuditQuery) => ({ totalItems: 300, items: offset === 0 ? [entryAt(1)] : [] });
    expect(await readAudit({ auditLogs }, { until })).toMatchObject({ totalItems: 300, complete: false, items: [{ id: "e-1" }] });
  });

  test("a page that brings nothing new ends the reading: the service ignores the offset", async () => {
    let pages = 0;
    const auditLogs = async () => ({ totalItems: ++pages * 1_000_000, items: [entryAt(1), entryAt(2)] });
    expect(await readAudit({ auditLogs }, { until })).toMatchObject({ complete: false, items: [{ id: "e-1" }, { id: "e-2" }] });
    expect(pages).toBe(2);
  });

  test("reads the log over HTTP", async () => {
    const service = await startService();
    onTestFinished(() => service.close());
    for (let index = 0; index < 240; index++) service.mutate(() => {}, { email: "sam@example.com" }, `event ${index}`);
    const client = createClient({
      baseUrl: service.url,
      apiKey: new Secret(service.apiKey),
      readOnly: true,
      env: {},
      concurrency: 2,
      timeoutMs: 10_000,
      retries: 0,
      userAgent: "dimsync/test",
    });
    onTestFinished(() => client.close());
    const { items, complete } = await readAudit(client, { until: new Date(Date.now() + 60_000).toISOString() });
    expect(complete).toBe(true);
    expect(items).toHaveLength(service.state().auditLogs.length);
    expect(service.counts()).toEqual({ GET: 3 });
  });
});

describe("times as users write them", () => {
  const now = Date.parse("2026-03-02T12:00:00.000Z");
  test.each([
    ["24h", "2026-03-01T12:00:00.000Z"],
    ["7d", "2026-02-23T12:00:00.000Z"],
    ["90s", "2026-03-02T11:58:30.000Z"],
    ["2026-03-01", "2026-03-01T00:00:00.000Z"],
    ["2026-03-01T09:00", "2026-03-01T09:00:00.000Z"],
    ["2026-03-01T09:00:00Z", "2026-03-01T09:00:00.000Z"],
    ["2026-03-01T09:00:00.5+01:00", "2026-03-01T08:00:00.500Z"],
    ["yesterday", undefined],
    ["7", undefined],
    ["2026-13-01", undefined],
    ["2026-02-30", undefined],
    ["2026-02-29T09:00:00Z", undefined],
    ["2024-02-29T23:30:00-05:00", "2024-03-01T04:30:00.000Z"],
    ["2026-03-01T24:30", undefined],
    ["03/01/2026", undefined],
    ["", undefined],
  ])("%s is %s", (text, moment) => {
    expect(momentOf(text, now)).toBe(moment);
  });
});
