import { readFile } from "node:fs/promises";
import { isAbsolute, relative, sep } from "node:path";
import { sourcesOnly } from "../../../core/labels/dbt.ts";
import { variablePrefix } from "../../../core/manifests/config/variables.ts";
import type { Project } from "../../../core/manifests/project.ts";
import { byText } from "../../../core/model/address.ts";
import { DimsyncError, refuseErrors } from "../../../core/model/errors.ts";
import type { Plan } from "../../../core/model/plan.ts";
import { version } from "../../../core/model/runtime/version.ts";
import type { Settings } from "../../../core/model/settings/config.ts";
import type { Environment } from "../../../core/model/settings/env.ts";
import { secretsIn } from "../../../core/model/settings/secret.ts";
import type { BundleContent } from "./bundle.ts";

interface BundleOptions {
  readonly source: string;
  /** Undefined outside a git repository. */
  readonly git: Plan["git"];
  readonly vars: Readonly<Record<string, string>>;
  /** Absolute, in the order of the flags. */
  readonly varFiles: readonly string[];
  readonly env: Environment;
  /** Whether the controller uses the embedded database: then it runs on this machine, and uses the records of the project's folder. */
  readonly isLocal: boolean;
}

/**
 * The project as a bundle: every file that its targets under control depend on. Throws ProblemsError if
 * a target does not validate, and E_BUNDLE if a worker could not use it.
 */
export async function makeBundle(projects: readonly Project[], options: BundleOptions): Promise<BundleContent> {
  const [first] = projects;
  if (first?.configFile === undefined)
    throw new DimsyncError(
      "E_BUNDLE",
      "No target in dimsync.yaml has `controller`. Add it to each target that the controller should check, such as controller: { every: 15m }.",
    );
  for (const project of projects) {
    refuseErrors(project.problems, project.locate);
    checkPlaces(project, options.isLocal);
  }
  const { folder } = first.settings;
  const files = await readFiles(projects, folder);
  const path = (file: string): string => pathIn(folder, file);
  const env = variablesOf(options.env);
  // A worker has no dbt project.
  const labelled = await Promise.all(
    [...new Set(projects.flatMap(({ dbtFiles }) => dbtFiles))].map(async (file) => [path(file), sourcesOnly(await readFile(file, "utf8"))]),
  );
  return {
    format: 1,
    source: options.source,
    toolVersion: version,
    configFile: path(first.configFile),
    files: { ...files, ...Object.fromEntries(labelled) },
    ...(options.git === undefined ? {} : { commit: options.git.commit }),
    ...(options.git?.dirty === true ? { dirty: true } : {}),
    ...(Object.keys(options.vars).length === 0 ? {} : { vars: options.vars }),
    ...(options.varFiles.length === 0 ? {} : { varFiles: options.varFiles.map(path) }),
    ...(Object.keys(env).length === 0 ? {} : { env }),
    ...(options.isLocal ? { folder } : {}),
  };
}

/** Throws E_BUNDLE if another machine could not use the records or secrets of the project. The worker checks it again. */
export function checkPlaces({ settings, resources }: Project, isLocal: boolean): void {
  const { target, records } = settings;
  const wanted = isLocal ? "folder" : "postgres";
  if (records.store !== wanted && records.store !== "postgres")
    throw new DimsyncError(
      "E_BUNDLE",
      isLocal
        ? `The records of target ${target} are in git. The controller has no checkout; with the embedded database, records are in files or in PostgreSQL. Move them:`
        : `The records of target ${target} are in ${records.store === "git" ? "git" : "files"}, and the controller's machines only share its database. Move them:`,
      { command: `dimsync records migrate -t ${target} --to ${wanted}` },
    );
  if (isLocal) return;
  const relativeFile = secretsOf(settings, resources)
    .map(({ $secret }) => $secret.file)
    .find((file) => file !== undefined && !isAbsolute(file));
  if (relativeFile !== undefined)
    throw new DimsyncError(
      "E_BUNDLE",
      `A secret of target ${target} is in the file ${JSON.stringify(relativeFile)}, which is relative to the project, and workers have no checkout. Use an absolute path, or an environment variable of the workers.`,
    );
}

/** Every secret that a run of the target can need. */
const secretsOf = (settings: Settings, resources: Project["resources"]) =>
  secretsIn([settings.apiKey ?? {}, settings.records, settings.notifications ?? {}, ...resources.map(({ spec }) => spec)]);

async function readFiles(projects: readonly Project[], folder: string): Promise<Readonly<Record<string, string>>> {
  const bindings = new Set(projects.map(({ settings }) => settings.bindingsFile));
  const paths = projects.flatMap(({ sourceFiles }) => sourceFiles.files);
  const found = await Promise.all(
    [...new Set(paths)]
      .filter((file) => !bindings.has(file))
      .sort(byText)
      .map(async (file) => [pathIn(folder, file), await textOf(file)] as const),
  );
  return Object.fromEntries(found.flatMap(([path, text]) => (text === undefined ? [] : [[path, text]])));
}

/** Undefined if the file does not exist: projects name files that may exist. */
async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** The path of a file within the project's folder, with "/". Throws E_BUNDLE. */
function pathIn(folder: string, file: string): string {
  const path = relative(folder, file).split(sep).join("/");
  if (path.startsWith("../") || isAbsolute(path))
    throw new DimsyncError(
      "E_BUNDLE",
      `${file} is outside the project's folder ${folder}, and only files in it can be pushed. Move or copy it there.`,
    );
  return path;
}

const variablesOf = (env: Environment): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(env)
      .flatMap(([name, value]) => (name.startsWith(variablePrefix) && value !== undefined ? [[name, value] as const] : []))
      .sort(([a], [b]) => byText(a, b)),
  );
