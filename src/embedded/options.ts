import type { AccountState } from "./data/account.ts";

/** How the service stands in where the interface is silent, and how it misbehaves. Every member is optional; see docs/embedded-service.md. */
export interface EmbeddedOptions {
  /** TCP port on 127.0.0.1; 0 (default) takes a free one. */
  readonly port?: number;
  /** JSON file that holds the account: read where it exists, else created. Without it the account lives in memory. */
  readonly file?: string;
  /** The account to begin with, instead of `seedAccount()`. An object is copied; what a function returns is taken over as it is. */
  readonly state?: AccountState | (() => AccountState);
  /** API key to the e-mail of the user it acts for. Default: one random key for bot@example.com. */
  readonly apiKeys?: Readonly<Record<string, string>>;
  /** Wait before each call of the interface is carried out. */
  readonly latencyMs?: number;
  /** `METHOD PATHREGEX[@NTH]=ACTION[:ARG]`, see `parseFault`. */
  readonly faults?: readonly string[];
  /** Form of the GET schemas answer (interface §4.3). Default `camel`, with columns; `snake` is without. */
  readonly schemaForm?: "camel" | "snake";
  /** How the lists of integrations, tags and users come in pages. Default: whole. */
  readonly paging?: Paging;
  /** Body of error answers. `echo` repeats the request's body in the message, as a leaky service would. Default `envelope`. */
  readonly errorBody?: "envelope" | "plain" | "empty" | "echo";
  /** A new integration's schema appears only so long after its creation, by `now`. */
  readonly discoveryDelayMs?: number;
  /** A new integration's schema appears only after so many GET schemas that found nothing. */
  readonly discoverAfterReads?: number;
  /** PUT of a tag clears the members that the body lacks. Default: keeps them. */
  readonly replaceOnPut?: boolean;
  /** `both`: the create answer carries the int64 `id` and a different `data.id`, which identifies. `intOnly`: `data` is empty and the int64's decimal text identifies. */
  readonly createAnswer?: "both" | "intOnly";
  /** Status of successful POST calls (interface §7 labels some of them "created"). Default 200. */
  readonly createdStatus?: 200 | 201;
  /** The service's clock. */
  readonly now?: () => Date;
  /** Called once per call of the interface, after its outcome is known; not for `/_console`. */
  readonly onExchange?: (exchange: Exchange) => void;
}

export interface Paging {
  readonly style: PagingStyle;
  /** Entries per page. */
  readonly size: number;
}

/** What an answer says about further pages; `silent` cuts the list off and says nothing. */
export type PagingStyle = "none" | "totalItems" | "total" | "nextCursor" | "hasMore" | "silent";

/** One call as the service saw it. */
export interface Exchange {
  readonly method: string;
  /** As sent: percent-encoded, without query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Names in lower case. */
  readonly requestHeaders: Readonly<Record<string, string>>;
  /** Parsed JSON; undefined where there was none or it could not be parsed. */
  readonly requestBody: unknown;
  /** 0 where the connection was cut instead of answered. */
  readonly status: number;
  readonly responseBody: string;
  /** Whether a fault had its hand in the outcome. */
  readonly faulted: boolean;
  /** The x-api-key sent, or "". */
  readonly key: string;
}

export interface CountedRequest {
  readonly method: string;
  readonly path: string;
  readonly status: number;
}

/** Someone who changes the account other than through the interface. */
export interface Actor {
  readonly email: string;
  readonly ip?: string;
  readonly userAgent?: string;
}

/** A running service. */
export interface EmbeddedService {
  /** `http://127.0.0.1:PORT`, without `/v1`. */
  readonly url: string;
  readonly port: number;
  /** The first of the accepted keys. */
  readonly apiKey: string;
  /** Calls of the interface since the start or `resetCounts`; status 0 where the connection was cut. */
  readonly requests: readonly CountedRequest[];
  /** Calls per method since the start or `resetCounts`. Methods that weren't used are absent. */
  readonly counts: () => Readonly<Record<string, number>>;
  readonly resetCounts: () => void;
  /** A deep copy of the account. */
  readonly state: () => AccountState;
  /** Changes the account behind every client's back and leaves one audit entry (default actor: dana@example.com in a browser). */
  readonly mutate: (change: (state: AccountState) => void, actor?: Actor, event?: string) => void;
  /** Adds a fault to those that are there. Throws as `parseFault` does. */
  readonly addFault: (spec: string) => void;
  readonly clearFaults: () => void;
  /** Cuts all connections and frees the port. */
  readonly close: () => Promise<void>;
}
