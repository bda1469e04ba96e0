import type { LiveColumn } from "../../model/live.ts";
import type { DraftChange, Risk } from "../../model/plan.ts";
import { type Pointer, toPointer } from "../../model/pointer.ts";
import type { Speaker } from "./program.ts";

/** How deep a node is: schemas 0, tables 1, columns 2. */
export type Depth = 0 | 1 | 2;

export const levelNames = ["schema", "table", "column"] as const;

/** Names from the schema down, as deep as the node is. */
export type NodePath = readonly [schema: string, table?: string, column?: string];

/** The attributes of a live node that rules may ask for, whatever it is. */
export type LiveNode = Pick<LiveColumn, "enabled"> & { readonly hashed?: boolean; readonly isPrimaryKey?: boolean };

export type Field = "enabled" | "hashed";

export type NodeCause = NonNullable<DraftChange["cause"]>;

/** One boolean of one node that is to change. */
export interface NodeChange {
  readonly path: NodePath;
  readonly key: Field;
  readonly before: boolean;
  readonly after: boolean;
  readonly risk: Risk;
  readonly cause: NodeCause;
  readonly by: Speaker;
}

export const riskOf = (key: Field, after: boolean): Risk => ((key === "hashed") === after ? "protects" : "exposes");

function below(root: readonly string[], [schema, table, column]: NodePath, key: string | undefined): Pointer {
  const tables = table === undefined ? [] : ["tables", table];
  const columns = column === undefined ? [] : ["columns", column];
  return toPointer([...root, schema, ...tables, ...columns, ...(key === undefined ? [] : [key])]);
}

/** Into the live object: "/schemas/public/tables/users/columns/email/hashed", without a key the node itself. */
export const nodePointer = (path: NodePath, key?: string): Pointer => below(["schemas"], path, key);

/** Into the manifest: "/spec/schemas/public/tables/users/enabled". */
export const literalPointer = (path: NodePath, key?: string): Pointer => below(["spec", "schemas"], path, key);

/** For people: public.users.email; a name that would blur the dots stands in quotes. */
export function nodeText(path: NodePath): string {
  return path.map((name) => (name !== undefined && /^[\p{L}\p{N}_$-]+$/u.test(name) ? name : JSON.stringify(name))).join(".");
}

/** An order that doesn't depend on the order of an answer's keys. */
export function comparePaths(a: NodePath, b: NodePath): number {
  for (let depth = 0; depth < 3; depth++) {
    const [one, other] = [a[depth], b[depth]];
    if (one === other) continue;
    if (one === undefined || other === undefined) return one === undefined ? -1 : 1;
    return one < other ? -1 : 1;
  }
  return 0;
}
