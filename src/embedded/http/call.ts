import type { AccountState } from "../data/account.ts";
import type { JsonObject } from "../data/own.ts";
import type { EmbeddedOptions } from "../options.ts";

/** One authenticated request with its place in the account; handlers get nothing else. */
export interface Call {
  readonly account: AccountState;
  readonly options: EmbeddedOptions;
  /** Decoded path segments by the name in the route's template. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The JSON body; `{}` where the request had none. */
  readonly body: JsonObject;
  readonly by: Author;
  readonly now: Date;
}

/** Who the audit log names. */
export interface Author {
  readonly email: string;
  readonly ipAddress: string;
  readonly userAgent: string;
}

/** What goes back: a status and JSON text (text, because the create answer carries an integer that JSON.stringify can't write). */
export interface Answer {
  readonly status: number;
  readonly text: string;
}

/** A successful answer in the envelope of interface §2.1. */
export function success(data: object | undefined, message?: string, status = 200): Answer {
  return { status, text: JSON.stringify({ code: "success", message, data }) };
}

/** The request is refused with that status; `code` and the message are what the error envelope shows. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = "Refusal";
    this.status = status;
    this.code = code;
    this.headers = headers;
  }
}

/** 400: the body or the query is not as the interface wants it. */
export function invalid(message: string): Refusal {
  return new Refusal(400, "invalid_request", message);
}

/** 404: there is no such thing. */
export function notFound(what: string, id: string): Refusal {
  return new Refusal(404, "not_found", `There is no ${what} with the id or name ${JSON.stringify(id)}.`);
}

/** A path parameter; the router has put it there. */
export function param(call: Call, name: string): string {
  const value = call.params[name];
  if (value === undefined) throw new Error(`The route has no parameter ${name}.`);
  return value;
}

/** A required string member of the body; throws a 400 otherwise. */
export function requiredString(body: JsonObject, name: string, where = ""): string {
  const value = Object.hasOwn(body, name) ? body[name] : undefined;
  if (typeof value !== "string") throw invalid(`${where}${name} is required and must be a string.`);
  return value;
}

/** An optional string member of the body; throws a 400 if it is there and not a string. */
export function optionalString(body: JsonObject, name: string): string | undefined {
  return Object.hasOwn(body, name) ? requiredString(body, name) : undefined;
}
