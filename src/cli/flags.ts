// The options of all commands, and the types of what commander makes of them.

/** What help says of an option, and what it can be. */
type Said = string | { readonly text: string; readonly repeatable: true } | { readonly text: string; readonly choices: readonly string[] };

/** Options by their flags: "-y, --yes", "--out <file>", "--write-secrets [glob]". */
export type Options = Readonly<Record<string, Said>>;

/** Their flags as members: a list if an option is repeatable, else absent without the option. */
export type FlagsOf<O extends Options> = {
  readonly [K in keyof O & string as O[K] extends Repeatable ? Member<K> : never]: readonly string[];
} & {
  readonly [K in keyof O & string as O[K] extends Repeatable ? never : Member<K>]?: Value<O, K>;
};

type Repeatable = { readonly repeatable: true };
type NameIn<K> = K extends `${string}--${infer N} ${string}` ? N : K extends `${string}--${infer N}` ? N : never;
type Member<K> = NameIn<K> extends `no-${infer N}` ? Camel<N> : Camel<NameIn<K>>;
type Camel<S extends string> = S extends `${infer A}-${infer B}` ? `${A}${Capitalize<Camel<B>>}` : S;
/** Of one or several options with one name. `--no-x` alone is true unless it is given. */
type Value<O extends Options, K> = K extends keyof O
  ? O[K] extends { readonly choices: readonly (infer Choice)[] }
    ? Choice
    : NameIn<K> extends `no-${infer N}`
      ? [Extract<keyof O, `--${N} ${string}`>] extends [never]
        ? boolean
        : false
      : K extends `${string}<${string}`
        ? string
        : K extends `${string}[${string}`
          ? string | boolean
          : boolean
  : never;

/** Of every command. */
export const globalOptions = {
  "-C, --chdir <dir>": "Run as if started in this directory",
  "--config <file>": "Config file (default: dimsync.yaml, searched upward from the working directory)",
  "-t, --target <name>": { text: "Target to use; repeatable", repeatable: true },
  "--all-targets": "Use every target in the config",
  "--var <name=value>": { text: "Set a manifest variable; repeatable", repeatable: true },
  "--var-file <file>": { text: "Read manifest variables from a YAML file; repeatable", repeatable: true },
  "--only <glob>": { text: "Include only addresses that match, such as 'Schemas/*'; repeatable", repeatable: true },
  "--exclude <glob>": { text: "Exclude addresses that match; repeatable", repeatable: true },
  "-o, --output <format[=path]>": {
    text: "Output format: human (default), json, markdown, html, sarif, junit or github; repeatable, only one without a path",
    repeatable: true,
  },
  "--concurrency <n>": "Maximum number of concurrent requests",
  "--rate <n>": "Maximum number of requests per second",
  "--timeout <duration>": "Timeout for each request: seconds, or a duration such as 30s or 5m",
  "--retries <n>": "Maximum number of retries for a failed read",
  "--read-only": "Refuse every request that writes",
  "--allow-code": "Run the secret commands of the project (also DIMSYNC_ALLOW_CODE=1)",
  "--allow-path <dir>": {
    text: "Let the project name files in this directory too (also DIMSYNC_ALLOW_PATH); repeatable",
    repeatable: true,
  },
  "--no-color": "Disable colors (also NO_COLOR)",
  "-q, --quiet": "Do not show progress",
  "-v, --verbose": "Show full detail",
  "--debug": "Print one line per request to stderr (also DIMSYNC_LOG=debug)",
} as const satisfies Options;
export interface GlobalFlags extends FlagsOf<typeof globalOptions> {}

