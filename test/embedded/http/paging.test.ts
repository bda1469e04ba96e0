// The embedded lists have the pages that the options say.
import { afterEach, expect, test } from "vitest";
import type { PagingStyle } from "../../../src/embedded/index.ts";
import { startService, type TestService } from "../../support/service.ts";
import { call } from "../caller.ts";

let service: TestService;
afterEach(() => service.close());

const ids = (items: readonly { readonly id: string }[]): readonly string[] => items.map((item) => item.id);

test.each([
  ["totalItems", { totalItems: 5 }],
  ["total", { total: 5 }],
  ["hasMore", { hasMore: true }],
  ["silent", {}],
] as const)("%s: the first page of two, then by offset and limit", async (style, said) => {
  service = await startService({ paging: { style, size: 2 } });
  const { items, ...rest } = (await call(service, "GET", "/v1/users")).json.data;
  expect([ids(items), rest]).toEqual([["u-1", "u-2"], said]);
  const last = (await call(service, "GET", "/v1/users?offset=4&limit=2")).json.data;
  expect([ids(last.items), last.hasMore]).toEqual([["u-5"], style === "hasMore" ? false : undefined]);
  expect(ids((await call(service, "GET", "/v1/users?limit=1&offset=1")).json.data.items)).toEqual(["u-2"]);
  expect(ids((await call(service, "GET", "/v1/users?limit=100")).json.data.items)).toEqual(["u-1", "u-2"]);
});

test("nextCursor: following it to the end returns each entry once", async () => {
  service = await startService({ paging: { style: "nextCursor", size: 2 } });
  const seen: string[] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const query: string = cursor === "" ? "" : `?cursor=${cursor}`;
    const { data } = (await call(service, "GET", `/v1/users${query}`)).json;
    seen.push(...ids(data.items));
    cursor = data.nextCursor;
  }
  expect(seen).toEqual(["u-1", "u-2", "u-3", "u-4", "u-5"]);
  expect(service.counts()).toEqual({ GET: 3 });
});

test.each([
  ["nextCursor", "cursor=made-up"],
  ["total", "offset=-1"],
  ["hasMore", "limit=many"],
] as const)("%s refuses %s", async (style, query) => {
  service = await startService({ paging: { style, size: 2 } });
  expect((await call(service, "GET", `/v1/users?${query}`)).status).toBe(400);
});

test("the three lists have pages; the audit log has its own paging", async () => {
  const style: PagingStyle = "silent";
  service = await startService({ paging: { style, size: 1 } });
  for (const list of ["integrations", "tags", "users"]) {
    expect((await call(service, "GET", `/v1/${list}`)).json.data.items).toHaveLength(1);
  }
  expect((await call(service, "GET", "/v1/audit-logs")).json.data.items).toHaveLength(12);
});

test.each([undefined, { style: "none", size: 2 }] as const)("without paging (%j) the list is complete for any query", async (paging) => {
  service = await startService(paging === undefined ? {} : { paging });
  expect((await call(service, "GET", "/v1/users?limit=1&offset=3")).json.data).toEqual({ items: service.state().users });
});
