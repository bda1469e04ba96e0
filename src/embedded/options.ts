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

/**
 * How the service behaves where its interface leaves it open, or where its public descriptions show something else. The handlers ask this
 * table and nothing else, so a profile is one row of values, and an option changes one of them.
 */
export interface Behaviour {
  /** Where GET of one integration has it: in `data.integration`, or directly in `data`. */
  readonly integrationForm: "wrapped" | "direct";
  /**
   * `complete`: every member of the interface. `recorded`: schemas without `enabled`, tables with `enabledPatchSettings`, modes such as
   * FULL_REFRESH, no empty texts, the members that only the public descriptions show, and `code: "OK"` in some responses.
   */
  readonly members: "complete" | "recorded";
  /** Form of the response of GET schemas. `snake` has no columns. */
  readonly schemaForm: "camel" | "snake";
  /** PATCH of schemas refuses unknown names and keeps every value, or skips and drops some without a word. */
  readonly schemaWrites: "strict" | "silent";
  /** What requests for an integration answer until its schema is discovered: no schemas, or 409 IntegrationInCreation. */
  readonly whileCreating: "empty" | "refused";
  /** Number of requests that are answered so before the schema of a new integration appears. */
  readonly discoverAfterReads: number;
  /** Which members a create needs, and which it takes beyond the interface. */
  readonly creates: "complete" | "sparse";
  /** Status of successful POST calls. */
  readonly createdStatus: 200 | 201;
  /** `both`: the response of a create has the int64 `id` and a different `data.id`, which identifies. `intOnly`: `data` is empty and the int64's decimal text identifies. `dataOnly`: there is no int64. */
  readonly createAnswer: "both" | "intOnly" | "dataOnly";
  /** Snowflake assets have a connection per purpose, whatever the create said. */
  readonly multiPurpose: boolean;
  /** Ids of new objects: short ones that tell their kind, or 24 hexadecimal digits. */
  readonly ids: "short" | "long";
  readonly errorBody: ErrorBody;
  /** Whether the service has the requests that only its public descriptions show (docs/embedded-service.md). */
  readonly extended: boolean;
  /** Number of GET requests that still show an object as it was before a write; a PATCH of schemas is answered so, too. */
  readonly readLag: number;
  /** The same after a PATCH of an integration. */
  readonly settingsLag: number;
  /** Whether objects have members of types that the interface does not have: numbers for times, and null. */
  readonly oddMembers: boolean;
  /** Number of drafts in the initial account, each in another form (`draftForms`). */
  readonly drafts: number;
  /** Larger bodies are refused with 413. */
  readonly maxBodyBytes: number;
}

/**
 * Body of error responses. `envelope`: code and message; `nested`: a status code, and both in `message`; `status`: a status code and a
 * text; `message`: only a text; `list`: a status code and a list of texts; `mixed`: the form that was seen for the case. `echo` repeats
 * the request's body in the message, as a leaky service would.
 */
export type ErrorBody = "envelope" | "nested" | "status" | "message" | "list" | "mixed" | "plain" | "empty" | "echo";

/** As the interface document has it. */
const documented: Behaviour = {
  integrationForm: "wrapped",
  members: "complete",
  schemaForm: "camel",
  schemaWrites: "strict",
  whileCreating: "empty",
  discoverAfterReads: 0,
  creates: "complete",
  createdStatus: 200,
  createAnswer: "both",
  multiPurpose: false,
  ids: "short",
  errorBody: "envelope",
  extended: false,
  readLag: 0,
  settingsLag: 0,
  oddMembers: false,
  drafts: 0,
  maxBodyBytes: 50 * 1024 * 1024,
};

/** As the public descriptions of the service have it. */
const observed: Behaviour = {
  ...documented,
  integrationForm: "direct",
  members: "recorded",
  schemaWrites: "silent",
  whileCreating: "refused",
  discoverAfterReads: 2,
  creates: "sparse",
  createdStatus: 201,
  createAnswer: "dataOnly",
  multiPurpose: true,
  ids: "long",
  errorBody: "mixed",
  extended: true,
  settingsLag: 1,
};

/** The profile, changed by the options. */
export function behaviourOf<T extends Partial<Behaviour> & { readonly observed?: boolean }>(options: T): T & Behaviour {
  return { ...(options.observed === true ? observed : documented), ...options };
}
