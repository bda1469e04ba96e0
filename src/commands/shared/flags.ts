/** The flags that every command takes (product §4), as typed. */
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
  /** False with --no-color. */
  readonly color: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
}

export interface PlanFlags extends GlobalFlags {
  readonly metrics?: string;
  readonly out?: string;
  readonly detailedExitcode?: boolean;
  readonly failOn: readonly string[];
  readonly allow: readonly string[];
  readonly writeSecrets?: string | boolean;
  readonly assumeCompleteLists?: boolean;
  readonly base?: string;
  readonly snapshot?: string;
  readonly ignore: readonly string[];
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

export interface CiFlags extends ApplyFlags {
  /** False with --no-comment. */
  readonly comment?: boolean;
  /** False with --no-issue. */
  readonly issue?: boolean;
  /** push (default), upload, none. */
  readonly bindings?: string;
}
