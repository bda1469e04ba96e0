// A list is read whole, or known to be short.
import { describe, expect, test } from "vitest";
import { tags as list } from "../../../src/core/kinds/lists.ts";
import { json, serve } from "../../support/loopback.ts";
import { clientFor, failureOf } from "./client-under-test.ts";

const tags = (from: number, count: number) => Array.from({ length: count }, (_, i) => ({ id: `t${from + i}`, name: `tag ${from + i}` }));
const ids = (items: readonly { readonly id: string }[]) => items.map(({ id }) => id);
const all = ids(tags(0, 5));

describe("one answer", () => {
  const rows: Record<string, [answer: object, completeness: "shown" | "unknown"]> = {
    "says nothing": [{ data: { items: tags(0, 5) } }, "unknown"],
    "totalItems in data": [{ data: { items: tags(0, 5), totalItems: 5 } }, "shown"],
    "total beside data": [{ data: { items: tags(0, 5) }, total: 5 }, "shown"],
    "hasMore false": [{ data: { items: tags(0, 5), hasMore: false } }, "shown"],
    "nextCursor null": [{ data: { items: tags(0, 5), nextCursor: null } }, "shown"],
    "nextCursor empty, beside data": [{ data: { items: tags(0, 5) }, nextCursor: "" }, "shown"],
    "a total below the number of items": [{ data: { items: tags(0, 5), total: 3 } }, "unknown"],
    "a total that is not a number": [{ data: { items: tags(0, 5), total: "5" } }, "unknown"],
  };
  test.each(Object.entries(rows))("%s", async (_sentence, [answer, completeness]) => {
    const service = await serve((_request, response) => json(response, answer));
    const listing = await clientFor(service.url).list(list);
    expect({ ids: ids(listing.items), completeness: listing.completeness }).toEqual({ ids: all, completeness });
    expect(service.received.map(({ url }) => url)).toEqual(["/v1/tags"]);
  });
});

describe("several answers", () => {
  type Page = (query: URLSearchParams) => object;
  const offset = (query: URLSearchParams) => Number(query.get("offset") ?? 0);
  const rows: Record<string, [page: Page, urls: readonly string[], completeness: "shown" | "unknown"]> = {
    "by totalItems": [
      (query) => ({ data: { items: tags(offset(query), Math.min(2, 5 - offset(query))), totalItems: 5 } }),
      ["/v1/tags", "/v1/tags?offset=2&limit=2", "/v1/tags?offset=4&limit=2"],
      "shown",
    ],
    "by hasMore": [
      (query) => ({ data: { items: tags(offset(query), Math.min(3, 5 - offset(query))), hasMore: offset(query) < 3 } }),
      ["/v1/tags", "/v1/tags?offset=3&limit=3"],
      "shown",
    ],
    "by nextCursor": [
      (query) => ({ data: { items: query.has("cursor") ? tags(2, 3) : tags(0, 2), nextCursor: query.has("cursor") ? null : "a/b=&c" } }),
      ["/v1/tags", "/v1/tags?cursor=a%2Fb%3D%26c"],
      "shown",
    ],
    "pages that overlap": [
      (query) => ({ data: { items: query.has("offset") ? tags(2, 3) : tags(0, 3), hasMore: !query.has("offset") } }),
      ["/v1/tags", "/v1/tags?offset=3&limit=3"],
      "shown",
    ],
    "a last page without a sign of more": [
      (query) => (query.has("cursor") ? { data: { items: tags(2, 3) } } : { data: { items: tags(0, 2), nextCursor: "x" } }),
      ["/v1/tags", "/v1/tags?cursor=x"],
      "unknown",
    ],
  };
  test.each(Object.entries(rows))("%s", async (_sentence, [page, urls, completeness]) => {
    const service = await serve(({ url }, response) => json(response, page(new URL(url, "http://x").searchParams)));
    const listing = await clientFor(service.url).list(list);
    expect({ ids: ids(listing.items), completeness: listing.completeness }).toEqual({ ids: all, completeness });
    expect(service.received.map(({ url }) => url)).toEqual(urls);
  });
});

describe("inconsistent pages give a list that is known to be short, and no loop", () => {
  const rows: Record<string, [page: (turn: number) => object, requests: number]> = {
    "the offset is ignored": [() => ({ data: { items: tags(0, 2), totalItems: 5 } }), 2],
    "later pages are empty": [(turn) => ({ data: { items: turn === 0 ? tags(0, 2) : [], totalItems: 5 } }), 2],
    "the first page is empty although there are items": [() => ({ data: { items: [], total: 5 } }), 1],
    "the cursor stays the same": [(turn) => ({ data: { items: tags(turn * 2, 2), nextCursor: "same" } }), 2],
    "hasMore never ends": [() => ({ data: { items: tags(0, 1), hasMore: true } }), 2],
    "an id appears twice": [() => ({ data: { items: [...tags(0, 2), ...tags(1, 1)], totalItems: 2 } }), 1],
    "the total changes": [(turn) => ({ data: { items: tags(turn * 2, 2), totalItems: 5 - turn } }), 2],
  };
  test.each(Object.entries(rows))("%s", async (_sentence, [page, requests]) => {
    const service = await serve((_request, response, turn) => json(response, page(turn)));
    expect(await clientFor(service.url).list(list)).toMatchObject({
      completeness: "short",
      why: expect.stringMatching(/^GET \/v1\/tags: the list could not be read completely: /u),
    });
    expect(service.received).toHaveLength(requests);
  });

  test("a later page that fails fails the list", async () => {
    const service = await serve((_request, response, turn) =>
      turn === 0 ? json(response, { data: { items: tags(0, 2), total: 5 } }) : json(response, {}, 400),
    );
    expect(await failureOf(clientFor(service.url).list(list))).toMatchObject({ status: 400, path: "/v1/tags?offset=2&limit=2" });
  });
});
