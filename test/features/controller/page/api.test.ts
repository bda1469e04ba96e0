import { describe, expect, test } from "vitest";
import { DimsyncError } from "../../../../src/core/model/errors.ts";
import { ask, started } from "./ask.ts";
import { document, violations } from "./openapi.ts";
import { account, bundle, detail, run, worldOf } from "./world.ts";

const first = "/api/v1/accounts/shop-eu-west-000";

/** The JSON of a response that matches schema/controller-api.json. */
// biome-ignore lint/suspicious/noExplicitAny: a response of any shape; the expectations that follow are the check.
async function json(path: string, status = 200, members: Parameters<typeof started>[0] = {}): Promise<any> {
  const reply = await ask(await started(members), path);
  expect(reply.status).toBe(status);
  expect(violations(path.split("?")[0] ?? "", status, reply.type, reply.text)).toEqual([]);
  return JSON.parse(reply.text);
}

test("every address of the document responds as documented, and there is no other", async () => {
  const examples = new Map([
    ["/api/v1/accounts", "/api/v1/accounts"],
    ["/api/v1/accounts/{name}", first],
    ["/api/v1/runs", "/api/v1/runs?account=shop-eu-west-000"],
    ["/api/v1/runs/{id}", `/api/v1/runs/${run.id}`],
    ["/api/v1/bundles/{digest}", `/api/v1/bundles/${bundle.digest}`],
    ["/api/v1/findings", "/api/v1/findings"],
    ["/api/v1/closed", "/api/v1/closed"],
    ["/api/v1/openapi.json", "/api/v1/openapi.json"],
  ]);
  expect([...examples.keys()]).toEqual(Object.keys(document.paths));
  for (const path of examples.values()) await json(path);
  expect(await json("/api/v1/openapi.json")).toEqual(document);
});

test("the check finds a member that the document lacks", () => {
  const text = JSON.stringify({ items: [{ ...account(), color: "red" }], total: 1, offset: 0 });
  expect(violations("/api/v1/accounts", 200, "application/json", text).join("\n")).toMatch(/totals.*\n.*color/su);
});

describe("accounts", () => {
  test("the worst are first, and the totals are of all accounts", async () => {
    const { items, total, totals } = await json("/api/v1/accounts?state=exposed,failing&limit=7");
    expect(items.map(({ state }: { state: string }) => state)).toEqual([...Array(6).fill("exposed"), "failing"]);
    expect(items[0].exposedColumns).toBeGreaterThan(items[5].exposedColumns);
    expect(total).toBe(10);
    expect(totals).toMatchObject({ accounts: 50, exposedAccounts: 6, byState: { exposed: 6, drifted: 5, "in-sync": 20 } });
  });

  test.each([
    ["state=stale", ["stale"]],
    ["state=stale&state=pending", ["stale", "pending"]],
    ["name=NORTH-western", ["stale"]],
    ["label=team=sales&label=region=eu-west&state=exposed", ["exposed"]],
    ["label=team&state=drifted", ["drifted"]],
    ["label=unknown", []],
    ["cause=E_UNAUTHORIZED", ["failing"]],
    ["cause=SchemaConfig%2Fshops%2C%20rule%206", ["exposed"]],
  ])("?%s", async (query, states) => {
    const { items } = await json(`/api/v1/accounts?${query}`);
    expect([...new Set(items.map(({ state }: { state: string }) => state))].sort()).toEqual([...states].sort());
    if (states.length > 0) expect(items.length).toBeGreaterThan(0);
  });

  test("the Link header leads through all parts", async () => {
    const page = await started();
    const names: string[] = [];
    let next: string | undefined = "/api/v1/accounts?limit=20";
    let parts = 0;
    for (; next !== undefined; parts++) {
      const { text, headers } = await ask(page, next);
      names.push(...JSON.parse(text).items.map(({ name }: { name: string }) => name));
      next = /^<(.*)>; rel="next"$/u.exec(String(headers["link"]))?.[1];
    }
    expect(parts).toBe(3);
    expect(new Set(names).size).toBe(50);
  });

  test("a project without accounts is an empty list", async () => {
    expect(await json("/api/v1/accounts", 200, { reads: worldOf([]) })).toMatchObject({ items: [], total: 0, totals: { accounts: 0 } });
  });
});

describe("one account", () => {
  test("has its findings with the user who made the change", async () => {
    const found = await json(first);
    expect(found).toMatchObject({ name: "shop-eu-west-000", state: "exposed" });
    expect(found.findings[0]).toMatchObject({ actor: "dana@example.com", detail: { attribution: { confidence: "exact" } } });
    expect(found.timeline).toHaveLength(detail().timeline.length);
  });

  test("is found by SOURCE/TARGET, encoded or not", async () => {
    const name = `${bundle.source}/shop-eu-west-000`;
    for (const path of [name, encodeURIComponent(name)])
      expect(await json(`/api/v1/accounts/${path}`)).toMatchObject({ name: "shop-eu-west-000" });
  });

  test("with the name of several is refused with their names", async () => {
    const reads = worldOf([], {
      account: () => Promise.reject(new DimsyncError("E_USAGE", 'Several accounts have the target "prod". Use one of a/prod, b/prod.')),
    });
    expect(await json("/api/v1/accounts/prod", 409, { reads })).toMatchObject({ detail: expect.stringContaining("a/prod, b/prod") });
  });
});

test("runs are listed in parts", async () => {
  const page = await started();
  const path = "/api/v1/runs?account=shop-eu-west-000&limit=50";
  const { text, headers } = await ask(page, path);
  expect(JSON.parse(text).items).toHaveLength(50);
  expect(headers["link"]).toBe('</api/v1/runs?account=shop-eu-west-000&limit=50&offset=50>; rel="next"');
  const rest = await ask(page, `${path}&offset=50`);
  expect(JSON.parse(rest.text).items).toHaveLength(10);
  expect(rest.headers["link"]).toBeUndefined();
});

test("a run has its report and what it sent", async () => {
  expect(await json(`/api/v1/runs/${run.id}`)).toMatchObject({ report: { kind: "DriftReport" }, result: { kind: "Result" } });
});

describe("problems are JSON and say what to do", () => {
  test.each([
    ["/api/v1/accounts/nothing", 404, 'The controller has no account "nothing".'],
    ["/api/v1/runs/nothing", 404, 'no run "nothing"'],
    ["/api/v1/bundles/nothing", 404, 'no bundle "nothing"'],
    ["/api/v1/accounts?state=exposd", 400, "Did you mean exposed?"],
    ["/api/v1/accounts?stat=exposed", 400, 'Unknown parameter "stat". This address takes state, label, name, cause, limit, offset.'],
    ["/api/v1/accounts?limit=0", 400, "limit must be a whole number between 1 and 500."],
    ["/api/v1/accounts?limit=501", 400, "limit must be"],
    ["/api/v1/accounts?offset=-1", 400, "offset must be"],
    ["/api/v1/runs", 400, "/api/v1/runs?account=NAME"],
  ])("%s", async (path, status, sentence) => {
    expect((await json(path, status)).detail).toContain(sentence);
  });

  test.each(["/api/v1/nothing", "/api/v1/accounts/%ff", "/api/v2/accounts"])("%s does not exist", async (path) => {
    const reply = await ask(await started(), path);
    expect([reply.status, reply.type]).toEqual([404, "application/problem+json"]);
  });
});
