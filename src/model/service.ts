import type { JsonObject, JsonValue } from "./json/json.ts";
import type { AuditEntry, LiveColumn, LiveIntegration, LiveSchemas, LiveTag, LiveUser } from "./live.ts";
import type { Secret } from "./settings/secret.ts";

/** A list as the service returned it. */
export interface Listing<T> {
  readonly items: readonly T[];
  /**
   * "shown": totals or cursors in the response show that the list is complete. "unknown": nothing shows it
   * (docs/service-interface.md#users). "short": they announce more items, and dimsync could not read them.
   */
  readonly completeness: "shown" | "unknown" | "short";
  /** A sentence that says why a list is "short". */
  readonly why?: string;
}

/** The GET requests of the interface, decoded. A failed or malformed read throws ServiceError; 404 of one object is `undefined`. */
export interface Reads {
  integrations(): Promise<Listing<LiveIntegration>>;
  integration(id: string): Promise<LiveIntegration | undefined>;
  schemas(integrationId: string): Promise<LiveSchemas | undefined>;
  columns(integrationId: string, schema: string, table: string): Promise<Readonly<Record<string, LiveColumn>> | undefined>;
  tags(): Promise<Listing<LiveTag>>;
  tag(id: string): Promise<LiveTag | undefined>;
  users(): Promise<Listing<LiveUser>>;
  auditLogs(query: AuditQuery): Promise<{ readonly totalItems: number; readonly items: readonly AuditEntry[] }>;
}

/** docs/service-interface.md#audit-log; dates are ISO 8601, `startAt` inclusive, `endAt` exclusive. */
export interface AuditQuery {
  readonly limit?: number;
  readonly offset?: number;
  readonly sortOrder?: "asc" | "desc";
  readonly startAt?: string;
  readonly endAt?: string;
}

/** One write as plain data. In a plan, `body` has `$secret` references; a `Secret` replaces them just before sending. */
export interface PlannedRequest {
  readonly method: "POST" | "PUT" | "PATCH";
  /** Below the base URL, percent-encoded: "/v1/integrations/8f1c/schemas". */
  readonly path: string;
  readonly body: JsonObject;
}

/** A body ready to be sent, with a `Secret` for each secret value. */
export type SendableValue = JsonValue | Secret | readonly SendableValue[] | { readonly [key: string]: SendableValue };

export interface SendableRequest {
  readonly method: "POST" | "PUT" | "PATCH";
  readonly path: string;
  readonly body: { readonly [key: string]: SendableValue };
}

/** The response to a write: the envelope's `data` undecoded, and the int64 `id` of create (docs/service-interface.md#integrations) as exact decimal text. */
export interface WriteAnswer {
  readonly status: number;
  readonly data: JsonValue | undefined;
  readonly int64Id: string | undefined;
}

/** Decodes the responses to writes. Malformed responses throw ServiceError. */
export interface WriteDecoder {
  /** PATCH of an integration's schemas: the full map (docs/service-interface.md#schema-configuration). */
  schemas(answer: WriteAnswer): LiveSchemas;
  /** PUT of a tag: the tag without taggedResources (docs/service-interface.md#tags). */
  tag(answer: WriteAnswer): LiveTag;
}
