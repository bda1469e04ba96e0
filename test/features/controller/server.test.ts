// Only who may read the page reads it, and nobody writes.
import { expect, onTestFinished, test } from "vitest";
import type { Database } from "../../../src/features/controller/database.ts";
import { servePage } from "../../../src/features/controller/server.ts";
import { accountRow } from "./rows.ts";

const token = "0123456789abcdef0123456789abcdef";

async function site(accounts = [accountRow()], withToken = ""): Promise<string> {
  const database = {
    rows: async (sql: string) => (sql.includes("select report") ? [] : accounts),
  } as unknown as Database;
  const page = await servePage(database, { listen: "127.0.0.1:0", token: withToken });
  onTestFinished(page.close);
  return page.url;
}

const basic = (password: string): string => `Basic ${Buffer.from(`anyone:${password}`).toString("base64")}`;

test.each([
  ["no token", undefined, 401],
  ["Bearer", `Bearer ${token}`, 200],
  ["the password of Basic", basic(token), 200],
  ["another Bearer", `Bearer ${token}0`, 401],
  ["another password", basic("secret"), 401],
  ["another scheme", `Digest ${token}`, 401],
])("with a token: %s", async (_, authorization, status) => {
  const url = await site(undefined, token);
  const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
  for (const path of ["/", "/accounts/prod", "/api/accounts", "/api/accounts/prod", "/metrics", "/nowhere"]) {
    const response = await fetch(url + path, { headers });
    expect([path, response.status]).toEqual([path, status === 200 && path === "/nowhere" ? 404 : status]);
    expect((await response.text()).includes("prod") && status === 401).toBe(false);
  }
  for (const path of ["/healthz", "/readyz"]) expect((await fetch(url + path)).status).toBe(200);
});

test("without a token, only names of this machine are answered", async () => {
  const url = await site();
  expect((await fetch(url)).status).toBe(200);
  const { request } = await import("node:http");
  const status = await new Promise((resolve) =>
    request(url, { headers: { host: "evil.example.com" } }, ({ statusCode }) => resolve(statusCode)).end(),
  );
  expect(status).toBe(401);
});

test("/api/accounts/NAME is the account with its findings, its repairs and the last report", async () => {
  const repair = { address: "Schemas/orders", path: "/schemas/public/tables/a/columns/b/hashed", what: "public.a.b is not hashed" };
  const account = accountRow({ repairs: [{ ...repair, doneAt: "2026-03-01T08:12:00Z" }] });
  expect(await (await fetch(`${await site([account])}/api/accounts/prod`)).json()).toEqual({ ...account, report: null });
});

test("no method but GET and HEAD", async () => {
  const url = await site();
  for (const method of ["POST", "PUT", "DELETE", "PATCH"]) expect((await fetch(url, { method })).status).toBe(405);
  expect(await (await fetch(url, { method: "HEAD" })).text()).toBe("");
});

test("/readyz fails if an account is stale, and names none", async () => {
  const response = await fetch(`${await site([accountRow(), accountRow({ isStale: true })], token)}/readyz`);
  expect([response.status, await response.text()]).toEqual([503, "1 not checked within three intervals\n"]);
});

test("a database that cannot be read does not appear in an error", async () => {
  const failing = { rows: () => Promise.reject(new Error("password authentication failed for user canary")) } as unknown as Database;
  const page = await servePage(failing, { listen: "127.0.0.1:0", token: "" });
  onTestFinished(page.close);
  const response = await fetch(page.url);
  expect([response.status, await response.text()]).toEqual([503, expect.not.stringContaining("canary")]);
});

test("?state= and ?label= choose accounts", async () => {
  const accounts = [
    accountRow({ target: "a", labels: { team: "data" } }),
    accountRow({ target: "b", exposed: 1 }),
    accountRow({ target: "c" }),
  ];
  const url = await site(accounts);
  const shown = async (query: string): Promise<readonly string[]> => [
    ...new Set([...(await (await fetch(url + query)).text()).matchAll(/href="\/accounts\/(\w+)"/gu)].map(([, name = ""]) => name)),
  ];
  expect(await shown("/")).toEqual(["a", "b", "c"]);
  expect(await shown("/?state=exposed")).toEqual(["b"]);
  expect(await shown("/?label=team%3Ddata")).toEqual(["a"]);
  expect(await shown("/?state=exposed&label=team%3Ddata")).toEqual([]);
});
