import { resolve } from "node:path";
import type { ProjectFiles } from "../base/git/state.ts";
import { byText } from "../base/model/address.ts";
import { DimsyncError, ProblemsError, refuseErrors } from "../base/model/errors.ts";
import { defined } from "../base/model/json/json.ts";
import type { Manifest } from "../base/model/manifest.ts";
import { addAll, groupBy, once } from "../base/model/maps.ts";
import type { Plan } from "../base/model/plan.ts";
import { isError, type Locate, type Problem, problemAt } from "../base/model/problem.ts";
import { turn } from "../base/model/runtime/clock.ts";
import type { Settings } from "../base/model/settings/config.ts";
import { hideVariables, type SecretReference, secretsIn } from "../base/model/settings/secret.ts";
import { counted } from "../base/text/counts.ts";
import { forTarget, withTarget } from "../base/text/shell.ts";
import { didYouMean } from "../base/text/suggest.ts";
import { read as readYaml } from "../base/yaml/read.ts";
import { manifestKindNamed, projectNameProblems } from "../kinds/index.ts";
import { findConfig, parseConfig, targetNames, yamlProblems } from "./config/file.ts";
import { type LoadedConfig, loadConfig } from "./config/load.ts";
import type { ConfigOptions, LoadOptions } from "./config/options.ts";
import { unusedVariables } from "./config/variables.ts";
import { covering, discoverOwn } from "./discover.ts";
import { makeLocate } from "./locate.ts";
import { manifestDigest, type ReadManifest, readManifest } from "./manifest.ts";
import { type FileReading, loadNamedFiles, type NamedFiles } from "./named-files.ts";
import {
  duplicateProblems,
  type ElsewhereManifest,
  elsewhereManifest,
  type MayDeclare,
  mayDeclare,
  referenceProblems,
  unknownTargets,
} from "./references.ts";
import { readSource, type Source, shownPath } from "./source.ts";

export type { LoadOptions } from "./config/options.ts";

/** The manifests of a project for one target, checked as far as possible without the account. */
export interface Project extends NamedFiles {
  readonly settings: Settings;
  /** Those without an error, by address. */
  readonly manifests: readonly Manifest[];
  /** Those of other targets only (metadata.targets). */
  readonly elsewhere: readonly ElsewhereManifest[];
  /** True for manifests with errors too. */
  readonly isDeclared: MayDeclare;
  /** All problems, found in one pass. */
  readonly problems: readonly Problem[];
  readonly locate: Locate;
  /**
   * "sha256:…" over the effective manifests, independent of their order, their formatting and the
   * files that contain them. Computed by the first call.
   */
  readonly manifestDigest: () => string;
  /** Every `$secret` of the manifests, and of the config in all its targets. */
  readonly secrets: () => readonly SecretReference[];
  /** With what it was loaded. */
  readonly options: LoadOptions;
  /** Absolute path. */
  readonly configFile?: string;
  /** The config's `manifests`: for all targets, and for this one only. */
  readonly patterns: LoadedConfig["manifests"];
  /** Files that were read as manifests, as shown. */
  readonly files: readonly string[];
  /** The files that plans depend on: config, bindings, variables and manifests. */
  readonly sourceFiles: ProjectFiles;
  /** Absolute paths of the dbt manifests that Classifications name. dbt writes them, and git ignores them. */
  readonly dbtFiles: readonly string[];
  /** Present if the git state is known, or meaningless, without asking git about the folder. */
  readonly recordedGit?: { readonly state: Plan["git"] };
}

/**
 * Loads a project. Mistakes in manifests are in `problems`. Throws ProblemsError if the
 * configuration has no usable settings, and the signal's reason when aborted.
 */
