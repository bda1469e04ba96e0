import type { JsonValue } from "../model/json.ts";

/** A variable's value; `isText` where it came as text that may stand for a number or for true and false: a flag or the environment. */
export interface Variable {
  readonly value: JsonValue;
  readonly isText: boolean;
}

/** What `${var.NAME}` and `${env.NAME}` mean. */
export interface Variables {
  readonly byName: ReadonlyMap<string, Variable>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Sources of variables, the strongest first (product §2.1: flag > environment > target > config). A file of variables is named by a flag. */
export interface VariableSources {
  /** `--var NAME=VALUE` */
  readonly flags: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Contents of `--var-file`, in the order given: a later one wins. */
  readonly files: readonly Readonly<Record<string, JsonValue>>[];
  readonly target?: Readonly<Record<string, JsonValue>>;
  readonly config?: Readonly<Record<string, JsonValue>>;
}

const prefix = "DIMSYNC_VAR_";

export function gatherVariables(sources: VariableSources): Variables {
  const byName = new Map<string, Variable>();
  const addTyped = (record: Readonly<Record<string, JsonValue>> | undefined) => {
    for (const [name, value] of Object.entries(record ?? {})) byName.set(name, { value, isText: false });
  };
  addTyped(sources.config);
  addTyped(sources.target);
  for (const file of sources.files) addTyped(file);
  for (const [name, value] of Object.entries(sources.env)) {
    if (name.startsWith(prefix) && value !== undefined) byName.set(name.slice(prefix.length), { value, isText: true });
  }
  for (const [name, value] of Object.entries(sources.flags)) byName.set(name, { value, isText: true });
  return { byName, env: sources.env };
}
