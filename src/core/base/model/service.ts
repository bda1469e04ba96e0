import type { ResponsePart } from "./decode.ts";
import type { ServiceError } from "./errors.ts";
import type { JsonObject, JsonValue } from "./json/json.ts";
import type { AuditEntry, LiveColumn, LiveSchemas } from "./live.ts";
import type { Secret } from "./settings/secret.ts";

/** An object of a list. */
export interface Listed {
  readonly id: string;
  readonly name: string | undefined;
}

/** A list of the service, and how its objects are decoded. */
export interface List<T extends Listed = Listed> {
  /** The part of the path after `/v1/`, and the member of `unmanaged` in plans: "integrations". */
  readonly name: string;
  readonly decode: (item: ResponsePart) => T;
  /** Decodes `data` of `/v1/NAME/ID`; absent if the service has no such call. */
  readonly one?: (data: ResponsePart) => T;
  /** The request for one object, if the interface document does not have it; then `decode` is for it alone. */
  readonly extended?: ExtendedCall;
  /** The object with this id while the service still creates it, and refuses to show it with `IntegrationInCreation`. */
  readonly inCreation?: (id: string) => T;
  /** The member that an object of the list lacks: "destination". What the list returns is then incomplete, such as a draft. */
  lacks?(item: T): string | undefined;
  /** The object as the list shows it; absent if the list shows all that GET of one object does. */
  brief?(whole: T): T;
  /** Members that some services show only of one object. They are read if a manifest has them, and if a target says that its service has them. */
  readonly details?: readonly string[];
  /** Whether dimsync creates such objects, so that one that the list lacks would be created again. */
  readonly isCreated?: true;
}

/** An entry of a list that could not be read. */
export interface UnreadEntry {
  readonly index: number;
  /** What it shows of itself. */
  readonly id?: string;
  readonly name?: string;
  /** A sentence with the request and the member. */
  readonly why: string;
}

/** A list as the service returned it. */
export interface Listing<T> {
  readonly items: readonly T[];
  /** The entries that are not in `items`, because they could not be read; absent: none. */
  readonly unread?: readonly UnreadEntry[];
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
  list<T extends Listed>(list: List<T>): Promise<Listing<T>>;
  /** Undefined also if the service has no call that reads one, or the target does not say that it has it. */
  one<T extends Listed>(list: List<T>, id: string): Promise<T | undefined>;
  /** Whether the request may be sent: the target says that its service has it, and no answer of this run says otherwise. */
  offers?(call: ExtendedCall): boolean;
  schemas(integrationId: string): Promise<SchemasRead | undefined>;
  columns(integrationId: string, schema: string, table: string): Promise<Readonly<Record<string, LiveColumn>> | undefined>;
  /** One page. `unread`: the entries that cannot be read. */
  auditLogs(
    query: AuditQuery,
  ): Promise<{ readonly totalItems: number; readonly items: readonly AuditEntry[]; readonly unread?: readonly UnreadEntry[] }>;
}

/** The schemas of an integration. */
export interface SchemasRead {
  readonly tree: LiveSchemas;
  /** A sentence that says why the service has none yet; then the tree is empty. */
  readonly notYet?: string;
  /** Tables that cannot be read. The tree has them without members. */
  readonly unread?: readonly UnreadTable[];
}

export interface UnreadTable {
  readonly path: readonly [schema: string, table: string];
  readonly failure: ServiceError;
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
  readonly method: "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the base URL, percent-encoded: "/v1/integrations/8f1c/schemas". */
  readonly path: string;
  readonly body: JsonObject;
}

/** A body ready to be sent, with a `Secret` for each secret value. */
export type SendableValue = JsonValue | Secret | readonly SendableValue[] | { readonly [key: string]: SendableValue };

export interface SendableRequest {
  readonly method: "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body: { readonly [key: string]: SendableValue };
}

/** The response to a write: the envelope's `data` undecoded, and the int64 `id` of create (docs/service-interface.md#integrations) as exact decimal text. */
export interface WriteAnswer {
  readonly status: number;
  readonly data: JsonValue | undefined;
  readonly int64Id: string | undefined;
  /** The id of an object below the path of the request, to which the header Location points. */
  readonly locatedId?: string;
  /** What the service says of it. */
  readonly words?: string;
  /** The response has no body: it was accepted, and nothing shows what was stored. */
  readonly isEmpty?: true;
}

/** Decodes the responses to writes. Malformed responses throw ServiceError. */
export interface WriteDecoder {
  /** PATCH of an integration's schemas: the full map (docs/service-interface.md#schema-configuration). */
  schemas(answer: WriteAnswer): LiveSchemas;
  /** PUT of an object of a list: the object as the list shows it (docs/service-interface.md#tags). */
  put<T extends Listed>(list: List<T>, answer: WriteAnswer): T;
}

/** The requests beyond the interface document that dimsync can use. */
const extendedCalls = ["PATCH /v1/integrations/{id}", "POST /v1/tags", "DELETE /v1/tags/{id}/relation", "GET /v1/assets/{id}"] as const;

export type ExtendedCall = (typeof extendedCalls)[number];

const patterns = extendedCalls.map((call) => [call, new RegExp(`^${call.replace("{id}", "[^/]+")}$`, "u")] as const);

/** The extended request that this is, if it is one. */
export const extendedCallOf = ({ method, path }: { readonly method: string; readonly path: string }): ExtendedCall | undefined =>
  patterns.find(([, pattern]) => pattern.test(`${method} ${path}`))?.[0];

/** Whether the service refused the request because it does not have it. A 404 with a code such as NotFound_Integration, or with words about the object, is about the object. */
export const isNotOffered = ({ status, serviceCode, isUnknownPath }: ServiceError): boolean =>
  status === 405 || (status === 404 && (serviceCode === undefined ? isUnknownPath : !serviceCode.startsWith("NotFound_")));

/** The extended requests of a target that may be used: `missing` are those that its service turned out not to have. */
export interface Extended {
  readonly missing: ReadonlySet<ExtendedCall>;
}

/** Whether this run may send the request. `extended` is absent if the target does not say that its service has such requests. */
export const maySend = (extended: Extended | undefined, call: ExtendedCall): boolean =>
  extended !== undefined && !extended.missing.has(call);

/** Why the run does not send the request: the end of a sentence. */
export const whyNotSent = (extended: Extended | undefined, call: ExtendedCall): string =>
  extended === undefined
    ? `the interface document has no request for it. If the service has ${call}, set service: { extended: true } for the target, and dimsync sends it.`
    : `the service has no ${call}.`;
