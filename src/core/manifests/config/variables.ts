import { resolve } from "node:path";
import { isObject, type JsonObject, type JsonValue } from "../../model/json/json.ts";
import { addAll } from "../../model/maps.ts";
import { type Problem, problemAt } from "../../model/problem.ts";
import { read } from "../../yaml/read.ts";
import { readSource, type Source } from "../source.ts";
import { makeEffective } from "../substitute.ts";
import { yamlProblems } from "./file.ts";
import type { ConfigOptions } from "./options.ts";

/** The values of `${var.NAME}`, by name: strings from flags and the environment, YAML's own types from `vars` and files. */
export type Variables = ReadonlyMap<string, JsonValue>;

/**
 * Sources of variables, highest precedence first: flag > environment > target > config. Variable
 * files are given with a flag.
 */
interface VariableSources {
  /** `--var NAME=VALUE` */
  readonly flags: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Contents of `--var-file`, in the order given; a later file overrides an earlier one. */
  readonly files: readonly Readonly<Record<string, JsonValue>>[];
  readonly target?: Readonly<Record<string, JsonValue>>;
  readonly config?: Readonly<Record<string, JsonValue>>;
}

/** Of the names of environment variables that set variables of manifests. */
const variablePrefix = "DIMSYNC_VAR_";

export function gatherVariables(sources: VariableSources): Variables {
  const ofEnvironment = Object.entries(sources.env).flatMap(([name, value]) =>
    name.startsWith(variablePrefix) && value !== undefined ? [[name.slice(variablePrefix.length), value] as const] : [],
  );
  const records = [sources.config, sources.target, ...sources.files].flatMap((record) => Object.entries(record ?? {}));
  return new Map([...records, ...ofEnvironment, ...Object.entries(sources.flags)]);
}

interface VarFiles {
  readonly records: readonly JsonObject[];
  readonly sources: readonly Source[];
  readonly problems: readonly Problem[];
}

/**
 * Variable files, each a map of names, YAML or JSON. `${var.NAME}` of a flag or the environment is
 * replaced in them.
 */
export function readVarFiles({ varFiles = [], cwd }: ConfigOptions, variables: Variables): VarFiles {
  const records: JsonObject[] = [];
  const sources: Source[] = [];
  const problems: Problem[] = [];
  for (const name of varFiles) {
    const { source, problems: unread } = readSource(cwd, resolve(cwd, name));
    addAll(problems, unread);
    if (source === undefined) continue;
    sources.push(source);
    const { documents, problems: invalid } = read(source.text);
    addAll(problems, yamlProblems(source, invalid));
    const place = { file: source.file, document: documents[0]?.index ?? 0, pointer: "" };
    if (documents.length > 1 || documents.some(({ value }) => !isObject(value))) {
      problems.push(problemAt(place, { code: "E_WRONG_TYPE", message: "A variable file must be one map of names and values." }));
    } else if (documents[0] !== undefined) {
      const effective = makeEffective(documents[0].value, place, { kind: undefined, variables, textLength: source.text.length });
      addAll(problems, effective.problems);
      records.push(effective.value as JsonObject); // a map stays a map
    }
  }
  return { records, sources, problems };
}
