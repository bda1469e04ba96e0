import type { JsonObject, JsonValue } from "./json.ts";
import type { AuditEntry, LiveColumn, LiveIntegration, LiveSchemas, LiveTag, LiveUser } from "./live.ts";
import type { Secret } from "./secret.ts";

/** A list as the service gave it. */
export interface Listing<T> {
  readonly items: readonly T[];
  /**
   * "shown": the answer's own totals or cursors say that this is all; "unknown": nothing says so (interface §4.6); "short": they speak of more, and asking
   * for it did not bring it.
   */
  readonly completeness: "shown" | "unknown" | "short";
  /** A sentence that says why a list is "short". */
  readonly why?: string;
}

/** The reads of the interface (§4), decoded. A failed or malformed read throws ServiceError; 404 of one object is `undefined`. */
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

/** interface §4.5; dates are ISO 8601, `startAt` inclusive, `endAt` exclusive. */
export interface AuditQuery {
  readonly limit?: number;
  readonly offset?: number;
  readonly sortOrder?: "asc" | "desc";
  readonly startAt?: string;
  readonly endAt?: string;
}

/** One write as plain data. `body` in a plan holds `$secret` references; the values replace them as `Secret` just before sending. */
export interface PlannedRequest {
  readonly method: "POST" | "PUT" | "PATCH";
  /** Below the base URL, percent-encoded: "/v1/integrations/8f1c/schemas". */
  readonly path: string;
  readonly body: JsonObject;
}

/** A body ready to be sent: `Secret` stands where a secret value goes. */
export type SendableValue = JsonValue | Secret | readonly SendableValue[] | { readonly [key: string]: SendableValue };

export interface SendableRequest {
  readonly method: "POST" | "PUT" | "PATCH";
  readonly path: string;
  readonly body: { readonly [key: string]: SendableValue };
}

/** The answer to a write: the envelope's `data` undecoded, and the int64 `id` of create (interface §4.1) as exact decimal text. */
export interface WriteAnswer {
  readonly status: number;
  readonly data: JsonValue | undefined;
  readonly int64Id: string | undefined;
}

/** What the answers to writes show, decoded; malformed answers throw ServiceError. */
export interface WriteDecoder {
  /** PATCH of an integration's schemas: the full map (interface §4.3). */
  schemas(answer: WriteAnswer): LiveSchemas;
  /** PUT of a tag: the tag without taggedResources (interface §4.2). */
  tag(answer: WriteAnswer): LiveTag;
}