/** Of plan, apply, drift and ci. `risks`: the values of --fail-on for changes of protection. */
export const comparisonOptions = (risks = "exposes, loosened") =>
  ({
    "--fail-on <list>": {
      text: `Exit with 2 if there are any of: changes, drift, ${risks}, unmanaged, unverifiable, manual, blocked, policy, unreviewed, impact, warnings`,
      repeatable: true,
    },
    '--allow <name="reason">': {
      text: "Lift a guard: maxCreates, maxExposedColumns, maxChangedPercent, maxRemovedRelations, maxResyncedTables, exposureWindow, policy, unreviewed, outsideChanges, loosened or planDiffers; repeatable",
      repeatable: true,
    },
    "--ignore <address[:/path]>": { text: "Ignore differences of this address or path; repeatable", repeatable: true },
    "--write-secrets [glob]": "Send the connections of matching assets again (all assets without a glob)",
    "--assume-complete-lists": "Create objects even if a list looks incomplete or the audit log cannot be read",
    "--metrics <file>": "Write Prometheus metrics to this file, for the textfile collector",
  }) as const satisfies Options;

export const protectOnlyOption = {
  "--protect-only": "Send only changes that protect (hash or disable); report the others as held",
} as const satisfies Options;

/** Of plan and drift: what is read. */
export const readOptions = {
  "--base <ref>": "Git ref to compare the manifests with, to tell config changes from drift",
  "--snapshot <file>": "Read this snapshot instead of the account; needs no API key and no network",
  "--list-unmanaged": "List the live columns that no rule and no literal entry covers",
} as const satisfies Options;

export const savePlanOptions = {
  "--out <file>": "Save the plan so that apply runs exactly this plan",
  "--detailed-exitcode": "Exit with 2 if there are changes",
} as const satisfies Options;

export interface PlanFlags
  extends GlobalFlags,
    FlagsOf<ReturnType<typeof comparisonOptions>>,
    FlagsOf<typeof protectOnlyOption>,
    FlagsOf<typeof savePlanOptions>,
    FlagsOf<typeof readOptions> {}

export const applyOptions = {
  "-y, --yes": "Do not ask for confirmation",
  "--dry-run": "Only plan, like dimsync plan",
  "--fail-fast": "Start nothing new after a failure",
  "--result <file>": "Write the result to this file as JSON",
  "--lock-timeout <duration>": "How long to wait for another apply to finish (default: 0)",
  "--max-plan-age <duration>": "Maximum age of a saved plan (default: 24h)",
} as const satisfies Options;
export interface ApplyFlags extends PlanFlags, FlagsOf<typeof applyOptions> {}

export const driftOptions = {
  "--since <time>": "How far back to read the audit log: a date, or an age such as 24h or 7d (default: 30d)",
  "--no-attribution": "Do not read the audit log",
  "--notify <source>": "Post to a webhook if the drift changed; its URL is in env:NAME or file:PATH",
  "--no-notify": "Do not post to the webhook in the config",
  "--notify-format <format>": { text: "Format of the notification: json or slack", choices: ["json", "slack"] },
  "--resolve <how>": {
    text: "accept: change the manifests to match the account; revert: save a plan that undoes the drift",
    choices: ["accept", "revert"],
  },
  "--out <file>": "Plan file that --resolve revert writes (default: revert.plan.json)",
} as const satisfies Options;
export interface DriftFlags extends PlanFlags, FlagsOf<typeof driftOptions> {}

export const renderOptions = {
  "--expand": "Replace the rules of schema configurations with the resulting settings of the account's tables and columns",
  "--snapshot <file>": "With --expand: read this snapshot instead of the account",
} as const satisfies Options;
export interface RenderFlags extends GlobalFlags, FlagsOf<typeof renderOptions> {}

export const registerOptions = {
  "--label <name>": { text: "Only columns with this label; repeatable", repeatable: true },
  "--integration <name>": { text: "Only integrations that match, such as 'shop-*'; repeatable", repeatable: true },
  "--diff <file>": "What changed since a register in JSON or CSV. Exits with 2 if anything did",
  "--snapshot <file>": "Read this snapshot instead of the account; needs no API key and no network",
} as const satisfies Options;
export interface RegisterFlags extends GlobalFlags, FlagsOf<typeof registerOptions> {}

export const auditOptions = {
  "--since <time>": "A date, a date and time, or an age such as 24h or 7d",
  "--until <time>": "Same formats (default: now)",
  "--actor <email>": "Only entries of this user",
} as const satisfies Options;
export interface AuditFlags extends GlobalFlags, FlagsOf<typeof auditOptions> {}

