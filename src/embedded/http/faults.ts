/**
 * A `dropped` write is answered as if it were handled, with what is there, and changes nothing. An `accepted` one is handled, and answered
 * with 202 and without data. The call is not handled after `reset-before`, `html` (the page of a proxy), `status` and `error-200` (status 200 with an error in the
 * body: `code: "error"`, or `ok: false`). After the others it is, and the client does not receive the
 * response, or receives it late.
 */
export type FaultAction =
  | { readonly kind: "reset-before" | "html" | "reset-after" | "truncate" | "empty" | "content-type" | "accepted" | "dropped" }
  | { readonly kind: "error-200"; readonly form: "code" | "ok" }
  | { readonly kind: "status"; readonly status: number; readonly retryAfterSeconds?: number }
  | { readonly kind: "status-after"; readonly status: number }
  | { readonly kind: "delay"; readonly ms: number };

interface Fault {
  /** Upper case, or `*`. */
  readonly method: string;
  readonly path: RegExp;
  /** Applies to this matching request only, counted from 1; undefined: to each. */
  readonly nth: number | undefined;
  readonly action: FaultAction;
}

const plainActions = ["reset-before", "reset-after", "truncate", "html", "empty", "content-type", "accepted", "dropped"] as const;
const usage = `Write METHOD PATHREGEX[@NTH]=ACTION[:ARG], for example: POST /v1/integrations$@1=reset-after. ACTION is ${plainActions.join(", ")}, error-200[:ok], status:CODE[;retry-after=S], status-after:CODE or delay:MS.`;

/**
 * METHOD may be `*`; the expression may match anywhere in the path as sent, or in path and query; NTH counts from 1. Throws an Error with
 * the usage.
 */
export function parseFault(spec: string): Fault {
  // The expression may contain "=" and "@" itself, so the action is what follows the last "=" that isn't the one of retry-after=S.
  const parts = /^([A-Za-z]+|\*)\s+(.+?)(?:@(\d+))?=([^=]*(?:;retry-after=[^=]*)?)$/.exec(spec.trim());
  const [, method = "", expression = "", nth, text = ""] = parts ?? [];
  const action = actionOf(text);
  const path = expressionOf(expression);
  if (action === undefined || path === undefined || nth === "0")
    throw new Error(`The fault ${JSON.stringify(spec)} is not valid. ${usage}`);
  return { method: method.toUpperCase(), path, nth: nth === undefined ? undefined : Number(nth), action };
}

function expressionOf(text: string): RegExp | undefined {
  try {
    return new RegExp(text);
  } catch {
    return undefined;
  }
}

function actionOf(text: string): FaultAction | undefined {
  const plain = plainActions.find((name) => name === text);
  if (plain !== undefined) return { kind: plain };
  if (text === "error-200" || text === "error-200:ok") return { kind: "error-200", form: text === "error-200" ? "code" : "ok" };
  const [, kind, code, retryAfter] = /^(?:(status):([2-5]\d\d)(?:;retry-after=(\d+))?)$/.exec(text) ?? [];
  if (kind !== undefined)
    return { kind: "status", status: Number(code), ...(retryAfter === undefined ? {} : { retryAfterSeconds: Number(retryAfter) }) };
  const [, after] = /^status-after:([2-5]\d\d)$/.exec(text) ?? [];
  if (after !== undefined) return { kind: "status-after", status: Number(after) };
  const [, ms] = /^delay:(\d{1,7})$/.exec(text) ?? [];
  return ms === undefined ? undefined : { kind: "delay", ms: Number(ms) };
}

/** The faults in force, with how often each has matched. */
export interface FaultBook {
  readonly add: (spec: string) => void;
  readonly clear: () => void;
  /** Counts the request for every fault that it matches and returns the action of the first that fires. */
  readonly strike: (method: string, path: string, query: string) => FaultAction | undefined;
}

/** An empty book, or one with these faults. Throws as `parseFault` does. */
export function openFaultBook(specs: readonly string[]): FaultBook {
  const entries = specs.map((spec) => ({ fault: parseFault(spec), seen: 0 }));
  return {
    add: (spec) => void entries.push({ fault: parseFault(spec), seen: 0 }),
    clear: () => void entries.splice(0),
    strike: (method, path, query) => {
      let struck: FaultAction | undefined;
      for (const entry of entries) {
        const { fault } = entry;
        if (fault.method !== "*" && fault.method !== method) continue;
        if (!fault.path.test(path) && !(query !== "" && fault.path.test(`${path}?${query}`))) continue;
        entry.seen += 1;
        if (fault.nth === undefined || fault.nth === entry.seen) struck ??= fault.action;
      }
      return struck;
    },
  };
}
