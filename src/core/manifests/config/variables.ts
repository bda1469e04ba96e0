import { resolve } from "node:path";
import { isObject, type JsonObject, type JsonValue } from "../../base/model/json/json.ts";
import { addAll } from "../../base/model/maps.ts";
import { below, type Problem, problemAt, type SourceLocation } from "../../base/model/problem.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import { read } from "../../base/yaml/read.ts";
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

/** A variable that someone sets for this project: with `--var` (no place), in a variable file, or in the config. */
export interface WrittenVariable {
  readonly name: string;
  readonly place?: SourceLocation | undefined;
}

/**
 * Variables that no text uses: an error for `--var`, a warning for what is written in a file, which several commands share. `texts`: of all files that can
 * use them.
 */
export function unusedVariables(written: readonly WrittenVariable[], texts: Iterable<string>): readonly Problem[] {
  const used = new Set<string>();
  for (const text of texts) for (const [, name = ""] of text.matchAll(/\$\{var\.([^}]+)\}/gu)) used.add(name);
  return written
    .filter(({ name }) => !used.has(name))
    .map(({ name, place }) => {
      const message = `Nothing uses the variable \${var.${name}}, so its value has no effect.${didYouMean(name, used)} Correct the name, or remove it.`;
      if (place === undefined) return { code: "E_UNKNOWN_REFERENCE", severity: "error", message: `--var ${name}: ${message}` };
      return problemAt({ ...place, on: "key" }, { code: "W_UNUSED", severity: "warning", message });
    });
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
  readonly written: readonly WrittenVariable[];
  readonly sources: readonly Source[];
  readonly problems: readonly Problem[];
}

/**
 * Variable files, each a map of names, YAML or JSON. `${var.NAME}` of a flag or the environment is
 * replaced in them.
 */
export function readVarFiles({ varFiles = [], cwd }: ConfigOptions, variables: Variables): VarFiles {
  const records: JsonObject[] = [];
  const written: WrittenVariable[] = [];
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
      for (const name of Object.keys(effective.value as JsonObject)) written.push({ name, place: below(place, [name]) });
    }
  }
  return { records, written, sources, problems };
}
