// A fault of the embedded service happens to the requests that it names.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parseFault } from "../../../src/embedded/http/faults.ts";
import { type EmbeddedService, type Exchange, startEmbeddedService } from "../../../src/embedded/index.ts";
import { call } from "../caller.ts";

describe("parseFault reads", () => {
  test.each([
    ["GET /v1/tags=reset-before", { method: "GET", nth: undefined, action: { kind: "reset-before" } }],
    ["* .*@3=reset-after", { method: "*", nth: 3, action: { kind: "reset-after" } }],
    ["post /v1/assets$=status:503", { method: "POST", nth: undefined, action: { kind: "status", status: 503 } }],
    ["PUT x=status:429;retry-after=2", { method: "PUT", nth: undefined, action: { kind: "status", status: 429, retryAfterSeconds: 2 } }],
    ["PUT x@1=status-after:500", { method: "PUT", nth: 1, action: { kind: "status-after", status: 500 } }],
    ["GET a=b@c=delay:20", { method: "GET", nth: undefined, action: { kind: "delay", ms: 20 } }],
    ["GET x=truncate", { method: "GET", nth: undefined, action: { kind: "truncate" } }],
    ["GET x=html", { method: "GET", nth: undefined, action: { kind: "html" } }],
    ["GET x=empty", { method: "GET", nth: undefined, action: { kind: "empty" } }],
    ["GET x=content-type", { method: "GET", nth: undefined, action: { kind: "content-type" } }],
  ])("%s", (spec, expected) => {
    expect(parseFault(spec)).toMatchObject(expected);
  });

  test("an expression may contain = and @", () => {
    expect(parseFault("GET a=b@c=delay:20").path.source).toBe("a=b@c");
  });
});

test.each([
  ...["", "GET /v1/tags", "/v1/tags=empty", "G3T /v1/tags=empty", "GET (=empty", "GET x@0=empty", "GET x=explode", "GET x=status"],
  ...["GET x=status:99", "GET x=status-after:500;retry-after=1", "GET x=delay", "GET x=empty:1"],
])("parseFault refuses %j with the usage", (spec) => {
  expect(() => parseFault(spec)).toThrow("Write METHOD PATHREGEX");
});

describe("a fault", () => {
  let service: EmbeddedService;
  const exchanges: Exchange[] = [];
  beforeEach(async () => {
    exchanges.length = 0;
    service = await startEmbeddedService({ onExchange: (exchange) => exchanges.push(exchange) });
  });
  afterEach(() => service.close());

  const put = () => call(service, "PUT", "/v1/tags/t-1", { body: { owner: "u-9" } });
  const isDone = (): boolean => service.state().tags[0]?.owner === "u-9";

  // Each row: what the client sees, and whether the write happened.
  test.each([
    ["reset-before", { error: "ECONNRESET" }, false],
    ["reset-after", { error: "ECONNRESET" }, true],
    ["status:503;retry-after=2", { status: 503 }, false],
    ["status-after:502", { status: 502 }, true],
    ["delay:1", { status: 200 }, true],
    ["truncate", { status: 200, json: undefined }, true],
    ["html", { status: 200, type: "text/html; charset=utf-8" }, false],
    ["empty", { status: 200, text: "" }, true],
    ["content-type", { status: 200, type: "text/plain", json: { code: "success" } }, true],
  ])("%s", async (action, seen, done) => {
    service.addFault(`PUT /v1/tags=${action}`);
    const outcome = await put().catch((error: NodeJS.ErrnoException) => ({ error: error.code }));
    expect(outcome).toMatchObject(seen);
    expect(isDone()).toBe(done);
    expect(exchanges.map((exchange) => exchange.faulted)).toEqual([true]);
    expect(service.requests).toEqual([{ method: "PUT", path: "/v1/tags/t-1", status: "error" in seen ? 0 : seen.status }]);
  });

  test("retry-after is a header of the response", async () => {
    service.addFault("GET /v1/users=status:429;retry-after=7");
    expect((await call(service, "GET", "/v1/users")).headers["retry-after"]).toBe("7");
  });

  test("truncate leaves the first half", async () => {
    const whole = await call(service, "GET", "/v1/users");
    service.addFault("GET /v1/users=truncate");
    const half = await call(service, "GET", "/v1/users");
    expect(half.text).toBe(whole.text.slice(0, Math.floor(whole.text.length / 2)));
  });

  test("@NTH counts matching requests from 1 and applies once", async () => {
    service.addFault("GET /v1/tags$@2=status:500");
    const statuses: number[] = [];
    for (const path of ["/v1/tags", "/v1/users", "/v1/tags", "/v1/tags"]) statuses.push((await call(service, "GET", path)).status);
    expect(statuses).toEqual([200, 200, 500, 200]);
    expect(exchanges.map((exchange) => exchange.faulted)).toEqual([false, false, true, false]);
  });

  test("the expression may match the query, and the first of several faults wins", async () => {
    service.addFault("GET audit-logs\\?.*offset=100=status:500");
    service.addFault("* audit-logs=status:501");
    expect((await call(service, "GET", "/v1/audit-logs?offset=100")).status).toBe(500);
    expect((await call(service, "GET", "/v1/audit-logs")).status).toBe(501);
    service.clearFaults();
    expect((await call(service, "GET", "/v1/audit-logs")).status).toBe(200);
  });

  test("faults do not apply to the console", async () => {
    service.addFault("* .*=reset-before");
    expect((await call(service, "POST", "/_console/integrations/8f1c", { body: { paused: true } })).status).toBe(200);
  });

  test("closing ends requests that wait", async () => {
    service.addFault("PUT /v1/tags=delay:600000");
    const waiting = put().catch((error: NodeJS.ErrnoException) => error.code);
    while (!isDone()) await new Promise((resolve) => setTimeout(resolve, 5));
    await service.close();
    expect(await waiting).toBe("ECONNRESET");
  });

  test("an invalid fault is refused at the start too", async () => {
    await expect(startEmbeddedService({ faults: ["nonsense"] })).rejects.toThrow("is not valid");
  });
});