export const importOptions = {
  "--out <dir>": "Directory for new files",
  "--dry-run": "Show the changes to the files, but write nothing",
  "--literal": "Write schemas as a literal tree instead of rules",
  "--assume-complete-lists": "Limit manifests to other targets even if a list of this one looks incomplete",
  "--suggest": "Instead, print a Classification for columns whose names look personal, as comments to confirm",
} as const satisfies Options;
export interface ImportFlags extends GlobalFlags, FlagsOf<typeof importOptions> {}

export const snapshotOptions = {
  "--out <file>": "File to write; compressed if larger than 1 MiB",
} as const satisfies Options;
export interface SnapshotFlags extends GlobalFlags, FlagsOf<typeof snapshotOptions> {}

export const compareOptions = {
  "--from <target|file>": "Target or snapshot file",
  "--to <target|file>": "Target or snapshot file",
} as const satisfies Options;
export interface CompareFlags extends GlobalFlags, FlagsOf<typeof compareOptions> {}

export const catalogOptions = {
  "--all": "Accept every new column, and remove every column that is gone",
} as const satisfies Options;
export interface CatalogFlags extends GlobalFlags, FlagsOf<typeof catalogOptions> {}

export const bindOptions = {
  "--accept": "Record that the live object now matches the manifest, after a change by hand",
} as const satisfies Options;
export interface BindFlags extends GlobalFlags, FlagsOf<typeof bindOptions> {}

export const recordsOptions = {
  "--log": "show: the newest 100 writes instead: when, by which run, and what changed",
  "--reason <text>": "lock: why; shown to everyone who finds the target locked",
  "--until <time>": "lock: when the lock ends, such as 2027-01-31T18:00:00Z",
  "--force": "unlock: without confirmation, even if the run may be alive; restore: even if the target has another name",
  "--to <store>": "init, migrate: folder, git, git:REF or postgres (default for init: git)",
  "--print": "init, migrate: print the config instead of writing dimsync.yaml",
} as const satisfies Options;
export interface RecordsFlags extends GlobalFlags, FlagsOf<typeof recordsOptions> {}

export const resolveOptions = {
  "--created <id>": "The object was created with this id. Checked against the account and the audit log",
  "--not-created": "The object was not created",
  "--run <id>": "Instead of an address: every create that this run left open",
  "--force": "Even if the run that was unlocked may still send the create; needs --reason",
  "--reason <text>": "Why --force is safe; kept in the records",
} as const satisfies Options;
export interface ResolveFlags extends GlobalFlags, FlagsOf<typeof resolveOptions> {}

export const initOptions = {
  "--from-live": "Then import the account at DIMSYNC_BASE_URL",
  "--ci <system>": "Write jobs for github, gitlab or none (default: by the host of the git remote)",
  "--approval": "In CI, apply only plans that a reviewer has approved",
  "--update": "Replace workflows that init wrote and nobody has edited",
  "--no-records": "Do not create records in the git remote",
} as const satisfies Options;
export interface InitFlags extends GlobalFlags, FlagsOf<typeof initOptions> {}

export const doctorOptions = {
  "--all-integrations": "Read the schemas of every integration, not only of one",
} as const satisfies Options;
export interface DoctorFlags extends GlobalFlags, FlagsOf<typeof doctorOptions> {}

export const fmtOptions = {
  "--check": "Change nothing; exit with 2 if a file would change",
} as const satisfies Options;
export interface FmtFlags extends GlobalFlags, FlagsOf<typeof fmtOptions> {}

export const schemaOptions = {
  "--from-live": "Add the schema, table and column names of the account. Sends only GET requests",
  "--snapshot <file>": "Add the names in this snapshot; needs no API key and no network",
  "--integration <name>": { text: "Only the names of integrations that match, such as 'shop-*'; repeatable", repeatable: true },
} as const satisfies Options;
export interface SchemaFlags extends GlobalFlags, FlagsOf<typeof schemaOptions> {}

