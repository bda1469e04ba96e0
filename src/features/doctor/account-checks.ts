import pLimit from "p-limit";
import { tags, users } from "../../core/kinds/lists.ts";
import { schemasAddress } from "../../core/kinds/manifests.ts";
import { readOr, type ServiceError } from "../../core/model/errors.ts";
import { isNotOffered } from "../../core/model/extended.ts";
import { isObject, own } from "../../core/model/json/json.ts";
import { urlPath } from "../../core/model/json/pointer.ts";
import type { LiveIntegration, LiveSchemas } from "../../core/model/live.ts";
import type { List, Listing } from "../../core/model/service.ts";
import type { Client } from "../../core/service/client.ts";
import { counted } from "../../core/text/counts.ts";
import { shellWord } from "../../core/text/shell.ts";
import { type Check, fail, ok, skip, warn } from "./check.ts";

/** What `accountChecks` checks, in this order; all are skipped if the service does not respond or refuses the key. */
export const accountCheckNames = [
  "read tags",
  "read users",
  "read audit log",
  "read schemas",
  "response form",
  "paging",
  "extended",
] as const;

/**
 * Which reads the key allows, and what the responses look like, decoded as plan decodes them. Of the schemas, those of one integration
 * are read, or of all.
 */
export async function accountChecks(
  client: Client,
  integrations: Listing<LiveIntegration>,
  options: { readonly allIntegrations?: boolean; readonly extended?: boolean } = {},
): Promise<readonly Check[]> {
  const [tagsCheck, usersCheck, auditLog, schemas, paging, extended] = await Promise.all([
    listCheck(client, tags, { check: "read tags", neededFor: "plans with Tag manifests" }),
    listCheck(client, users, { check: "read users", neededFor: "plans that name users by e-mail address" }),
    auditLogCheck(client),
    schemaChecks(client, options.allIntegrations === true ? integrations.items : integrations.items.slice(0, 1)),
    pagingCheck(client, integrations),
    extendedCheck(client, integrations, options.extended === true),
  ]);
  return [...entryChecks("read integrations", integrations), tagsCheck, usersCheck, auditLog, ...schemas, paging, extended];
}

interface Probe {
  readonly check: string;
  /** What does not work without this read. */
  readonly neededFor: string;
}

async function listCheck(client: Client, list: List, { check, neededFor }: Probe): Promise<Check> {
  return readOr(
    async () => entryChecks(check, await client.list(list))[0] ?? ok(check, `GET /v1/${list.name} works.`),
    (failure) => fail(check, failure.message, `This read is needed for ${neededFor}. ${wayOut(failure)}`),
  );
}

const wayOut = ({ status }: ServiceError): string =>
  status === 401 || status === 403 ? "Give the role of the API key access to it." : "Run dimsync doctor again when the service answers it.";

/** A warning if entries of a list cannot be read. */
function entryChecks(check: string, { unread: [first, ...others] = [] }: Listing<unknown>): readonly Check[] {
  if (first === undefined) return [];
  const more = others.length === 0 ? "" : ` ${counted(others.length, "more entry")} cannot be read either.`;
  return [
    warn(check, `${first.why}${more}`, "Commands continue without the entry, and block what refers to it. Look for it in the service."),
  ];
}

async function auditLogCheck(client: Client): Promise<Check> {
  const check = "read audit log";
  return readOr(
    async () => {
      await client.auditLogs({ limit: 1 });
      return ok(check, "GET /v1/audit-logs works.");
    },
    (failure) =>
      warn(
        check,
        failure.message,
        `Without it, drift reports cannot say who made a change, and apply creates no assets. ${wayOut(failure)}`,
      ),
  );
}

/** How many schemas are read at a time. The client has a limit of its own for requests. */
const schemasAtOnce = 4;

interface SchemasFound {
  readonly checks: readonly Check[];
  readonly tree: LiveSchemas | undefined;
}

