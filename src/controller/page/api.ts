import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageFolder } from "../../manifests/schema/lookup.ts";
import type { Part, Range } from "../views/status.ts";
import { accountFilter, filtered, totalsOf } from "./accounts.ts";
import { accountNamed, bundleNamed, runNamed } from "./named.ts";
import type { PageReads } from "./reads.ts";
import { jsonReply, ProblemError, type Reply } from "./reply.ts";
import type { PageRequest } from "./routes.ts";

// schema/controller-api.json describes each of these.

const defaultLimit = 100;
const highestLimit = 500;

/** `GET /api/v1/accounts`: the accounts that the filter matches, worst first, and the totals of all accounts. */
export async function accountList(reads: PageReads, request: PageRequest): Promise<Reply> {
  const { query } = request;
  const range = rangeOf(query);
  const filter = accountFilter(query);
  const accounts = await reads.accounts();
  const found = await filtered(accounts, filter, reads);
  const items = found.slice(range.offset, range.offset + range.limit);
  const { offset } = range;
  const isLast = offset + items.length >= found.length;
  return jsonReply({ items, total: found.length, offset, totals: totalsOf(accounts) }, isLast ? {} : nextLink(request, range));
}

/** `GET /api/v1/accounts/NAME`. */
export const accountReply = async (reads: PageReads, _: PageRequest, name: string): Promise<Reply> =>
  jsonReply(await accountNamed(reads, name));

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

/** `GET /api/v1/runs/ID`: with its report. */
export const runReply = async (reads: PageReads, _: PageRequest, id: string): Promise<Reply> => jsonReply(await runNamed(reads, id));

/** `GET /api/v1/bundles/DIGEST`. */
export const bundleReply = async (reads: PageReads, _: PageRequest, digest: string): Promise<Reply> =>
  jsonReply(await bundleNamed(reads, digest));

/** `GET /api/v1/findings`: open findings of all accounts, grouped by cause, worst first. */
export const causesReply = (reads: PageReads, request: PageRequest): Promise<Reply> => listReply(reads.causes, request);

/** `GET /api/v1/closed`: findings that were closed in the last 24 hours, grouped by cause, worst first. */
export const closedReply = (reads: PageReads, request: PageRequest): Promise<Reply> => listReply(reads.closed, request);

async function listReply(read: (range: Range) => Promise<Part<unknown>>, request: PageRequest): Promise<Reply> {
  const range = rangeOf(request.query);
  const { items, total } = await read(range);
  const { offset } = range;
  return jsonReply({ items, total, offset }, offset + items.length >= total ? {} : nextLink(request, range));
}

/** `GET /api/v1/openapi.json`. */
export function openApiReply({ base = "" }: PageRequest): Reply {
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
