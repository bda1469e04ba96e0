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

const usage = "Write METHOD PATHREGEX[@NTH]=ACTION[:ARG], for example: POST /v1/integrations$@1=reset-after";
const plainActions = ["reset-before", "reset-after", "truncate", "html", "empty", "content-type", "accepted", "dropped"] as const;

/**
 * Reads `METHOD PATHREGEX[@NTH]=ACTION[:ARG]`. METHOD may be `*`; the expression may match anywhere in the path as sent, or in path and
 * query. Actions: `reset-before`, `reset-after`, `status:CODE[;retry-after=S]`, `status-after:CODE`, `delay:MS`, `truncate`, `html`,
 * `empty`, `content-type`, `accepted`, `dropped`, `error-200[:ok]`. Throws an Error that says what is wrong.
 */
export function parseFault(spec: string): Fault {
  const wrong = (what: string): Error => new Error(`The fault ${JSON.stringify(spec)} is not valid: ${what} ${usage}`);
  // The expression may contain "=" and "@" itself, so the action is what follows the last "=" that isn't the one of retry-after=S.
  const parts = /^(\S+)\s+(.+?)(?:@(\d+))?=([^=]*(?:;retry-after=[^=]*)?)$/.exec(spec.trim());
  if (parts === null) throw wrong("it does not have the right form.");
  const [, method = "", expression = "", nth, action = ""] = parts;
  if (!/^([A-Za-z]+|\*)$/.test(method)) throw wrong("METHOD must be a word such as POST, or *.");
  if (nth === "0") throw wrong("NTH counts from 1.");
  return {
    method: method.toUpperCase(),
    path: expressionOf(expression, wrong),
    nth: nth === undefined ? undefined : Number(nth),
    action: actionOf(action, wrong),
  };
}

function expressionOf(text: string, wrong: (what: string) => Error): RegExp {
  try {
    return new RegExp(text);
  } catch {
    throw wrong("PATHREGEX is not a regular expression.");
  }
}

function actionOf(text: string, wrong: (what: string) => Error): FaultAction {
  const plain = plainActions.find((name) => name === text);
  if (plain !== undefined) return { kind: plain };
  if (text === "error-200" || text === "error-200:ok") return { kind: "error-200", form: text === "error-200" ? "code" : "ok" };
  const status = /^(status|status-after):([2-5]\d\d)(?:;retry-after=(\d+))?$/.exec(text);
  if (status !== null) {
    const [, kind, code, retryAfter] = status;
    if (kind === "status") {
      return { kind, status: Number(code), ...(retryAfter === undefined ? {} : { retryAfterSeconds: Number(retryAfter) }) };
    }
    if (retryAfter === undefined) return { kind: "status-after", status: Number(code) };
    throw wrong("only status takes retry-after.");
  }
  const delay = /^delay:(\d{1,7})$/.exec(text);
  if (delay !== null) return { kind: "delay", ms: Number(delay[1]) };
  if (/^(status|status-after)(:|$)/.test(text))
    throw wrong("status and status-after need a code from 200 to 599, for example status:503;retry-after=2.");
  if (/^delay(:|$)/.test(text)) throw wrong("delay needs whole milliseconds, for example delay:500.");
  throw wrong(`ACTION must be one of ${plainActions.join(", ")}, error-200, status, status-after, delay.`);
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
  let entries = specs.map((spec) => ({ fault: parseFault(spec), seen: 0 }));
  return {
    add: (spec) => {
      entries.push({ fault: parseFault(spec), seen: 0 });
    },
    clear: () => {
      entries = [];
    },
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
