import { readOr } from "../model/errors.ts";
import { isObject, own } from "../model/json/json.ts";
import { urlPath } from "../model/json/pointer.ts";
import type { LiveIntegration } from "../model/live.ts";
import type { Listing } from "../model/service.ts";
import type { Client } from "../service/client.ts";
import { type Check, fail, ok, skip, warn } from "./check.ts";

/** What `accountChecks` checks, in this order; all are skipped if the service does not respond or refuses the key. */
export const accountCheckNames = ["read tags", "read users", "read audit log", "read schemas", "response form", "paging"] as const;

/** Which reads the key allows, and what the responses look like. Each check sends at most one GET. */
export async function accountChecks(client: Client, integrations: Listing<LiveIntegration>): Promise<readonly Check[]> {
  const [tags, users, auditLog, schemas, paging] = await Promise.all([
    readCheck(client, { check: "read tags", path: "/v1/tags", neededFor: "plans with Tag manifests" }),
    readCheck(client, { check: "read users", path: "/v1/users", neededFor: "plans that name users by e-mail address" }),
    auditLogCheck(client),
    schemaChecks(client, integrations.items[0]),
    pagingCheck(client, integrations),
  ]);
  return [tags, users, auditLog, ...schemas, paging];
}

interface Probe {
  readonly check: string;
  readonly path: string;
  /** What does not work without this read. */
  readonly neededFor: string;
}

async function readCheck(client: Client, { check, path, neededFor }: Probe): Promise<Check> {
  const response = await get(client, path);
  return "error" in response
    ? fail(check, response.error, `This read is needed for ${neededFor}. Give the key access to it.`)
    : ok(check, `GET ${path} works.`);
}

async function auditLogCheck(client: Client): Promise<Check> {
  const check = "read audit log";
  const response = await get(client, "/v1/audit-logs?limit=1");
  return "error" in response
    ? warn(check, response.error, "Drift reports cannot say who made a change. Give the key access to the audit log if you need that.")
    : ok(check, "GET /v1/audit-logs works.");
}

/** The permission to read schemas, and the form of the response, from one GET of one integration's schemas. */
async function schemaChecks(client: Client, integration: LiveIntegration | undefined): Promise<readonly [Check, Check]> {
  const [read, form] = ["read schemas", "response form"];
  if (integration === undefined) {
    const because = "the account has no integrations.";
    return [skip(read, because), skip(form, because)];
  }
  const path = urlPath(["v1", "integrations", integration.id, "schemas"]);
  const response = await get(client, path);
  if ("error" in response)
    return [
      fail(read, response.error, "This read is needed for plans with SchemaConfig manifests. Give the key access to it."),
      skip(form, "the schemas could not be read."),
    ];
  return [ok(read, `GET ${path} works.`), formCheck(form, formOf(response.body), integration.name)];
}

type SchemaForm = "camel" | "camel-without-columns" | "snake" | "unknown";

function formCheck(check: string, form: SchemaForm, integration: string): Check {
  if (form === "unknown") return ok(check, `${integration} has no tables yet, so the form is unknown.`);
  if (form === "camel") return ok(check, "GET schemas returns camelCase with columns: one request per integration.");
  return warn(
    check,
    `GET schemas returns ${form === "snake" ? "snake_case" : "camelCase"} without columns.`,
    "dimsync reads columns with one request per table that a column rule matches. Limit column rules to the tables that need them, or plans take long.",
  );
}

function formOf(response: unknown): SchemaForm {
  for (const schema of membersOf(member(response, "data", "schemas")))
    for (const table of membersOf(member(schema, "tables"))) {
      if (!isObject(table)) continue;
      if (Object.hasOwn(table, "columns")) return "camel";
      return Object.hasOwn(table, "sync_mode") || Object.hasOwn(table, "name_in_destination") ? "snake" : "camel-without-columns";
    }
  return "unknown";
}

/** Whether a list reacts to `?limit=1`. The interface does not document paging; if lists have pages, what was read may be incomplete. */
async function pagingCheck(client: Client, { items, completeness }: Listing<LiveIntegration>): Promise<Check> {
  const check = "paging";
  const whole = items.length;
  if (completeness === "short")
    return fail(
      check,
      `GET /v1/integrations returned ${whole} integrations and states that there are more.`,
      "Plans would ignore the others. Report this to the service's support.",
    );
  if (completeness === "shown") return ok(check, "Lists state that they are complete.");
  if (whole < 2) return ok(check, "The account has fewer than 2 integrations, so it is unknown whether lists have pages.");
  const response = await get(client, "/v1/integrations?limit=1");
  if ("error" in response) return ok(check, `Lists do not accept a limit (${response.error})`);
  const page = member(response.body, "data", "items");
  const count = Array.isArray(page) ? page.length : undefined;
  if (count === whole) return ok(check, `GET /v1/integrations?limit=1 returned all ${whole}: lists have no pages.`);
  return warn(
    check,
    `GET /v1/integrations?limit=1 returned ${count ?? "no list"} of ${whole}: lists have pages, and nothing in the response says so.`,
    "If a list has exactly as many objects as a page would have, such as 100, dimsync creates nothing, because there may be more. Check the number of integrations in the service.",
  );
}

/** Below 10 seconds the difference can be latency and rounding; above 5 minutes, audit log windows and expiry times are wrong. */
export function clockCheck(serverMs: number | undefined, localMs: number): Check {
  const check = "clock";
  if (serverMs === undefined) return ok(check, "The service's responses have no Date header to compare with.");
  const seconds = Math.round((localMs - serverMs) / 1000);
  if (Math.abs(seconds) < 10) return ok(check, "This machine's clock agrees with the service's.");
  const found = `This machine's clock is ${Math.abs(seconds)} s ${seconds < 0 ? "behind" : "ahead of"} the service's.`;
  const advice = "Synchronise the clock with NTP.";
  return Math.abs(seconds) < 300
    ? warn(check, found, `Attribution compares times with the audit log. ${advice}`)
    : fail(check, found, `Attribution, expiry dates and the age of saved plans depend on the clock. ${advice}`);
}

const get = (client: Client, path: string): Promise<{ readonly body: unknown } | { readonly error: string }> =>
  readOr(
    async () => ({ body: await client.raw(path) }),
    ({ message }) => ({ error: message }),
  );

function member(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce((found: unknown, key) => (isObject(found) ? own(found, key) : undefined), value);
}

const membersOf = (value: unknown): readonly unknown[] => (isObject(value) ? Object.values(value) : []);
