import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { defined, own } from "../../base/model/json/json.ts";
import { isWithin, type Pointer, toPointer } from "../../base/model/json/pointer.ts";
import { below, isError, type Problem, problemAt, type SourceLocation } from "../../base/model/problem.ts";
import type { Settings } from "../../base/model/settings/config.ts";
import { type SecretReference, secretsIn } from "../../base/model/settings/secret.ts";
import type { ConfigFile } from "../../base/model/specs.generated.d.ts";
import type { Code } from "../../base/model/titles.ts";
import { visible } from "../../base/text/control-characters.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import { type Boundary, boundaryOf, isInside, outsideProblem, realPathOf } from "../boundary.ts";
import type { Wanted } from "../discover.ts";
import { readSource, type Source, shownPath } from "../source.ts";
import { type CheckedConfig, checkConfig, findConfig, namedConfig, parseConfig, targetNames } from "./file.ts";
import { type ConfigOptions, setting } from "./options.ts";
import { makeSettings } from "./settings.ts";
import { gatherVariables, readVarFiles, type Variables, type WrittenVariable } from "./variables.ts";

/** The result of the config file, the environment and the flags. */
export interface LoadedConfig {
  /** Absent if the config has no usable settings; the problems say why. */
  readonly settings?: Settings;
  readonly variables: Variables;
  /** Those that the command line and files set for this target. */
  readonly writtenVariables: readonly WrittenVariable[];
  /** Where the manifests are, and the folder that the paths are relative to. */
  readonly wanted: readonly Wanted[];
  readonly folder: string;
  /** The names of all targets; "default" if the config names none. */
  readonly targets: readonly string[];
  /** As in the config: for all targets, and for this one only. */
  readonly manifests: { readonly shared: readonly string[]; readonly own: readonly string[] };
  /** Absolute files, folders or globs that are only for other targets. */
  readonly ofOtherTargets: readonly string[];
  /** Absolute paths of YAML files that are not manifests. */
  readonly except: readonly string[];
  /** Which files the project may name. */
  readonly boundary: Boundary;
  /** The texts that were read, to look up locations. */
  readonly sources: readonly Source[];
  /** Absolute path. */
  readonly configPath?: string;
  /** Of the config file, in all targets. */
  readonly secrets: readonly SecretReference[];
  readonly problems: readonly Problem[];
}

/** Reads dimsync.yaml for one target. Never throws for a user's mistake. */
export async function loadConfig(options: ConfigOptions): Promise<LoadedConfig> {
  const { cwd, env, vars: flags = {} } = options;
  const varFiles = readVarFiles(options, gatherVariables({ flags, env, files: [] }));
  const file = readConfigFile(options);
  const { place, configPath } = file;
  const chosen = chooseTarget(file.document, options, place);
  const target = "name" in chosen ? chosen.name : undefined;
  const given = { flags, env, files: varFiles.records };
  const checked = checkDocument(file, target, gatherVariables(given));
  const { config } = checked;
  const entry = (target === undefined ? undefined : own(config.targets ?? {}, target)) ?? {};
  const wouldBe =
    target === undefined || !file.isReadable
      ? undefined
      : makeSettings(config, { ...options, targetName: target, entry, place, configPath, recordsFaults: recordsFaults(target, checked) });
  const outside = wouldBe === undefined ? [] : [...namedOutside(wouldBe.settings, config, file), ...localRemote(wouldBe.settings, file)];
  // Nothing may read or write the files that these settings name.
  const made = outside.length > 0 ? undefined : wouldBe;
  const folder = made?.settings.folder ?? resolve(cwd);
  const names = targetNames(file.document);
  return {
    ...(made === undefined ? {} : { settings: made.settings }),
    variables: gatherVariables({ ...given, ...defined({ target: entry.vars, config: config.vars }) }),
    writtenVariables: [
      ...Object.keys(flags).map((name) => ({ name })),
      ...varFiles.written,
      ...Object.keys(entry.vars ?? {}).map((name) => ({ name, place: below(place, ["targets", target ?? "", "vars", name]) })),
      ...Object.keys(config.vars ?? {}).map((name) => ({ name, place: below(place, ["vars", name]) })),
    ],
    targets: names.length === 0 ? ["default"] : names,
    ...wantedPaths(options, { config, target, place, folder }),
    boundary: file.boundary,
    except: [
      ...(configPath === undefined ? [] : [configPath]),
      ...(made === undefined ? [] : [made.settings.bindingsFile]),
      ...Object.values(config.targets ?? {}).flatMap(({ catalog }) => (catalog === undefined ? [] : [resolve(folder, catalog)])),
      ...(options.varFiles ?? []).map((name) => resolve(cwd, name)),
    ],
    sources: [...varFiles.sources, ...(file.source === undefined ? [] : [file.source])],
    ...(configPath === undefined ? {} : { configPath }),
    secrets: secretsIn(config),
    problems: [
      ...varFiles.problems,
      ...file.problems,
      ...(file.isReadable && "problem" in chosen ? [chosen.problem] : []),
      ...checked.problems,
      ...outside,
      ...(made?.problems ?? []),
    ],
  };
}

