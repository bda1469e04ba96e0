import type { Behaviour } from "./behaviour.ts";
import type { AccountState } from "./data/account.ts";
import type { RouteEntry } from "./http/routes.ts";

/** How the service behaves if the interface leaves it open, and which faults it has. Every member is optional; see docs/embedded-service.md. */
export interface EmbeddedOptions extends Partial<Behaviour> {
  /** The profile: the behaviour of the public descriptions instead of that of the interface document. Other members change single behaviours. */
  readonly observed?: boolean;
  /** TCP port on 127.0.0.1; 0 (default) takes a free one. */
  readonly port?: number;
  /** JSON file that holds the account; created if it does not exist. Without it, the account is kept in memory. */
  readonly file?: string;
  /** The initial account, instead of `seedAccount(observed)`. An object is copied; the result of a function is used as it is. */
  readonly state?: AccountState | (() => AccountState);
  /** API key -> e-mail of the user that it belongs to. Default: one random key for bot@example.com. */
  readonly apiKeys?: Readonly<Record<string, string>>;
  /** E-mail addresses of users who get a random key each, besides `apiKeys`. A file keeps them. */
  readonly keysFor?: readonly string[];
  /** Delay before each call of the interface. */
  readonly latencyMs?: number;
  /** `METHOD PATHREGEX[@NTH]=ACTION[:ARG]`, see `parseFault`. */
  readonly faults?: readonly string[];
  /** Paging of the lists of integrations, tags and users. Default: none. */
  readonly paging?: Paging;
  /** Time between the creation of an integration and the appearance of its schema, by `now`. */
  readonly discoveryDelayMs?: number;
  /** PUT of a tag clears the members that the body lacks. Default: keeps them. */
  readonly replaceOnPut?: boolean;
  /** Calls that the interface does not have, for tests of a kind that is not there. */
  readonly routes?: readonly RouteEntry[];
  /** The clock of the service. */
  readonly now?: () => Date;
  /** Called once per call of the interface, after its outcome is known; not for `/_console`. */
  readonly onExchange?: (exchange: Exchange) => void;
}

export interface Paging {
  readonly style: PagingStyle;
  /** Entries per page. */
  readonly size: number;
}

/** How a response shows that there are more pages; `silent` cuts the list off without a sign. */
export type PagingStyle = "none" | "totalItems" | "total" | "nextCursor" | "hasMore" | "silent";

/** One call as the service received it. */
export interface Exchange {
  readonly method: string;
  /** As sent: percent-encoded, without query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Names in lower case. */
  readonly requestHeaders: Readonly<Record<string, string>>;
  /** Parsed JSON; undefined if there was none or it could not be parsed. */
  readonly requestBody: unknown;
  /** 0 if the connection was cut instead. */
  readonly status: number;
  readonly responseBody: string;
  /** Whether a fault changed the outcome. */
  readonly faulted: boolean;
  /** The x-api-key sent, or "". */
  readonly key: string;
}

export type CountedRequest = Pick<Exchange, "method" | "path" | "status">;

/** A user who changes the account outside the interface. */
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
  /** The key of a user, by e-mail address. */
  readonly keyOf: (email: string) => string | undefined;
  /** Calls of the interface since the start or `resetCounts`; status 0 if the connection was cut. */
  readonly requests: readonly CountedRequest[];
  /** Calls per method since the start or `resetCounts`. Methods that were not used are absent. */
  readonly counts: () => Readonly<Record<string, number>>;
  readonly resetCounts: () => void;
  /** A deep copy of the account. */
  readonly state: () => AccountState;
  /** Changes the account outside the interface and adds one audit entry (default actor: dana@example.com in a browser). */
  readonly mutate: (change: (state: AccountState) => void, actor?: Actor, event?: string) => void;
  /** Adds a fault. Throws as `parseFault` does. */
  readonly addFault: (spec: string) => void;
  readonly clearFaults: () => void;
  /** Closes all connections and frees the port. */
  readonly close: () => Promise<void>;
}
