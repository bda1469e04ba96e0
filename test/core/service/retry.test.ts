// A read is tried again when that helps, with waits that grow.
import { setImmediate as nextTurn, setTimeout as sleepFor } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { tags, users } from "../../../src/core/kinds/lists.ts";
import { backoffMs, retryAfterMs } from "../../../src/core/service/retry.ts";
import { manualTimeouts } from "../../support/clock.ts";
import { json, serve, serveSockets } from "../../support/loopback.ts";
import { clientFor, failureOf } from "./client-under-test.ts";

const noTags = { data: { items: [] } };
const create = { method: "POST", path: "/v1/assets", body: {} } as const;

describe("a read is tried again after", () => {
  const rows: Record<string, (socket: import("node:net").Socket) => unknown> = {
    "a reset": (socket) => socket.resetAndDestroy(),
    "an end without a response": (socket) => socket.end(),
    "half a response": (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{"data":'),
    "broken JSON": (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n{"data":'),
    silence: () => undefined,
    ...Object.fromEntries(
      [408, 425, 429, 500, 502, 503, 504, 599].map((status) => [
        `status ${status}`,
        (socket: import("node:net").Socket) => socket.end(`HTTP/1.1 ${status} X\r\ncontent-length: 0\r\n\r\n`),
      ]),
    ),
  };
  test.each(Object.entries(rows))("%s", async (sentence, act) => {
    const timeouts = manualTimeouts();
    const service = await serveSockets((socket, turn) =>
      socket.on("data", () => {
        if (turn > 0) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 21\r\n\r\n{"data":{"items":[]}}');
        else if (sentence === "silence") timeouts.pass(1_000);
        else act(socket);
      }),
    );
    const attempts: unknown[] = [];
    const client = clientFor(service.url, {
      timeoutMs: 1_000,
      after: timeouts.after,
      onCall: ({ attempt, error, status }) => attempts.push([attempt, error === undefined, status]),
    });
    expect((await client.list(tags)).items).toEqual([]);
    expect(attempts).toHaveLength(2);
    expect(attempts[1]).toEqual([2, true, 200]);
    expect(client.waits).toEqual([200]);
    expect(client.calls()).toEqual({ GET: 2 });
  });
});

test.each([400, 404, 405, 409, 410, 422, 451])("a read is not tried again after status %i", async (status) => {
  const service = await serve((_request, response) => json(response, {}, status));
  expect(await failureOf(clientFor(service.url).list(tags))).toMatchObject({ code: "E_SERVICE_STATUS", status, sent: "answered" });
  expect(service.received).toHaveLength(1);
});

test("the waits double up to 10 s, with full jitter, and the error counts the attempts", async () => {
  const service = await serve((_request, response) => json(response, {}, 500));
  const client = clientFor(service.url, { retries: 8 });
  expect((await failureOf(client.list(tags))).message).toContain("dimsync tried 9 times");
  expect(client.waits).toEqual([200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]);
  expect([0, 0.5, 1].map((chance) => backoffMs(3, () => chance))).toEqual([0, 400, 800]);
  expect(await failureOf(clientFor(service.url, { retries: 0 }).list(tags))).toMatchObject({ status: 500 });
  expect(service.received).toHaveLength(10);
});

describe("Retry-After", () => {
  const now = Date.parse("2025-01-01T00:00:00Z");
  const rows: Record<string, [headers: Record<string, string | string[]>, wanted: number | undefined]> = {
    seconds: [{ "retry-after": "7" }, 7_000],
    "more than two minutes is limited": [{ "retry-after": "86400" }, 120_000],
    zero: [{ "retry-after": "0" }, 0],
    "a date, compared with the local clock": [{ "retry-after": "Wed, 01 Jan 2025 00:00:09 GMT" }, 9_000],
    "a date, compared with the service's clock": [
      { "retry-after": "Wed, 01 Jan 2025 05:00:09 GMT", date: "Wed, 01 Jan 2025 05:00:00 GMT" },
      9_000,
    ],
    "a date in the past": [{ "retry-after": "Wed, 01 Jan 2020 00:00:00 GMT" }, 0],
    nonsense: [{ "retry-after": "soon" }, undefined],
    twice: [{ "retry-after": ["1", "2"] }, undefined],
    none: [{}, undefined],
  };
  test.each(Object.entries(rows))("%s", (_sentence, [headers, wanted]) => {
    expect(retryAfterMs(headers, now)).toBe(wanted);
  });

  test("delays every other request to the host, writes too", async () => {
    let isReleased = false;
    const early: unknown[] = [];
    const service = await serve(({ url }, response, turn) => {
      if (turn === 0) return json(response, {}, 429, { "retry-after": "30" });
      if (!isReleased) early.push(url);
      return json(response, url === "/v1/assets" ? { data: { id: "a" } } : noTags);
    });
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = () => {
        isReleased = true;
        resolve();
      };
    });
    const waits: number[] = [];
    const client = clientFor(service.url, {
      sleep: async (milliseconds) => {
        waits.push(milliseconds);
        await held;
      },
    });
    const first = client.list(tags);
    while (waits.length === 0) await nextTurn();
    const others = [client.list(users), client.send(create)];
    await nextTurn();
    release();
    await Promise.all([first, ...others]);
    expect(early).toEqual([]);
    expect(service.received).toHaveLength(4);
    expect(waits).toHaveLength(3);
    for (const wait of waits) expect(wait).toBeGreaterThan(25_000);
  });

  test("of a write's 503 delays the others although the write itself is not sent again", async () => {
    const service = await serve((_request, response, turn) =>
      turn === 0 ? json(response, {}, 503, { "retry-after": "30" }) : json(response, noTags),
    );
    const client = clientFor(service.url);
    expect((await failureOf(client.send(create))).sent).toBe("maybe");
    expect(client.waits).toEqual([]);
    await client.list(tags);
    expect(client.waits).toHaveLength(1);
    expect(service.received).toHaveLength(2);
  });
});

describe("an abort", () => {
  test("ends a wait for the next attempt", async () => {
    const service = await serve((_request, response) => json(response, {}, 500));
    const abort = new AbortController();
    const client = clientFor(service.url, {
      signal: abort.signal,
      sleep: (milliseconds, signal) => {
        abort.abort();
        return sleepFor(milliseconds, undefined, { signal });
      },
    });
    expect(await failureOf(client.list(tags))).toMatchObject({ code: "E_INTERRUPTED" });
    expect(service.received).toHaveLength(1);
  });

  test("ends a read in flight and the queue", async () => {
    const abort = new AbortController();
    const service = await serve(() => abort.abort());
    const client = clientFor(service.url, { signal: abort.signal, concurrency: 1 });
    const errors = await Promise.all([failureOf(client.list(tags)), failureOf(client.list(users)), failureOf(client.send(create))]);
    expect(errors.map(({ code, sent }) => [code, sent])).toEqual([
      ["E_INTERRUPTED", "maybe"],
      ["E_INTERRUPTED", "never"],
      ["E_INTERRUPTED", "never"],
    ]);
    expect(service.received).toHaveLength(1);
  });

  test("lets a write in flight finish", async () => {
    const abort = new AbortController();
    const service = await serve((_request, response) => {
      abort.abort();
      json(response, { data: { id: "a" } });
    });
    const client = clientFor(service.url, { signal: abort.signal });
    expect(await client.send(create)).toMatchObject({ data: { id: "a" } });
    expect(await failureOf(client.send(create))).toMatchObject({ code: "E_INTERRUPTED", sent: "never" });
  });
});
