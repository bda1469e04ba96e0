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
