import { type NodePath, nodePointer } from "../kinds/schema-config/tree.ts";
import { isObject } from "../model/json.ts";
import type { LiveSchemas } from "../model/live.ts";
import { fromPointer, type Pointer } from "../model/pointer.ts";
import type { Named, PolicyNode } from "./compile.ts";

/** What a policy in JavaScript gets: data that is its own, so that nothing it does to it reaches anything else. */
export interface PolicyState {
  /** The manifest's name, else the live name. */
  readonly integration: string;
  readonly labels: Readonly<Record<string, string>>;
  /** As they would be after apply, or as they are in a drift report. `columns` absent: unknown. */
  readonly schemas: LiveSchemas;
}

export interface CustomFinding {
  /** JSON Pointer, "/schemas/public/tables/users/columns/email"; absent: the whole integration. */
  readonly path?: Pointer;
  readonly message: string;
}

/** A policy in JavaScript: gets data, returns findings, has no client (product §2.3). */
export type PolicyFunction = (state: PolicyState) => readonly CustomFinding[];

interface State extends Named {
  readonly live: LiveSchemas;
  readonly after: ReadonlyMap<Pointer, boolean>;
}

/** Asks a policy in JavaScript. What it throws, or returns instead of findings, is told in a sentence: never thrown, and never a stack trace. */
export function runPolicyFunction(
  judge: PolicyFunction,
  { names, labels, live, after }: State,
): { readonly findings: readonly Required<CustomFinding>[] } | { readonly why: string } {
  let said: unknown;
  try {
    said = judge({ integration: names[0] ?? "", labels: { ...labels }, schemas: stateAfter(live, after) });
  } catch (error) {
    return { why: `threw ${shortText(error)}` };
  }
  // A rejection that nobody takes would end the process.
  if (said instanceof Promise) said.catch(() => undefined);
  if (!Array.isArray(said))
    return {
      why:
        isObject(said) && "then" in said ? "returned a promise; a policy can't wait for anything" : `returned ${kindOf(said)} and no list`,
    };
  const findings: Required<CustomFinding>[] = [];
  for (const [index, finding] of said.entries()) {
    if (!isObject(finding) || typeof finding["message"] !== "string" || finding["message"] === "")
      return { why: `returned a list whose element ${index} is no { path, message }` };
    const { path = "", message } = finding;
    if (typeof path !== "string" || (path !== "" && !path.startsWith("/")))
      return { why: `returned a list whose element ${index} has a path that is no JSON Pointer, such as /schemas/public/tables/users` };
    findings.push({ path, message });
  }
  return { findings };
}

const kindOf = (value: unknown): string => (value === undefined ? "nothing" : value === null ? "null" : `a value of type ${typeof value}`);

/** The first line of what was thrown, cut: it comes from anybody's code. */
function shortText(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const [line = ""] = text.split("\n");
  return line.length > 200 ? `${line.slice(0, 200)}…` : line;
}

/** The node that a finding's path means, for exemptions. */
export function spotOf(path: Pointer): PolicyNode {
  const [root, schema, tables, table, columns, column] = fromPointer(path);
  if (root !== "schemas" || schema === undefined) return {};
  if (tables !== "tables" || table === undefined) return { schema };
  return columns === "columns" && column !== undefined ? { schema, table, column } : { schema, table };
}

interface OwnCopy {
  enabled: boolean;
  hashed?: boolean;
  tables?: Record<string, OwnCopy>;
  columns?: Record<string, OwnCopy>;
}

/** A copy of the tree with the values of after apply. */
function stateAfter(live: LiveSchemas, after: ReadonlyMap<Pointer, boolean>): LiveSchemas {
  const copy = structuredClone(live);
  if (after.size === 0) return copy;
  const put = (path: NodePath, entry: OwnCopy): void => {
    entry.enabled = after.get(nodePointer(path, "enabled")) ?? entry.enabled;
    if (entry.hashed !== undefined) entry.hashed = after.get(nodePointer(path, "hashed")) ?? entry.hashed;
  };
  // The copy is nobody else's yet, so it may be written to.
  for (const [schema, schemaEntry] of Object.entries(copy as unknown as Record<string, OwnCopy>)) {
    put([schema], schemaEntry);
    for (const [table, tableEntry] of Object.entries(schemaEntry.tables ?? {})) {
      put([schema, table], tableEntry);
      for (const [column, entry] of Object.entries(tableEntry.columns ?? {})) put([schema, table, column], entry);
    }
  }
  return copy;
}
