/** Where a project is, and what the command line and the environment add to it. */
export interface ConfigOptions {
  /** Absolute path of the working directory. */
  readonly cwd: string;
  /** `--config`, relative to the working directory. */
  readonly configFile?: string | undefined;
  /** `--target` */
  readonly target?: string | undefined;
  /** PATH arguments, relative to the working directory: they replace the config's `manifests`. */
  readonly paths?: readonly string[] | undefined;
  /** `--var NAME=VALUE` */
  readonly vars?: Readonly<Record<string, string>> | undefined;
  /** `--var-file`, in the order given. */
  readonly varFiles?: readonly string[] | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The top folder of the project's files, if they are in no checkout: paths in them must stay in it. */
  readonly top?: string | undefined;
  /** Folder of the files that Classifications name and that do not exist beside the config, such as build results that git ignores. */
  readonly labelFolder?: string | undefined;
}

export interface LoadOptions extends ConfigOptions {
  /** Throws E_NO_ACCOUNT, before any manifest is read, if there is no base URL. */
  readonly needsAccount?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** An environment variable of dimsync; an empty one counts as not set. */
export function setting(env: ConfigOptions["env"], name: string): string | undefined {
  const value = env[name];
  return value === "" ? undefined : value;
}
