// A refused key or host ends the requests, instead of each one failing alone.
import { expect, test } from "vitest";
import { integrations, tags, users } from "../../../src/core/kinds/lists.ts";
import type { CallReport } from "../../../src/core/service/request.ts";
import { json, refusedUrl, serve } from "../../support/loopback.ts";
import { clientFor, failureOf } from "./client-under-test.ts";

const ids = Array.from({ length: 40 }, (_, i) => `id-${i}`);
const noTags = { code: "Success", data: { items: [] } };
const noSchemas = { code: "Success", data: { schemas: {} } };

test("after a refused key, no further request is sent, and each fails for the same reason", async () => {
  const service = await serve((_request, response) => json(response, {}, 401));
  const client = clientFor(service.url);
  expect(await failureOf(client.list(integrations))).toMatchObject({ code: "E_UNAUTHORIZED", sent: "answered" });
  const failures = await Promise.all(ids.map((id) => failureOf(client.schemas(id))));
  expect(service.received).toHaveLength(1);
  expect(new Set(failures.map(({ code, status, sent }) => `${code} ${status} ${sent}`))).toEqual(new Set(["E_UNAUTHORIZED 401 never"]));
  expect(failures[7]).toMatchObject({ path: "/v1/integrations/id-7/schemas" });
});

test("requests that start together with a refused key are not repeated, and those in the queue are not sent", async () => {
  const service = await serve((_request, response) => json(response, {}, 401));
  const client = clientFor(service.url);
  await Promise.all(ids.map((id) => failureOf(client.schemas(id))));
  expect(service.received.length).toBeLessThanOrEqual(8);
});

test("a list that refuses a key that others accept does not stop requests", async () => {
  const service = await serve(({ url }, response) =>
    url === "/v1/tags" ? json(response, {}, 401) : json(response, url.endsWith("/schemas") ? noSchemas : noTags),
  );
  const client = clientFor(service.url);
  await client.list(users);
  await failureOf(client.list(tags));
  await Promise.all(ids.map((id) => client.schemas(id)));
  expect(service.received).toHaveLength(42);
});

test("a key that is revoked during a run stops the requests soon", async () => {
  let isRevoked = false;
  const service = await serve((_request, response) => (isRevoked ? json(response, {}, 401) : json(response, noTags)));
  const client = clientFor(service.url);
  await client.list(tags);
  isRevoked = true;
  await Promise.all(ids.map((id) => failureOf(client.schemas(id))));
  expect(service.received.length).toBeLessThan(12);
});

test("a host that refuses connections is not tried again for every request", async () => {
  const attempts: CallReport[] = [];
  const client = clientFor(await refusedUrl(), { onCall: (report) => attempts.push(report) });
  const failures = await Promise.all(ids.map((id) => failureOf(client.schemas(id))));
  expect(new Set(failures.map(({ code, sent }) => `${code} ${sent}`))).toEqual(new Set(["E_SERVICE_UNREACHABLE never"]));
  // Each has 3 attempts. The first request without attempts left ends all others.
  expect(attempts.length).toBeLessThanOrEqual(2 * ids.length + 8);
});

test("a failed connection does not stop requests while others get responses", async () => {
  const service = await serve((request, response) =>
    request.url.endsWith("/id-3/schemas") ? response.socket?.destroy() : json(response, noSchemas),
  );
  const client = clientFor(service.url);
  const outcomes = await Promise.allSettled(ids.map((id) => client.schemas(id)));
  expect(outcomes.flatMap(({ status }, i) => (status === "rejected" ? [i] : []))).toEqual([3]);
});

test("once a request may be tried again and succeeds, all are sent", async () => {
  let isUp = false;
  const service = await serve((_request, response) => (isUp ? json(response, noTags) : json(response, {}, 401)));
  let nowMs = 0;
  const client = clientFor(service.url, { now: () => nowMs });
  await failureOf(client.list(tags));
  isUp = true;
  expect(await failureOf(client.list(users))).toMatchObject({ sent: "never" });
  nowMs = 1001;
  await client.list(users);
  await client.list(tags);
  expect(service.received).toHaveLength(3);
});
