import { isObject, own } from "../../model/json.ts";
import type { LiveIntegration } from "../../model/live.ts";
import type { Listing } from "../../model/service.ts";
import { urlPath } from "../../model/url-path.ts";
import type { Client } from "../../service/client.ts";

export type Verdict = "ok" | "warn" | "fail";

/** One thing that was looked at. */
export interface Check {
  readonly check: string;
  readonly verdict: Verdict;
  /** What was found, in a sentence. */
  readonly found: string;
  /** What a person should do; absent where all is well. */
  readonly advice?: string;
}

export const ok = (check: string, found: string): Check => ({ check, verdict: "ok", found });
export const warn = (check: string, found: string, advice: string): Check => ({ check, verdict: "warn", found, advice });
export const fail = (check: string, found: string, advice: string): Check => ({ check, verdict: "fail", found, advice });

/** Which reads the key may make. The lists that manifests need must answer; the audit log is for attribution only. */
export async function permissionChecks(client: Client, integration: LiveIntegration | undefined): Promise<readonly Check[]> {
  const probes: readonly { readonly check: string; readonly path: string; readonly needed: string | undefined }[] = [
    { check: "read tags", path: "/v1/tags", needed: "plans with Tag manifests" },
    { check: "read users", path: "/v1/users", needed: "plans that name people by e-mail" },
    { check: "read audit log", path: "/v1/audit-logs?limit=1", needed: undefined },
    ...(integration === undefined
      ? []
      : [
          {
            check: "read schemas",
            path: urlPath(["v1", "integrations", integration.id, "schemas"]),
            needed: "plans with SchemaConfig manifests",
          },
        ]),
  ];
  return Promise.all(
    probes.map(async ({ check, path, needed }) => {
      try {
        await client.raw(path);
        return ok(check, `GET ${path.replace(/\?.*$/u, "")} answers.`);
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        if (needed === undefined)
          return warn(
            check,
            message,
            "Drift reports will say that attribution is not available. Give the key access to the audit log if that matters.",
          );
        return fail(check, message, `It is needed for ${needed}. Give the key access.`);
      }
    }),
  );
}

/** Which of the two forms GET schemas answers in (interface §4.3), told from the raw answer of one integration. */
export async function answerFormCheck(client: Client, integration: LiveIntegration | undefined): Promise<Check> {
  const check = "answer form";
  if (integration === undefined) return ok(check, "The account has no integration, so there is no schema to look at.");
  try {
    const answer = await client.raw(urlPath(["v1", "integrations", integration.id, "schemas"]));
    const form = formOf(answer);
    if (form === "unknown") return ok(check, `The schemas of ${integration.name} are empty.`);
    return form === "camel"
      ? ok(check, "GET schemas answers in camelCase, with columns: one read an integration.")
      : warn(
          check,
          `GET schemas answers in ${form === "snake" ? "snake_case" : "camelCase"}, without columns.`,
          "Columns are read table by table, where a rule needs them. Keep column rules to the tables that matter, or plans take long.",
        );
  } catch (error) {
    return fail(check, error instanceof Error ? error.message : String(error), "Without schemas no SchemaConfig can be planned.");
  }
}

function formOf(answer: unknown): "camel" | "camel-without-columns" | "snake" | "unknown" {
  const data = isObject(answer) ? own(answer, "data") : undefined;
  const schemas = isObject(data) ? own(data, "schemas") : undefined;
  for (const schema of Object.values(isObject(schemas) ? schemas : {})) {
    const tables = isObject(schema) ? own(schema, "tables") : undefined;
    for (const table of Object.values(isObject(tables) ? tables : {})) {
      if (!isObject(table)) continue;
      if (Object.hasOwn(table, "columns")) return "camel";
      return Object.hasOwn(table, "sync_mode") || Object.hasOwn(table, "name_in_destination") ? "snake" : "camel-without-columns";
    }
  }
  return "unknown";
}

/** Whether lists react to `?limit=1`, which the interface doesn't say (§4.6): then a list that was read may be one page of more. */
export async function pagingCheck(client: Client, whole: number, completeness: Listing<unknown>["completeness"]): Promise<Check> {
  const check = "paging";
  if (completeness === "short")
    return fail(
      check,
      `GET /v1/integrations answers ${whole} integrations and says that there are more.`,
      "Plans would be blind to the others. Tell the service's support.",
    );
  if (completeness === "shown") return ok(check, "The lists say themselves that they are whole.");
  if (whole < 2) return ok(check, `The account has ${whole} integrations: too few to tell whether lists come in pages.`);
  try {
    const answer = await client.raw("/v1/integrations?limit=1");
    const data = isObject(answer) ? own(answer, "data") : undefined;
    const items = isObject(data) ? own(data, "items") : undefined;
    const count = Array.isArray(items) ? items.length : undefined;
    if (count === whole) return ok(check, `GET /v1/integrations?limit=1 answers all ${whole}: lists don't come in pages.`);
    return warn(
      check,
      `GET /v1/integrations?limit=1 answers ${count ?? "no list"} of ${whole}: lists come in pages, and say nothing of it.`,
      "dimsync then creates nothing on the word of a list of a round length. Tell the service's support, and look at the number of integrations.",
    );
  } catch (error) {
    return ok(
      check,
      `GET /v1/integrations?limit=1 is refused (${error instanceof Error ? error.message : String(error)}): lists take no limit.`,
    );
  }
}

/** Ten seconds are lost in the network and in whole seconds; five minutes make audit log windows and expiries wrong. */
export function clockCheck(serverMs: number | undefined, localMs: number): Check {
  const check = "clock";
  if (serverMs === undefined) return ok(check, "The service's answers don't tell its time.");
  const seconds = Math.round((localMs - serverMs) / 1000);
  const found = `This machine's clock is ${Math.abs(seconds)} s ${seconds < 0 ? "behind" : "ahead of"} the service's.`;
  if (Math.abs(seconds) < 10) return ok(check, "This machine's clock agrees with the service's.");
  return Math.abs(seconds) < 300
    ? warn(check, found, "Attribution looks at times in the audit log. Let the clock be set by NTP.")
    : fail(check, found, "Attribution, expiries and the age of saved plans go by the clock. Let it be set by NTP.");
}
