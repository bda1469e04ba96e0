import type { ExitCode } from "../core/base/model/exit.ts";
import { guardNames } from "../core/base/model/findings.ts";
import type { Context } from "./context.ts";

// The options of all commands, and the types of what commander makes of them.

/** What help says of an option, and what it can be. */
type Said = string | { readonly text: string; readonly repeatable: true } | { readonly text: string; readonly choices: readonly string[] };

/** Options by their flags: "-y, --yes", "--out <file>". */
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
    text: "Output format: human (default), json, markdown, html or github; repeatable, only one without a path",
    repeatable: true,
  },
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
      text: `Exit with 2 if there are any of: changes, drift, ${risks}, unmanaged, unseen, byHand, blocked, policy, unreviewed, warnings`,
      repeatable: true,
    },
    '--allow <name="reason">': {
      text: `Lift a guard: ${guardNames.slice(0, -1).join(", ")} or ${guardNames.at(-1)}; repeatable`,
      repeatable: true,
    },
  }) as const satisfies Options;

export const protectOnlyOption = {
  "--protect-only": "Include only changes that protect (hash or disable); report the others as held",
} as const satisfies Options;

/** Of plan and drift: what is read. */
export const readOptions = {
  "--base <ref>": "Git ref to compare the manifests with, instead of the commit that was applied last",
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
  "--result <file>": "Write the result to this file as JSON",
  "--lock-timeout <duration>": "How long to wait for another apply to finish (default: 0)",
  "--max-plan-age <duration>": "Maximum age of a saved plan (default: 24h)",
} as const satisfies Options;
export interface ApplyFlags extends PlanFlags, FlagsOf<typeof applyOptions> {}

/** What a command does; `Args` are the arguments that its usage declares. */
export type RunCommand<Flags extends GlobalFlags, Args extends readonly unknown[]> = (
  context: Context<Flags>,
  ...args: Args
) => Promise<ExitCode>;

interface Declaration<O extends Options, Args extends readonly unknown[]> {
  /** Its name and arguments, in commander's syntax. */
  readonly usage: string;
  /** The list of commands shows the first sentence. */
  readonly description: string;
  readonly options?: O;
  readonly examples?: readonly string[];
  /** Printed when a signal arrives; "" prints nothing. */
  readonly onInterrupt?: string;
  /** Imports its code, so that no command loads that of another. */
  readonly load: () => Promise<RunCommand<GlobalFlags & FlagsOf<O>, Args>>;
}

/** A command of any options and arguments. */
export interface Declared extends Omit<Declaration<Options, readonly unknown[]>, "load"> {
  readonly run: (context: Context, args: readonly unknown[]) => Promise<ExitCode>;
}

/** Declares a command. The types of its flags and arguments follow from its options and from what `load` returns. */
export const declared = <O extends Options = Record<never, never>, Args extends readonly unknown[] = readonly []>({
  load,
  ...declaration
}: Declaration<O, Args>): Declared => ({
  ...declaration,
  run: async (context, args) =>
    // biome-ignore lint/plugin: commander makes the flags and arguments that the declaration names
    (await load())(context as unknown as Context<GlobalFlags & FlagsOf<O>>, ...(args as unknown as Args)),
});
