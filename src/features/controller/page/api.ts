import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageFolder } from "../../../core/manifests/schema/lookup.ts";
import type { Part, Range } from "../views/status.ts";
import { accountFilter, filtered, totalsOf } from "./accounts.ts";
import { accountNamed, type PageReads } from "./reads.ts";
import { jsonReply, ProblemError, type Reply } from "./reply.ts";
import type { Handler, PageRequest } from "./routes.ts";

// schema/controller-api.json describes each of these.

const defaultLimit = 100;
const highestLimit = 500;

/** `GET /api/v1/accounts`: the accounts that the filter matches, worst first, and the totals of all accounts. */
export const accountList = listReply(async (reads, { offset, limit }, query) => {
  const filter = accountFilter(query);
  const accounts = await reads.accounts();
  const found = await filtered(accounts, filter, reads);
  return { items: found.slice(offset, offset + limit), total: found.length, totals: totalsOf(accounts) };
});

type ReadPart = (reads: PageReads, range: Range, query: URLSearchParams) => Promise<Part<unknown>>;

/** Replies with the part of a list that `limit` and `offset` select. */
export function listReply(read: ReadPart): Handler {
  return async (reads, request) => {
    const range = rangeOf(request.query);
    const { offset } = range;
    const { items, total, ...rest } = await read(reads, range, request.query);
    return jsonReply({ items, total, offset, ...rest }, offset + items.length >= total ? {} : nextLink(request, range));
  };
}

/** `GET /api/v1/runs?account=NAME`: newest first. */
export async function runList(reads: PageReads, request: PageRequest): Promise<Reply> {
  const { query } = request;
  const name = query.get("account") ?? "";
  if (name === "")
    throw new ProblemError({ status: 400, title: "Account missing", detail: "Name the account: /api/v1/runs?account=NAME." });
  const range = rangeOf(query);
  const account = await accountNamed(reads, name);
  // One more shows whether there is a next page.
  const runs = await reads.runs(account.name, { ...range, limit: range.limit + 1 });
  return jsonReply({ items: runs.slice(0, range.limit), offset: range.offset }, runs.length > range.limit ? nextLink(request, range) : {});
}

/** `GET /api/v1/openapi.json`. */
export async function openApiReply(_: PageReads, { base = "" }: PageRequest): Promise<Reply> {
  const document = JSON.parse(readFileSync(join(packageFolder(), "schema/controller-api.json"), "utf8"));
  return jsonReply({ ...document, servers: [{ url: base === "" ? "/" : base }] }, { "cache-control": "no-cache" });
}

/** RFC 8288. */
function nextLink({ path, query, base = "" }: PageRequest, { offset, limit }: Range): Readonly<Record<string, string>> {
  const next = new URLSearchParams(query);
  next.set("offset", String(offset + limit));
  return { link: `<${base}${path}?${next}>; rel="next"` };
}

function rangeOf(query: URLSearchParams): Range {
  const limit = wholeNumber(query, "limit", defaultLimit);
  if (limit < 1 || limit > highestLimit) throw badNumber("limit", `between 1 and ${highestLimit}`);
  return { limit, offset: wholeNumber(query, "offset", 0) };
}

function wholeNumber(query: URLSearchParams, name: string, absent: number): number {
  const text = query.get(name);
  if (text === null) return absent;
  if (!/^\d{1,9}$/u.test(text)) throw badNumber(name, "of at most 9 digits");
  return Number(text);
}

const badNumber = (name: string, range: string): ProblemError =>
  new ProblemError({ status: 400, title: "Invalid number", detail: `${name} must be a whole number ${range}.` });