/** Errors in `records` of the target. */
function recordsFaults(target: string, { problems }: CheckedConfig): readonly Problem[] {
  const records = toPointer(["targets", target, "records"]);
  return problems.filter(isError).filter(({ place }) => place !== undefined && isWithin(place.pointer, records));
}

/** The config file as it is written. */
interface WrittenConfig {
  /** Absent if there is none. */
  readonly configPath: string | undefined;
  /** Absent if it could not be read. */
  readonly source: Source | undefined;
  readonly place: SourceLocation | undefined;
  /** Absent if it has no usable document. */
  readonly document: unknown;
  /** Whether there is none, or a usable document. */
  readonly isReadable: boolean;
  readonly boundary: Boundary;
  readonly problems: readonly Problem[];
}

function readConfigFile(options: ConfigOptions): WrittenConfig {
  const configPath = findConfig(options);
  const boundary = boundaryOf(configPath === undefined ? options.cwd : dirname(configPath), options);
  const read = configPath === undefined ? undefined : readInside(configPath, boundary, options);
  const parsed = read?.source === undefined ? undefined : parseConfig(read.source);
  return {
    configPath,
    boundary,
    source: read?.source,
    place: parsed?.place,
    document: parsed?.document,
    isReadable: configPath === undefined || parsed?.document !== undefined,
    problems: [...(read?.problems ?? []), ...(parsed?.problems ?? [])],
  };
}

/** Only the operator may name a config file outside the project. */
function readInside(configPath: string, boundary: Boundary, options: ConfigOptions): ReturnType<typeof readSource> {
  const target = namedConfig(options) === undefined ? boundary.leadsOutside(configPath) : undefined;
  if (target === undefined) return readSource(options.cwd, configPath);
  return { problems: [outsideProblem(boundary, { written: shownPath(options.cwd, configPath), target }, undefined)] };
}

function checkDocument({ document, source, place }: WrittenConfig, target: string | undefined, variables: Variables): CheckedConfig {
  if (document === undefined || source === undefined || place === undefined) return { config: {}, problems: [] };
  return checkConfig(document, { place, target, variables, textLength: source.text.length });
}

/** The files outside the project that its config names for the bindings, the catalog and the embedded service, which are written too. */
function namedOutside(
  { bindingsFile, catalogFile, baseUrl, target, folder }: Settings,
  { bindings, targets }: ConfigFile,
  { place, boundary }: WrittenConfig,
): readonly Problem[] {
  const account = /^embedded:(?!:memory:$)(.+)$/su.exec(own(targets, target)?.baseUrl === baseUrl ? baseUrl : "")?.[1];
  const files: readonly (readonly [file: string | undefined, path: readonly string[]])[] = [
    [bindingsFile, bindings === undefined ? [] : ["bindings"]],
    [catalogFile, ["targets", target, "catalog"]],
    [account === undefined ? undefined : resolve(folder, account), ["targets", target, "baseUrl"]],
  ];
  return files.flatMap(([file, path]) => {
    const leadsTo = file === undefined ? undefined : boundary.leadsOutside(file);
    return file === undefined || leadsTo === undefined
      ? []
      : [outsideProblem(boundary, { written: file, target: leadsTo }, below(place, path))];
  });
}

/**
 * A remote that is a repository on this machine: git runs its hooks when it pushes there. The branch can have one, so it must be outside the checkout, and its
 * folder allowed. The remotes that a checkout has by name are those of the operator.
 */
