import { createAsset, patchAsset } from "../handlers/assets.ts";
import { listAuditLogs } from "../handlers/audit.ts";
import { deleteAsset, deleteIntegration, deleteTag, editIntegration, reshapeSchemas } from "../handlers/console.ts";
import { createTag, getAsset, patchIntegration, postTag, unrelateTag } from "../handlers/extended.ts";
import { createIntegration, getColumns, getIntegration, getSchemas, listIntegrations, patchSchemas } from "../handlers/integrations.ts";
import { getTag, listTags, putTag, relateTag } from "../handlers/tags.ts";
import { type CallResult, filled, invalid, RefusedCall, type ServedCall } from "./call.ts";
import { listed } from "./paging.ts";

type Handler = (call: ServedCall) => CallResult;

/** A call of the interface. Segments of the template such as `{id}` are `params` of the call. */
export type RouteEntry = readonly [method: string, template: string, handler: Handler];

/** The interface, then the console, which is not part of it. */
const table: readonly RouteEntry[] = [
  ["GET", "/v1/integrations", listIntegrations],
  ["POST", "/v1/integrations", createIntegration],
  ["GET", "/v1/integrations/{id}", getIntegration],
  ["GET", "/v1/integrations/{id}/schemas", getSchemas],
  ["PATCH", "/v1/integrations/{id}/schemas", patchSchemas],
  ["GET", "/v1/integrations/{id}/schemas/{schema}/tables/{table}/columns", getColumns],
  ["GET", "/v1/tags", listTags],
  ["GET", "/v1/tags/{id}", getTag],
  ["PUT", "/v1/tags/{id}", putTag],
  ["POST", "/v1/tags/{id}/relation", relateTag],
  ["POST", "/v1/assets", createAsset],
  ["PATCH", "/v1/assets/{id}", patchAsset],
  ["GET", "/v1/audit-logs", listAuditLogs],
  ["GET", "/v1/users", (call) => listed(call, call.account.users, filled, "Users listed")],
  ["POST", "/_console/integrations/{id}", editIntegration],
  ["DELETE", "/_console/integrations/{id}", deleteIntegration],
  ["PATCH", "/_console/integrations/{id}/schemas", reshapeSchemas],
  ["POST", "/_console/tags", createTag],
  ["DELETE", "/_console/tags/{id}", deleteTag],
  ["DELETE", "/_console/tags/{id}/relation", unrelateTag],
  ["DELETE", "/_console/assets/{id}", deleteAsset],
];

/** What only the public descriptions of the service show. */
const extendedTable: readonly RouteEntry[] = [
  ["PATCH", "/v1/integrations/{id}", patchIntegration],
  ["POST", "/v1/tags", postTag],
  ["DELETE", "/v1/tags/{id}/relation", unrelateTag],
  ["GET", "/v1/assets/{id}", getAsset],
];

const compiled = (entries: readonly RouteEntry[]) =>
  entries.map(([method, template, handler]) => ({ method, segments: template.split("/"), handler }));

const routes = compiled(table);
const extendedRoutes = compiled([...table, ...extendedTable]);

/**
 * The route for a path as sent. Segments are split before they are decoded, and nothing is normalised: `a%2Fb` and `..` are names. Throws
 * a 404 for an unknown path, a 405 for an unknown method, a 400 for broken percent-encoding.
 */
export function routeOf(
  { method, path }: { readonly method: string; readonly path: string },
  { routes: more = [], extended }: { readonly routes?: readonly RouteEntry[]; readonly extended: boolean },
): Pick<ServedCall, "params"> & { readonly handler: Handler } {
  const segments = path.split("/");
  const candidates = [...(extended ? extendedRoutes : routes), ...compiled(more)].filter((route) => fits(route.segments, segments));
  if (candidates.length === 0) throw new RefusedCall(404, "not_found", "There is no such path.", { seen: { form: "status" } });
  const route = candidates.find((candidate) => candidate.method === method);
  if (route === undefined) {
    const allow = candidates.map((candidate) => candidate.method).join(", ");
    throw new RefusedCall(405, "method_not_allowed", `This path supports ${allow}.`, { headers: { allow } });
  }
  const params = route.segments.flatMap((name, i) => (name.startsWith("{") ? [[name.slice(1, -1), decode(segments[i] ?? "")]] : []));
  return { handler: route.handler, params: Object.fromEntries(params) };
}

function fits(template: readonly string[], segments: readonly string[]): boolean {
  return template.length === segments.length && template.every((name, i) => name.startsWith("{") || name === segments[i]);
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw invalid("The path contains invalid percent-encoding.");
  }
}
