import { newNodeChanges } from "../../src/core/base/model/changes.ts";
import { canonicalJson } from "../../src/core/base/model/json/json.ts";
import { fromPointer } from "../../src/core/base/model/json/pointer.ts";
import type { ChangeFacts, ChangeGroup, DraftFacts, PathChange } from "../../src/core/base/model/plan.ts";

/** Single changes as an item lists them: those of schemas are grouped by their facts. */
export function grouped<F extends ChangeFacts | DraftFacts = ChangeFacts>(
  changes: readonly (PathChange<F> | ChangeGroup<F>)[],
): readonly ChangeGroup<F>[] {
  const facts = new Map<string, F>();
  const ofNodes = newNodeChanges<F>();
  const others: ChangeGroup<F>[] = [];
  for (const change of changes) {
    if (!("path" in change) || !change.path.startsWith("/schemas/")) {
      others.push(change);
      continue;
    }
    const { path, field: _, ...rest } = change as PathChange<F> & { readonly field?: string };
    const [, schema = "", , table, , column] = fromPointer(path).slice(0, -1);
    const key = canonicalJson(rest);
    const known = facts.get(key) ?? (rest as unknown as F);
    facts.set(key, known);
    const node = [schema, table, column].filter((name) => name !== undefined) as unknown as readonly [string];
    ofNodes.add(node, fromPointer(path).at(-1) ?? "", known);
  }
  return [...others, ...ofNodes.changes()];
}

/** Whether a value is what JSON has: no getter, nothing hidden, nothing undefined, no class. */
export function isPlain(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return ["string", "number", "boolean"].includes(typeof value) || value === null;
  const isPlainType = Array.isArray(value) || [Object.prototype, null].includes(Object.getPrototypeOf(value) as object | null);
  const members = Object.entries(Object.getOwnPropertyDescriptors(value)).filter(([key]) => !(Array.isArray(value) && key === "length"));
  return (
    isPlainType &&
    Object.getOwnPropertySymbols(value).length === 0 &&
    members.every(([, one]) => one.enumerable === true && "value" in one && isPlain(one.value))
  );
}