export async function loadProject(options: LoadOptions): Promise<Project> {
  const { config, settings, sources, locate } = await usableConfig(options);
  if (options.needsAccount === true && settings.baseUrl === "") throw whyNoAccount(config, locate);

  const { cwd, signal } = options;
  const { paths, problems: notFound } = await discoverOwn(config.wanted, config.ofOtherTargets, { ...config, cwd, signal });
  const { manifests: written, elsewhere, problems: unread } = await readFiles(paths, { config, options, sources });
  const isDeclared = mayDeclare(written, textsOf(sources, written, unread));
  const manifests = withoutDuplicates(written.flatMap(({ manifest }) => manifest ?? [])).sort((a, b) => byText(a.address, b.address));
  // A manifest that was not loaded may have what another one names.
  const isWhole = unread.length === 0 && written.every(({ manifest }) => manifest !== undefined);
  // Files that are not read may use a variable: those of other targets, long ones, and those beside the paths of the command line.
  const readsAll =
    isWhole &&
    config.ofOtherTargets.length === 0 &&
    (options.paths ?? []).length === 0 &&
    paths.every((path) => sources.has(shownPath(cwd, path)));
  const named = await loadNamedFiles(manifests, { config, options, sources });
  const problems: Problem[] = [
    ...config.problems,
    ...notFound,
    ...unread,
    ...written.flatMap((one) => one.problems),
    ...duplicateProblems(written, locate),
    ...referenceProblems(manifests, written, { isDeclared, elsewhere, locate }),
    ...(isWhole ? projectNameProblems(manifests, elsewhere) : []),
    ...(readsAll
      ? unusedVariables(
          config.writtenVariables,
          [...sources.values()].map(({ text }) => text),
        )
      : []),
    ...named.problems,
    ...manifests.flatMap((manifest) => manifestKindNamed(manifest.kind)?.hints?.(manifest) ?? []),
  ];
  const secrets = once(() => [...config.secrets, ...secretsIn(written.map(({ effective }) => effective))]);
  hideVariables(secrets());
  if (written.length === 0 && !problems.some(isError))
    problems.push(noManifests(config, elsewhere.length, (options.paths ?? []).length > 0));
  return {
    settings,
    manifests,
    elsewhere,
    isDeclared,
    problems: limitProblems(problems),
    locate,
    ...named.loaded,
    ...defined({ configFile: config.configPath }),
    manifestDigest: once(() => manifestDigest([...written.flatMap(({ effective = [] }) => effective), ...named.digested])),
    secrets,
    options,
    patterns: config.manifests,
    files: paths.map((path) => shownPath(options.cwd, path)),
    dbtFiles: named.dbtFiles,
    sourceFiles: {
      files: [...config.except, ...paths, ...named.files],
      covers: covering(config.wanted, config.folder),
      passed: (options.varFiles ?? []).map((name) => resolve(cwd, name)),
    },
  };
}

/** The settings of a project; its manifests are not read. Throws ProblemsError. */
export async function loadSettings(options: LoadOptions): Promise<Settings> {
  const { config, settings } = await usableConfig(options);
  hideVariables(config.secrets);
  return settings;
}

async function usableConfig(options: LoadOptions) {
  const config = await loadConfig(options);
  const sources = new Map(config.sources.map((source) => [source.file, source]));
  const locate = makeLocate(options.cwd, (file) => sources.get(file)?.text, { isOwn: config.boundary.isOwn });
  const { settings } = config;
  if (settings === undefined) throw new ProblemsError(limitProblems(config.problems), locate);
  return { config, settings, sources, locate };
}

/** The texts of files that were not read, or have a manifest whose kind or name is unknown. */
function textsOf(sources: FileReading["sources"], manifests: readonly ReadManifest[], unread: readonly Problem[]): readonly string[] {
  const nameless = manifests.filter(({ kind, name }) => kind === undefined || name === undefined);
  const files = new Set([...unread, ...nameless].flatMap(({ place }) => place?.file ?? []));
  return [...files].flatMap((file) => sources.get(file)?.text ?? []);
}

/** The manifests of files. */
interface FileContent {
  readonly manifests: readonly ReadManifest[];
  readonly elsewhere: readonly ElsewhereManifest[];
  readonly problems: readonly Problem[];
}

const longText = 16 * 1024 * 1024;

async function readFiles(paths: readonly string[], { config, options, sources }: FileReading): Promise<FileContent> {
  const problems: Problem[] = [];
  const manifests: ReadManifest[] = [];
  const elsewhere: ElsewhereManifest[] = [];
  for (const path of paths) {
    if (options.signal !== undefined) await turn();
    options.signal?.throwIfAborted();
    const { source, problems: unread } = readSource(options.cwd, path);
    addAll(problems, unread);
    if (source === undefined) continue;
    // To locate something in a long file, it is read again.
    if (source.text.length < longText) sources.set(source.file, source);
    const read = readManifests(source, config);
    addAll(problems, read.problems);
    addAll(manifests, read.manifests);
    addAll(elsewhere, read.elsewhere);
  }
  return { manifests, elsewhere, problems };
}

/** Problems of the config say more than that there is no base URL. */
function whyNoAccount({ problems, settings, configPath }: LoadedConfig, locate: Locate): DimsyncError {
  refuseErrors(problems, locate);
  return noAccount(settings?.target ?? "", configPath !== undefined);
}

/** E_UNKNOWN_ADDRESS, with the address that was probably meant. */
export function unknownManifest(address: string, manifests: readonly Manifest[]): DimsyncError {
  const near = didYouMean(
    address,
    manifests.map((manifest) => manifest.address),
  );
  return new DimsyncError("E_UNKNOWN_ADDRESS", `No manifest has the address ${JSON.stringify(address)}.${near}`);
}

