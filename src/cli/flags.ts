/** Flags of every command, as commander parses them. src/cli/commands.ts and src/cli/options.ts declare them. */
export interface GlobalFlags {
  readonly chdir?: string;
  readonly config?: string;
  readonly target: readonly string[];
  readonly allTargets?: boolean;
  readonly var: readonly string[];
  readonly varFile: readonly string[];
  readonly only: readonly string[];
  readonly exclude: readonly string[];
  readonly output: readonly string[];
  readonly concurrency?: string;
  readonly rate?: string;
  readonly timeout?: string;
  readonly retries?: string;
  readonly readOnly?: boolean;
  readonly allowCode?: boolean;
  /** Absent in tests and for programs that build flags. */
  readonly allowPath?: readonly string[];
  /** False with --no-color. */
  readonly color: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly debug?: boolean;
}

/** Flags that plan, apply, drift and ci share. */
interface SharedPlanFlags extends GlobalFlags {
  readonly failOn: readonly string[];
  readonly allow: readonly string[];
  readonly metrics?: string;
  /** True without a glob. */
  readonly writeSecrets?: string | boolean;
  readonly assumeCompleteLists?: boolean;
  readonly protectOnly?: boolean;
  readonly ignore: readonly string[];
}

export interface PlanFlags extends SharedPlanFlags {
  readonly out?: string;
  readonly detailedExitcode?: boolean;
  readonly base?: string;
  readonly snapshot?: string;
  readonly listUnmanaged?: boolean;
}

export interface ApplyFlags extends PlanFlags {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly failFast?: boolean;
  readonly result?: string;
  readonly lockTimeout?: string;
  readonly maxPlanAge?: string;
}

export interface DriftFlags extends PlanFlags {
  readonly since?: string;
  /** False with --no-attribution. */
  readonly attribution?: boolean;
  /** env:NAME or file:PATH; false with --no-notify. */
  readonly notify?: string | false;
  readonly notifyFormat?: "slack" | "json";
  readonly resolve?: "accept" | "revert";
}

export interface RenderFlags extends GlobalFlags {
  readonly expand?: boolean;
  readonly snapshot?: string;
}

export interface RegisterFlags extends GlobalFlags {
  readonly label: readonly string[];
  readonly integration: readonly string[];
  /** A time, or a register in JSON. */
  readonly diff?: string;
  readonly snapshot?: string;
}

export interface GetFlags extends GlobalFlags {}

export interface AuditFlags extends GlobalFlags {
  readonly since?: string;
  readonly until?: string;
  readonly actor?: string;
}

export interface ImportFlags extends GlobalFlags {
  readonly out?: string;
  readonly dryRun?: boolean;
  readonly literal?: boolean;
  readonly assumeCompleteLists?: boolean;
  readonly suggest?: boolean;
}

export interface SnapshotFlags extends GlobalFlags {
  readonly out?: string;
}

export interface CompareFlags extends GlobalFlags {
  /** The name of a target, or a snapshot file; so is `to`. */
  readonly from?: string;
  readonly to?: string;
}

export interface CatalogFlags extends GlobalFlags {
  readonly all?: boolean;
}

export interface BindFlags extends GlobalFlags {
  readonly accept?: boolean;
}

export interface RecordsFlags extends GlobalFlags {
  readonly log?: boolean;
  readonly reason?: string;
  readonly until?: string;
  readonly force?: boolean;
  readonly to?: string;
  readonly print?: boolean;
}

export interface ControllerFlags extends GlobalFlags {
  readonly database?: string;
  readonly state?: string;
  readonly listen?: string;
  readonly trustProxyHeader?: string;
  readonly basePath?: string;
  readonly publicUrl?: string;
  readonly label?: string;
  readonly all?: boolean;
  readonly test?: boolean;
  readonly role?: string;
  readonly watch?: boolean;
  readonly accountsAtOnce?: string;
  readonly accountsPerHost?: string;
  readonly maxMode?: string;
  readonly logFormat?: string;
  readonly force?: boolean;
  readonly allowRemoval?: boolean;
  readonly wait?: boolean;
  readonly until?: string;
  readonly reason?: string;
  readonly source?: string;
}

export interface ResolveFlags extends GlobalFlags {
  readonly created?: string;
  readonly notCreated?: boolean;
  readonly run?: string;
  readonly force?: boolean;
  readonly reason?: string;
}

export interface InitFlags extends GlobalFlags {
  readonly fromLive?: boolean;
  readonly approval?: boolean;
  readonly ci?: string;
  /** False for --no-records. */
  readonly records?: boolean;
}

export interface DoctorFlags extends GlobalFlags {
  readonly allIntegrations?: boolean;
}

export interface FmtFlags extends GlobalFlags {
  readonly check?: boolean;
}

export interface SchemaFlags extends GlobalFlags {
  readonly fromLive?: boolean;
  readonly snapshot?: string;
  readonly integration: readonly string[];
}

export interface ServeFlags extends GlobalFlags {
  readonly port?: string;
  readonly data?: string;
  readonly latency?: string;
  readonly faults: readonly string[];
  readonly schemaForm?: string;
  readonly paging?: string;
  readonly errorBody?: string;
  readonly discoverAfter?: string;
  readonly observed?: boolean;
  readonly person: readonly string[];
}

export interface CiFlags extends ApplyFlags {
  /** False with --no-comment. */
  readonly comment?: boolean;
  /** False with --no-issue. */
  readonly issue?: boolean;
  readonly pullRequest?: boolean;
  /** push (default), upload, none. */
  readonly bindings?: string;
}
