import type { AccountState } from "../data/account.ts";
import { isObject, own, type UncheckedObject } from "../data/own.ts";
import type { Behaviour, EmbeddedOptions, ErrorBody } from "../options.ts";

/** The options, with a value for each behaviour. */
export type ServiceOptions = EmbeddedOptions & Behaviour;

/** One authenticated request and the account. Handlers receive nothing else. */
export interface ServedCall {
  readonly account: AccountState;
  readonly options: ServiceOptions;
  /** Decoded path segments by the name in the route's template. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The JSON body; `{}` if the request had none. */
  readonly body: UncheckedObject;
  readonly by: Author;
  readonly now: Date;
}

/** The user in the audit log. */
export interface Author {
  readonly email: string;
  readonly ipAddress: string;
  readonly userAgent: string;
}

/** A response: a status and JSON text. It is text because the response of a create has an integer that JSON.stringify cannot write. */
export interface CallResult {
  readonly status: number;
  readonly text: string;
}

/** A successful response in the envelope of docs/service-interface.md#envelope. */
export function success(data: object | null | undefined, message?: string, status = 200): CallResult {
  return { status, text: JSON.stringify({ code: "success", message, data }) };
}

/** A successful response whose `code` was seen as OK, too. */
export function okay(options: Behaviour, data: object | null): CallResult {
  return { status: 200, text: JSON.stringify({ code: options.members === "recorded" ? "OK" : "success", data }) };
}

/** The object, without empty texts if the responses are those that were recorded. */
export function filled(object: object, options: Behaviour): object {
  if (options.members === "complete") return dressed(object, options);
  return dressed(Object.fromEntries(Object.entries(object).filter(([, value]) => value !== "")), options);
}

/** The object, with members of odd types if the options say so. */
export function dressed(object: object, { oddMembers }: Behaviour): object {
  const odd = ([name, value]: [string, unknown]) => [name, /At$/.test(name) ? Date.parse(String(value)) / 1000 : value];
  return oddMembers ? { ...Object.fromEntries(Object.entries(object).map(odd)), origin: null, latestRunId: 0 } : object;
}

/** How a refusal was seen: its code, if it is not the one of this service, and the form of its body. */
interface Seen {
  readonly code?: string;
  readonly form: Exclude<ErrorBody, "mixed">;
}

/** Refuses the request with a status; the error envelope shows `code` and the message. */
export class RefusedCall extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly seen: Seen;

  constructor(
    status: number,
    code: string,
    message: string,
    { headers = {}, seen = { form: "envelope" } }: { readonly headers?: Readonly<Record<string, string>>; readonly seen?: Seen } = {},
  ) {
    super(message);
    this.name = "Refusal";
    this.status = status;
    this.code = code;
    this.headers = headers;
    this.seen = seen;
  }
}

/** 400: the body or the query is invalid. */
export function invalid(message: string): RefusedCall {
  return new RefusedCall(400, "invalid_request", message, { seen: { form: "list" } });
}

/** 404: the object does not exist. */
export function notFound(what: string, id: string): RefusedCall {
  return new RefusedCall(404, "not_found", `There is no ${what} with the id or name ${JSON.stringify(id)}.`, {
    seen: own(seenNotFound, what) ?? { form: "message" },
  });
}

const seenNotFound: Readonly<Record<string, Seen>> = {
  integration: { code: "NotFound_Integration", form: "envelope" },
  schema: { code: "NotFound_SchemaConfig", form: "nested" },
  table: { code: "NotFound_TableConfig", form: "nested" },
  asset: { form: "status" },
};

/** A path parameter, as the router found it. */
export const param = ({ params }: ServedCall, name: string): string => params[name] ?? "";

/** A required string member of the body; throws a 400 otherwise. */
export function requiredString(body: UncheckedObject, name: string, where = ""): string {
  const value = Object.hasOwn(body, name) ? body[name] : undefined;
  if (typeof value !== "string") throw invalid(`${where}${name} is required and must be a string.`);
  return value;
}

/** A required object member of the body; throws a 400 otherwise. */
export function requiredObject(body: UncheckedObject, name: string): UncheckedObject {
  const value = own(body, name);
  if (!isObject(value)) throw invalid(`${name} is required and must be an object.`);
  return value;
}

/** An optional object member of the body; throws a 400 if it is present and not an object. */
export function optionalObject(body: UncheckedObject, name: string): UncheckedObject | undefined {
  return Object.hasOwn(body, name) ? requiredObject(body, name) : undefined;
}

/** An optional string member of the body; throws a 400 if it is present and not a string. */
export function optionalString(body: UncheckedObject, name: string): string | undefined {
  return Object.hasOwn(body, name) ? requiredString(body, name) : undefined;
}