/** There is no base URL. */
export function noAccount(target: string, hasConfig: boolean): DimsyncError {
  return hasConfig
    ? new DimsyncError(
        "E_NO_ACCOUNT",
        `Target ${JSON.stringify(target)} has no base URL. Set its baseUrl in dimsync.yaml, or set DIMSYNC_BASE_URL and DIMSYNC_API_KEY.`,
      )
    : new DimsyncError(
        "E_NO_ACCOUNT",
        "There is no dimsync.yaml in this directory or above it, and DIMSYNC_BASE_URL is not set. Set DIMSYNC_BASE_URL and DIMSYNC_API_KEY, or create a project.",
        { command: "dimsync init" },
      );
}

/**
 * Names of the targets, for `--all-targets`, in the order of the config file; "default" if there
 * are none. Throws ProblemsError.
 */
export async function listTargets(options: ConfigOptions): Promise<readonly string[]> {
  const path = findConfig(options);
  if (path === undefined) return ["default"];
  const { source, problems } = readSource(options.cwd, path);
  const parsed = source === undefined ? { problems: [] } : parseConfig(source);
  if (source === undefined || parsed.problems.length > 0) {
    throw new ProblemsError(
      [...problems, ...parsed.problems],
      makeLocate(options.cwd, (file) => (file === source?.file ? source.text : undefined)),
    );
  }
  const names = targetNames("document" in parsed ? parsed.document : undefined);
  return names.length === 0 ? ["default"] : names;
}

function readManifests(source: Source, { variables, targets: all, settings }: LoadedConfig): FileContent {
  const { documents, problems: invalid } = readYaml(source.text);
  const target = settings?.target ?? "";
  const context = { variables, target, textLength: source.text.length };
  const manifests: ReadManifest[] = [];
  const elsewhere: ElsewhereManifest[] = [];
  const problems: Problem[] = [...yamlProblems(source, invalid)];
  for (const document of documents) {
    const place = { file: source.file, document: document.index, pointer: "" };
    const other = elsewhereManifest(document.value, place, target);
    addAll(problems, unknownTargets(document.value, place, all));
    if (other === undefined) manifests.push(readManifest(document, place, context));
    else elsewhere.push(other);
  }
  return { manifests, elsewhere, problems };
}

/** The first of the manifests with one address; the others are problems. */
function withoutDuplicates(manifests: readonly Manifest[]): Manifest[] {
  return [...new Map([...manifests].reverse().map((manifest) => [manifest.address, manifest])).values()];
}

/** An error if the user named the paths: they are probably wrong. With ids in the records, a plan makes it an error, too. */
function noManifests({ wanted }: LoadedConfig, elsewhere: number, hasPaths: boolean): Problem {
  const where = wanted.map(({ pattern }) => (pattern === "." ? "this directory" : pattern)).join(", ");
  const message =
    elsewhere > 0
      ? `All ${elsewhere} manifests in ${where} are for other targets. Add this target to metadata.targets of the manifests that it shares.`
      : `There are no manifests in ${where}. Write one, or import what the account has with dimsync import. If they are elsewhere, set \`manifests\` in dimsync.yaml.`;
  const place = wanted[0]?.place;
  return problemAt(place, hasPaths ? { code: "E_NO_MANIFESTS", message } : { code: "W_NO_MANIFESTS", severity: "warning", message });
}

/** Adds to an error that is found after loading: lines and columns, and the target to its commands. */
export async function withLocations<T>({ locate, settings }: Project, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ProblemsError && !error.isLocated)
      throw new ProblemsError(
        error.problems.map((problem) => withTarget(problem, settings)),
        locate,
      );
    if (!(error instanceof DimsyncError) || error.command === undefined) throw error;
    const { code, message, exit, cause, command } = error;
    throw new DimsyncError(code, message, { exit, cause, command: forTarget(command, settings) });
  }
}

const mostOfFile = 100;

/**
 * At most 100 problems of each file, errors first, and one that says how many more there are: the
 * position of each one takes time to find, and nobody reads thousands.
 */
function limitProblems(problems: readonly Problem[]): readonly Problem[] {
  if (problems.length <= mostOfFile) return problems;
  return [...groupBy(problems, ({ place }) => place?.file)].flatMap(([file, ofFile]) =>
    file === undefined ? ofFile : limited(file, ofFile),
  );
}

function limited(file: string, problems: readonly Problem[]): readonly Problem[] {
  if (problems.length <= mostOfFile) return problems;
  const sorted = [...problems.filter(isError), ...problems.filter((problem) => !isError(problem))];
  const [first, ...rest] = sorted.slice(mostOfFile);
  const count = rest.length + 1;
  const more: Problem = {
    code: "E_PROBLEMS",
    severity: first?.severity ?? "error",
    message: `${file} has ${counted(count, "more problem")}. Fix those above first, then run dimsync again.`,
    place: { file, document: 0, pointer: "" },
  };
  return [...sorted.slice(0, mostOfFile), more];
}
