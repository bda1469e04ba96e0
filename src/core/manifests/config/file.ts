import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { isObject, type JsonObject, type JsonValue, memberAt } from "../../base/model/json/json.ts";
import { fromPointer, isWithin, type Pointer, toPointer } from "../../base/model/json/pointer.ts";
import { getOrAdd } from "../../base/model/maps.ts";
import { type Problem, problemAt, type SourceLocation } from "../../base/model/problem.ts";
import type { ConfigFile } from "../../base/model/specs.generated.d.ts";
import type { YamlProblem } from "../../base/yaml/problems.ts";
import { read } from "../../base/yaml/read.ts";
import type { SchemaError } from "../schema/messages.ts";
import { validateEffective } from "../schema/validate.ts";
import type { Source } from "../source.ts";
import { makeEffective } from "../substitute.ts";
import { config as validateConfig } from "../validators.generated.js";
import { type ConfigOptions, setting } from "./options.ts";
import type { Variables } from "./variables.ts";

/**
 * The path of the config file: `--config`, then DIMSYNC_CONFIG, then dimsync.yaml in the working
 * directory or above it, up to the root of the git repository.
 */
export function findConfig(options: ConfigOptions): string | undefined {
  const { cwd } = options;
  const named = namedConfig(options);
  if (named !== undefined) return resolve(cwd, named);
  let folder = resolve(cwd);
  while (true) {
    const candidate = join(folder, "dimsync.yaml");
    if (existsSync(candidate)) return candidate;
    if (dirname(folder) === folder || existsSync(join(folder, ".git"))) return undefined;
    folder = dirname(folder);
  }
}

/** The config file that the operator names: `--config`, then DIMSYNC_CONFIG. */
export const namedConfig = ({ configFile, env }: ConfigOptions): string | undefined => configFile ?? setting(env, "DIMSYNC_CONFIG");

/** The one document of a config file as written, and the problems in its YAML. */
export function parseConfig(source: Source): {
  readonly document?: unknown;
  readonly place: SourceLocation;
  readonly problems: readonly Problem[];
} {
  const { documents, problems: invalid } = read(source.text);
  const place: SourceLocation = { file: source.file, document: documents[0]?.index ?? 0, pointer: "" };
  const problems = yamlProblems(source, invalid);
  if (problems.length > 0) return { place, problems };
  const fail = (message: string) => ({ place, problems: [problemAt(place, { code: "E_WRONG_TYPE", message })] });
  if (documents.length > 1) return fail("The config file must be a single document. Move manifests to other files.");
  const document = documents[0]?.value;
  if (!isObject(document)) return fail("The config file must be a map that begins with apiVersion: dimsync/v1 and kind: Config.");
  return { document, place, problems: [] };
}

/** Problems in the YAML. Their pointer is `@` and the offset in the text, because they are not at a value. */
export function yamlProblems(source: Source, problems: readonly YamlProblem[]): readonly Problem[] {
  return problems.map(({ document, offset, code, message }) =>
    problemAt({ file: source.file, document, pointer: `@${offset}` }, { code, message }),
  );
}

/** Names of the targets, in the order of the file. */
export function targetNames(document: unknown): readonly string[] {
  const targets = memberAt(document, "targets");
  return isObject(targets) ? Object.keys(targets) : [];
}

export interface CheckedConfig {
  readonly config: ConfigFile;
  readonly problems: readonly Problem[];
}

/**
 * Replaces variables and checks against the schema. In targets that were not chosen, a variable
 * without a value is not a problem, and its location is not checked any further.
 */
export function checkConfig(
  document: unknown,
  options: {
    readonly place: SourceLocation;
    readonly target: string | undefined;
    readonly variables: Variables;
    readonly textLength: number;
  },
): CheckedConfig {
  const { place, target, variables, textLength } = options;
  const effective = makeEffective(document, place, { kind: "Config", variables, textLength });
  const elsewhere = (pointer: Pointer | undefined) =>
    pointer !== undefined && isWithin(pointer, "/targets") && (target === undefined || !isWithin(pointer, toPointer(["targets", target])));
  const isQuiet = ({ code, place: at }: Problem) => code === "E_WRONG_SUBSTITUTION" && elsewhere(at?.pointer);
  const { value, errors, problems: fromSchema, context } = validateEffective(validateConfig, effective, { kind: "Config", place });
  const problems = [...effective.problems.filter((problem) => !isQuiet(problem)), ...fromSchema];
  const faulty = [...context.known, ...errors.map(faultyPlace)];
  const sound = without(value, faulty.filter((pointer) => pointer !== "").map(fromPointer));
  // Without its faulty parts the document has the shape that the schema requires.
  return { config: (isObject(sound) ? sound : {}) as ConfigFile, problems };
}

/** The value without the parts at the paths, none of which is empty. */
function without(value: JsonValue, paths: readonly (readonly string[])[]): JsonValue {
  if (!Array.isArray(value) && !isObject(value)) return value;
  const below = new Map<string, (readonly string[])[]>();
  const removed = new Set<string>();
  for (const [first = "", ...more] of paths) {
    if (more.length === 0) removed.add(first);
    else getOrAdd(below, first, () => []).push(more);
  }
  const entries = Object.entries(value as JsonObject)
    .filter(([key]) => !removed.has(key))
    .map(([key, member]) => [key, below.has(key) ? without(member, below.get(key) ?? []) : member] as const);
  return Array.isArray(value) ? entries.map(([, item]) => item) : Object.fromEntries(entries);
}

function faultyPlace({ instancePath, keyword, params }: SchemaError): Pointer {
  const member =
    keyword === "additionalProperties" ? params["additionalProperty"] : keyword === "propertyNames" ? params["propertyName"] : undefined;
  return typeof member === "string" ? instancePath + toPointer([member]) : instancePath;
}
