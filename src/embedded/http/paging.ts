import type { Behaviour, Paging } from "../options.ts";
import { type CallResult, invalid, type ServedCall, success } from "./call.ts";

/** The answer to GET of a list whose items are shown in this form. */
export const listed = <T>(
  call: ServedCall,
  items: readonly T[],
  form: (item: T, options: Behaviour) => object,
  message?: string,
): CallResult => {
  const { options, query } = call;
  const shown = items.map((item) => form(item, options));
  return success(pageOf(shown, options.paging, query), message);
};

/**
 * `data` of a list response. The interface does not say whether lists have pages, so the style decides: `nextCursor` takes `cursor`,
 * the others take `offset` and `limit` (at most the page size), `none` takes nothing. Throws a 400 for a value that it can't read.
 */
function pageOf(items: readonly object[], paging: Paging | undefined, query: URLSearchParams): object {
  if (paging === undefined || paging.style === "none") return { items };
  const { style, size } = paging;
  if (style === "nextCursor") {
    const start = cursorStart(query.get("cursor"));
    const end = start + size;
    return { items: items.slice(start, end), nextCursor: end < items.length ? cursorAt(end) : null };
  }
  const start = whole(query, "offset", 0);
  const end = start + Math.min(whole(query, "limit", size), size);
  const page = items.slice(start, end);
  if (style === "totalItems") return { totalItems: items.length, items: page };
  if (style === "total") return { total: items.length, items: page };
  if (style === "hasMore") return { items: page, hasMore: end < items.length };
  return { items: page };
}

function whole(query: URLSearchParams, name: string, fallback: number): number {
  const text = query.get(name);
  if (text === null) return fallback;
  if (!/^\d{1,15}$/.test(text)) throw invalid(`${name} must be a whole number.`);
  return Number(text);
}

/** Opaque, so that clients can't compute it. */
function cursorAt(position: number): string {
  return Buffer.from(`after:${position}`).toString("base64url");
}

function cursorStart(cursor: string | null): number {
  if (cursor === null) return 0;
  const position = /^after:(\d+)$/.exec(Buffer.from(cursor, "base64url").toString())?.[1];
  if (position === undefined) throw invalid("cursor was not issued by this service.");
  return Number(position);
}