export const serveOptions = {
  "--port <n>": "Port on 127.0.0.1 (default: a free port)",
  "--data <file>": "Keep the account in this file (default: in memory)",
  "--latency <ms>": "Delay each response",
  "--faults <spec>": { text: "METHOD PATHREGEX[@NTH]=ACTION[:ARG], such as 'POST /v1/assets=reset-after'; repeatable", repeatable: true },
  "--observed": "Answer as the public descriptions of the service show it, not as its interface document does",
  "--schema-form <form>": "Form of GET schemas: camel (with columns, default) or snake (without columns)",
  "--paging <style[:size]>": "Paging of lists: none (default), totalItems, total, nextCursor, hasMore or silent",
  "--error-body <form>": "Form of error bodies: envelope (default), nested, status, message, list, mixed, plain, empty or echo",
  "--discover-after <n>": "Show the schemas of a new integration only after n requests",
  "--person <email>": { text: "Add an API key for this user; repeatable", repeatable: true },
} as const satisfies Options;
export interface ServeFlags extends GlobalFlags, FlagsOf<typeof serveOptions> {}

export const ciOptions = {
  "--out <file>": "plan: save the plan",
  "--no-comment": "plan: do not comment on the pull request",
  "--no-issue": "drift: do not open or update an issue",
  "--pull-request": "drift: keep a pull request for each target that accepts its drift into the manifests and the catalog",
  "--bindings <how>": "apply, without records in git or PostgreSQL: push the bindings file (default), upload or none",
  "--fail-fast": "apply: start nothing new after a failure",
  "--lock-timeout <duration>": "apply: how long to wait for another apply to finish",
  "--max-plan-age <duration>": "apply: maximum age of a saved plan (default: 24h)",
} as const satisfies Options;
export interface CiFlags extends ApplyFlags, FlagsOf<typeof ciOptions> {}

export const controllerOptions = {
  "--database <url>": "PostgreSQL of the controller (also DIMSYNC_DATABASE_URL). Default: an embedded one, for one process",
  "--state <dir>": "Directory of the embedded database and caches (default: .dimsync/controller; also DIMSYNC_CONTROLLER_STATE)",
  "--watch": "run: use the project in the working directory, and load it again when its files change",
  "--listen <host:port>":
    "run: where the status page listens (default: 127.0.0.1:8480). Other addresses need DIMSYNC_CONTROLLER_TOKEN or --trust-proxy-header",
  "--trust-proxy-header <name>": "run: header in which a reverse proxy names the user it authenticated",
  "--base-path <path>": "run: path of the status page's URL behind a proxy, such as /dimsync",
  "--public-url <url>": "run: URL of the status page, for links in notifications",
  "--role <role>": "run: all (default), worker or page",
  "--accounts-at-once <n>": "run: accounts that this process checks at once (default: 8)",
  "--accounts-per-host <n>": "run: accounts of one host that all processes check at once (default: 4)",
  "--max-mode <mode>": "run: highest mode of accounts, report or protect",
  "--log-format <format>": "run: text (default) or json: one object for each line, with level, account, run, worker and trace id",
  "--force": "push: replace a bundle although this one does not follow it; needs --reason",
  "--allow-removal": "push, rollback: end accounts that the project no longer has; their history is kept",
  "--source <name>": "push: name of the project (default: the repository, such as example/config). notify: only its receivers",
  "--wait": "check: wait for the result, print it, and exit as drift does",
  "--label <name=value>": "suspend, resume, silence: all accounts with this label",
  "--all": "suspend, resume, silence: all accounts",
  "--until <time>": "suspend, silence: when it ends, such as 2h or 2027-01-31T18:00:00Z",
  "--reason <text>": "suspend, silence, acknowledge, rollback, push --force: why; shown to others",
  "--test": "notify: send a message that shows whether the receivers can be reached",
} as const satisfies Options;
export interface ControllerFlags extends GlobalFlags, FlagsOf<typeof controllerOptions> {}
