import { isObject, own } from "../model/json.ts";
import type { Listing } from "../model/service.ts";
import type { Envelope } from "./decode/members.ts";
import { listOf, memberOf, type Part } from "./decode/members.ts";

/*
 * The interface shows no paging for the lists of integrations, tags and users (§4.6), so the first request has no parameters. But if an answer speaks of more
 * than it holds, following is right: a missing object would look like one to be created. What the answer may say: `totalItems` or `total`, `hasMore`,
 * `nextCursor`, in `data` or beside it. A page must bring something new, else the parameters were not understood and the list stays incomplete:
 * the list is "short" then, never a loop; nothing is created on its word.
 */

/** More than any account holds; an endless list ends here. */
const mostPages = 10_000;

interface Paging {
  readonly total: number | undefined;
  readonly hasMore: boolean | undefined;
  /** undefined: not mentioned; "": this was the last page. */
  readonly nextCursor: string | undefined;
}

/**
 * Reads a list to its end; "short" where the pages don't add up to what they announce. Items with an id seen before are dropped.
 * @throws ServiceError E_MALFORMED_ANSWER
 */
export async function readPages<T extends { readonly id: string }>(
  path: string,
  get: (path: string) => Promise<Envelope>,
  decode: (part: Part) => T,
): Promise<Listing<T>> {
  const byId = new Map<string, T>();
  const cursors = new Set<string>();
  let received = 0;
  let pageSize = 0;
  let announced: number | undefined;
  let next = path;
  const short = (reason: string): Listing<T> => ({
    items: [...byId.values()],
    completeness: "short",
    why: `GET ${path}: the list can't be read in full: ${reason}`,
  });

  for (let page = 1; page <= mostPages; page += 1) {
    const envelope = await get(next);
    const parts = listOf(memberOf(envelope.data, "items"));
    const known = byId.size;
    for (const part of parts) {
      const item = decode(part);
      if (!byId.has(item.id)) byId.set(item.id, item);
    }
    received += parts.length;
    pageSize = Math.max(pageSize, parts.length);
    const paging = pagingOf(envelope);
    if (announced !== undefined && paging.total !== undefined && paging.total !== announced)
      return short("its total changed while it was read. Run the command again.");
    announced = paging.total;

    if (!saysMore(paging, byId.size)) return { items: [...byId.values()], completeness: saysAll(paging, byId.size) ? "shown" : "unknown" };
    if (byId.size === known) return short("there is more than it holds, but asking for more brings nothing new.");
    if (paging.nextCursor !== undefined && paging.nextCursor !== "") {
      if (cursors.has(paging.nextCursor)) return short("it gives the same cursor again and again.");
      cursors.add(paging.nextCursor);
      next = withQuery(path, { cursor: paging.nextCursor });
    } else {
      next = withQuery(path, { offset: String(received), limit: String(pageSize) });
    }
  }
  return short(`it has no end within ${mostPages} pages.`);
}

function saysMore({ total, hasMore, nextCursor }: Paging, count: number): boolean {
  return (nextCursor !== undefined && nextCursor !== "") || (total !== undefined && total > count) || hasMore === true;
}

/** Only asked where nothing says that there is more. */
function saysAll({ total, hasMore, nextCursor }: Paging, count: number): boolean {
  return total === count || hasMore === false || nextCursor === "";
}

function pagingOf(envelope: Envelope): Paging {
  const members = (name: string): readonly unknown[] =>
    [envelope.data.value, envelope.top.value]
      .map((value) => (isObject(value) ? own(value, name) : undefined))
      .filter((value) => value !== undefined);
  const totals = [...members("totalItems"), ...members("total")];
  const cursor = members("nextCursor").find((value) => value === null || typeof value === "string" || typeof value === "number");
  return {
    total: totals.find((value): value is number => Number.isSafeInteger(value)),
    hasMore: members("hasMore").find((value) => typeof value === "boolean"),
    nextCursor: cursor === undefined ? undefined : cursor === null ? "" : String(cursor),
  };
}

function withQuery(path: string, query: Readonly<Record<string, string>>): string {
  return `${path}?${new URLSearchParams(query).toString()}`;
}