/** Whether plan can read the schemas: one check for those of all integrations that it can read, and one for each other. */
async function schemaChecks(client: Client, all: readonly LiveIntegration[]): Promise<readonly Check[]> {
  const check = "read schemas";
  const [first] = all;
  if (first === undefined)
    return [skip(check, "the account has no integrations."), skip("response form", "the account has no integrations.")];
  const limit = pLimit(schemasAtOnce);
  const found = await Promise.all(all.map((integration) => limit(() => readSchemas(client, integration))));
  const problems = found.flatMap(({ checks }) => checks);
  const allRead = all.length === 1 ? `GET ${schemasPath(first.id)} works.` : `The schemas of all ${all.length} integrations can be read.`;
  return [...(problems.length > 0 ? problems : [ok(check, allRead)]), formCheck(found[0]?.tree, first)];
}

const schemasPath = (id: string): string => urlPath(["v1", "integrations", id, "schemas"]);

async function readSchemas(client: Client, { id, name }: LiveIntegration): Promise<SchemasFound> {
  const check = "read schemas";
  const integration = name === "" ? id : `${name} (${id})`;
  const advice = `Every command that needs these schemas reports this, and continues with other integrations. To leave it out: --exclude ${shellWord(schemasAddress(name || id))}`;
  const failed = (message: string): SchemasFound => ({ checks: [fail(check, message, advice)], tree: undefined });
  return readOr(
    async () => {
      const read = await client.schemas(id);
      if (read === undefined) return failed(`GET of ${integration} returns 404, although the list has it.`);
      if (read.notYet === undefined) return { checks: [], tree: read.tree };
      const notYet = warn(
        check,
        `The service has no schemas of ${integration} yet: ${read.notYet}`,
        "Commands wait for them, or defer what needs them.",
      );
      return { checks: [notYet], tree: read.tree };
    },
    ({ message }) => failed(message),
  );
}

/** How many requests a plan needs for the schemas of an integration. */
function formCheck(tree: LiveSchemas | undefined, { name = "" }: Partial<LiveIntegration> = {}): Check {
  const check = "response form";
  if (tree === undefined) return skip(check, "no schemas could be read.");
  const [table] = Object.values(tree).flatMap(({ tables }) => Object.values(tables));
  if (table === undefined) return ok(check, `${name} has no tables yet, so the form is unknown.`);
  if (table.columns !== undefined) return ok(check, "GET schemas returns columns: one request per integration.");
  return warn(
    check,
    "GET schemas returns no columns.",
    "dimsync reads columns with one request per table that a column rule matches. Limit column rules to the tables that need them, or plans take long.",
  );
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

/** Whether `service.extended` fits the service, by the one read that it allows. This check alone sends that without the switch. */
async function extendedCheck(client: Client, { items }: Listing<LiveIntegration>, isOn: boolean): Promise<Check> {
  const check = "extended";
  const [id] = items.flatMap(({ source, destination }) => [source, destination]).flatMap((asset) => asset?.id ?? []);
  if (id === undefined) return skip(check, "no integration shows the id of an asset.");
  const path = urlPath(["v1", "assets", id]);
  const failure = await readOr(
    async () => void (await client.raw(path)),
    (error) => error,
  );
  if (failure === undefined || (failure.status === 404 && !isNotOffered(failure)))
    return isOn
      ? ok(check, "The service answers GET /v1/assets/{id}, and service.extended is on.")
      : ok(
          check,
          "The service answers GET /v1/assets/{id}. To let dimsync send more requests (docs/writes.md), set service: { extended: true }.",
        );
  if (!isNotOffered(failure)) return skip(check, `it is not known whether the service answers GET /v1/assets/{id}. ${failure.message}`);
  return isOn
    ? warn(check, "service.extended is on, but the service does not answer GET /v1/assets/{id}.", "Remove extended: true from the target.")
    : ok(check, "The service does not answer GET /v1/assets/{id}, and service.extended is off.");
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
