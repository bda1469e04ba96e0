import type { IntegrationNames } from "../kinds/select.ts";
import { isObject } from "../model/json/json.ts";
import { fromPointer, type Pointer } from "../model/json/pointer.ts";
import type { LiveSchemas } from "../model/live.ts";
import { type NodePath, nodePointer } from "../model/nodes.ts";
import { walk } from "../model/schema-tree.ts";

/** The input of a policy's module: a copy, so that the module can change it. */
export interface PolicyState {
  /** The name of its manifest, else its live name. */
  readonly integration: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The state after apply, or the live state in a drift report. A table without `columns` has unknown columns. */
  readonly schemas: LiveSchemas;
}

export interface CustomFinding {
  /** JSON Pointer, "/schemas/public/tables/users/columns/email"; absent for the integration as a whole. */
  readonly path?: Pointer;
  readonly message: string;
}

/** The default export of a policy's module. */
export type PolicyFunction = (state: PolicyState) => readonly CustomFinding[];

interface ScriptInput extends IntegrationNames {
  readonly live: LiveSchemas;
  readonly planned: ReadonlyMap<Pointer, boolean>;
}

/** Runs a policy's module. If it throws or returns anything but findings, `failure` is the end of a sentence, without a stack trace. */
export function runPolicyFunction(
  policyFunction: PolicyFunction,
  { names, labels, live, planned }: ScriptInput,
): { readonly findings: readonly Required<CustomFinding>[] } | { readonly failure: string } {
  let returned: unknown;
  try {
    returned = policyFunction({ integration: names[0] ?? "", labels: { ...labels }, schemas: plannedCopy(live, planned) });
  } catch (error) {
    return { failure: `threw ${shortText(error)}` };
  }
  // An unhandled rejection would end the process.
  if (returned instanceof Promise) returned.catch(() => undefined);
  if (!Array.isArray(returned)) {
    const isPromise = isObject(returned) && "then" in returned;
    return { failure: isPromise ? "returned a promise, but a policy must be synchronous" : `returned ${describe(returned)}, not a list` };
  }
  const findings: Required<CustomFinding>[] = [];
  for (const [index, finding] of returned.entries()) {
    if (!isObject(finding) || typeof finding["message"] !== "string" || finding["message"] === "")
      return { failure: `returned a list whose element ${index} is not a { path, message }` };
    const { path = "", message } = finding;
    if (typeof path !== "string" || (path !== "" && !path.startsWith("/")))
      return {
        failure: `returned a list whose element ${index} has a path that is not a JSON Pointer such as /schemas/public/tables/users`,
      };
    findings.push({ path, message });
  }
  return { findings };
}

const describe = (value: unknown): string =>
  value === undefined ? "nothing" : value === null ? "null" : `a value of type ${typeof value}`;

/** The first line of what was thrown, at most 200 characters: modules can throw anything. */
function shortText(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const [line = ""] = text.split("\n");
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}

/** The names in a finding's path, from the schema down; none for the integration as a whole. */
export function namesIn(path: Pointer): readonly string[] {
  const [root, schema, tables, table, columns, column] = fromPointer(path);
  if (root !== "schemas" || schema === undefined) return [];
  if (tables !== "tables" || table === undefined) return [schema];
  return columns === "columns" && column !== undefined ? [schema, table, column] : [schema, table];
}

interface OwnCopy {
  enabled: boolean;
  hashed?: boolean;
  tables?: Record<string, OwnCopy>;
  columns?: Record<string, OwnCopy>;
}

function plannedCopy(live: LiveSchemas, planned: ReadonlyMap<Pointer, boolean>): LiveSchemas {
  const copy = structuredClone(live);
  if (planned.size === 0) return copy;
  // Nothing else refers to the copy yet, so its values may be set, although the types of live trees are read-only.
  const setEnabled = (entry: OwnCopy, path: NodePath): undefined => {
    entry.enabled = planned.get(nodePointer(path, "enabled")) ?? entry.enabled;
  };
  walk(copy as unknown as Record<string, OwnCopy>, {
    schema: setEnabled,
    table: setEnabled,
    column(entry, path) {
      setEnabled(entry, path);
      entry.hashed = planned.get(nodePointer(path, "hashed")) ?? entry.hashed ?? false;
    },
  });
  return copy;
}