function localRemote({ records, target }: Settings, { place, boundary }: WrittenConfig): readonly Problem[] {
  const { remote = "" } = records.store === "git" ? records : {};
  if (!remote.includes(":") || /^(?:https|ssh):\/\//iu.test(remote)) return [];
  const path = remote.startsWith("file://") && URL.canParse(remote) ? realPathOf(fileURLToPath(remote)) : undefined;
  if (path !== undefined && !isInside(boundary.top, path) && boundary.leadsOutside(path) === undefined) return [];
  const message = `records.git.remote is ${JSON.stringify(visible(remote))}. It must be the name of a remote, or a URL that begins with https:// or ssh://: git runs the hooks of a repository on this machine, and whoever can change the project could name one of their own. A file:// URL of a folder outside the checkout needs --allow-path.`;
  return [problemAt(below(place, ["targets", target, "records", "git", "remote"]), { code: "E_WRONG_VALUE", message })];
}

interface PathSources {
  readonly config: ConfigFile;
  readonly target: string | undefined;
  /** Of the config file. */
  readonly place: SourceLocation | undefined;
  readonly folder: string;
}

/** PATH arguments are relative to the working directory, the config's `manifests` to the config file. */
function wantedPaths(
  options: ConfigOptions,
  { config, target, place, folder }: PathSources,
): Pick<LoadedConfig, "wanted" | "folder" | "manifests" | "ofOtherTargets"> {
  const targets = Object.entries(config.targets ?? {});
  const own = targets.find(([name]) => name === target)?.[1].manifests ?? [];
  const shared = config.manifests ?? ["."];
  const others = targets.flatMap(([name, { manifests = [] }]) => (name === target ? [] : manifests));
  const found = {
    manifests: { shared, own },
    // A path that this target names too is not excluded.
    ofOtherTargets: others.filter((pattern) => !own.includes(pattern)).map((pattern) => resolve(folder, pattern)),
  };
  if (options.paths !== undefined && options.paths.length > 0)
    return { ...found, wanted: options.paths.map((pattern) => ({ pattern })), folder: resolve(options.cwd) };
  const at = (pointer: Pointer): { readonly place?: SourceLocation } => (place === undefined ? {} : { place: { ...place, pointer } });
  const wanted = [
    ...shared.map((pattern, index) => ({ pattern, ...at(config.manifests === undefined ? "" : `/manifests/${index}`) })),
    ...own.map((pattern, index) => ({ pattern, ...at(toPointer(["targets", target ?? "", "manifests", String(index)])) })),
  ];
  return { ...found, wanted, folder };
}

/** `--target`, then DIMSYNC_TARGET, then the only one. A project without targets has the target "default". */
function chooseTarget(
  document: unknown,
  { target, env }: ConfigOptions,
  place: SourceLocation | undefined,
): { readonly name: string } | { readonly problem: Problem } {
  const names = targetNames(document);
  const wanted = target ?? setting(env, "DIMSYNC_TARGET");
  const at = below(place, names.length === 0 ? [] : ["targets"]);
  const fail = (code: Code, message: string) => ({ problem: problemAt(at && { ...at, on: "key" }, { code, message }) });
  if (names.length === 0) {
    if (wanted === undefined || wanted === "default") return { name: "default" };
    return fail(
      "E_UNKNOWN_TARGET",
      `There is no target ${JSON.stringify(wanted)}: ${document === undefined ? "no config file was found" : "the config file has no targets"}. Without targets, the account comes from DIMSYNC_BASE_URL and DIMSYNC_API_KEY.`,
    );
  }
  if (wanted !== undefined) {
    if (names.includes(wanted)) return { name: wanted };
    return fail(
      "E_UNKNOWN_TARGET",
      `There is no target ${JSON.stringify(wanted)}. The targets are ${names.join(", ")}.${didYouMean(wanted, names)}`,
    );
  }
  const [only, ...others] = names;
  if (only !== undefined && others.length === 0) return { name: only };
  return fail(
    "E_AMBIGUOUS_TARGET",
    `The config file has the targets ${names.join(", ")}. Choose one with -t NAME or DIMSYNC_TARGET, or use --all-targets if the command has it.`,
  );
}
