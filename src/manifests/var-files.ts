import { resolve } from "node:path";
import { isObject, type JsonObject } from "../model/json.ts";
import type { Problem } from "../model/problem.ts";
import { faultProblems } from "./config-file.ts";
import { makeEffective } from "./effective.ts";
import { readSource, type Source } from "./source.ts";
import { parseValues } from "./values.ts";
import type { Variables } from "./variables.ts";

export interface VarFiles {
  readonly records: readonly JsonObject[];
  readonly sources: readonly Source[];
  readonly problems: readonly Problem[];
}

/** Files of variables, each a map of names, YAML or JSON. `${env.NAME}` in them is filled in, and so is `${var.NAME}` of a flag or the environment. */
export function readVarFiles(files: readonly string[], cwd: string, variables: Variables): VarFiles {
  const records: JsonObject[] = [];
  const sources: Source[] = [];
  const problems: Problem[] = [];
  for (const name of files) {
    const { source, problems: unread } = readSource(cwd, resolve(cwd, name));
    problems.push(...unread);
    if (source === undefined) continue;
    sources.push(source);
    const { documents, faults } = parseValues(source.text);
    problems.push(...faultProblems(source, faults));
    const place = { file: source.file, document: documents[0]?.index ?? 0, pointer: "" };
    if (documents.length > 1 || documents.some(({ value }) => !isObject(value))) {
      const message = "A file of variables is one map of names and values.";
      problems.push({ code: "E_WRONG_TYPE", severity: "error", summary: "Not a file of variables", message, place });
    } else if (documents[0] !== undefined) {
      const effective = makeEffective(documents[0].value, place, { kind: undefined, variables, textLength: source.text.length });
      problems.push(...effective.problems);
      records.push(effective.value as JsonObject); // a map stays a map
    }
  }
  return { records, sources, problems };
}
