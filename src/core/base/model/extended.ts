import type { ServiceError } from "./errors.ts";

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
