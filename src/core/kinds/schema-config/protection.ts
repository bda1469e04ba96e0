import { canonicalJson } from "../../model/json/json.ts";
import type { LiveSchemas } from "../../model/live.ts";
import type { NodePath } from "../../model/nodes.ts";
import type { Field, NodeCause } from "../../model/schema-tree.ts";
import type { LostProtection, LostTests, UnitChange } from "../kind.ts";
import { walkResolved } from "./coverage.ts";
import { appliedTo, decisionOf } from "./explain.ts";
import { desiredOf, type SchemaConfigUnit } from "./units.ts";

// What manifests of another commit (`before`) kept protected, and those of now do not.

/** Undefined if no manifest selects the integration any more. */
type Change = Omit<UnitChange<SchemaConfigUnit>, "now"> & { readonly now: SchemaConfigUnit | undefined };

/** A text that is equal for units whose manifests say the same. Labels are not part of it. */
export const settingsOf = ({ rules }: SchemaConfigUnit): string =>
  canonicalJson(desiredOf(rules.program.layers.map(({ compiled }) => compiled)));

/** The columns that `before` keeps hashed or switched off and `now` does not, although the plan sends nothing there: by what kept them. */
export function lostProtection({ before, now }: Change, live: LiveSchemas, { ignored, isSent }: LostTests): readonly LostProtection[] {
  const found = new Map<string, { readonly key: Field; readonly cause: NodeCause; columns: number }>();
  const keeps = (unit: SchemaConfigUnit, path: NodePath, key: Field): NodeCause | undefined => {
    const decision = decisionOf(unit.rules, live, { path, key });
    return decision !== undefined && isProtecting(key, decision.value) ? decision.cause : undefined;
  };
  const keepsNow = (path: NodePath, key: Field): boolean =>
    now !== undefined && !ignored.now(path, key) && keeps(now, path, key) !== undefined;
  const check = (path: NodePath, key: Field, columns: number): void => {
    if (columns === 0 || ignored.before(path, key) || isSent(path, key)) return;
    const cause = keeps(before, path, key);
    if (cause === undefined || keepsNow(path, key) || (key === "hashed" && keepsNow(path, "enabled"))) return;
    const id = canonicalJson([key, cause.rule ?? "", cause.rule === undefined ? cause.place.file : cause.place]);
    const known = found.get(id);
    if (known === undefined) found.set(id, { key, cause, columns });
    else known.columns += columns;
  };
  let isOff = { schema: false, table: false };
  walkResolved(before.rules, live, {
    schema({ node, path }) {
      isOff = { schema: keepsNow(path, "enabled"), table: false };
      if (!isOff.schema)
        check(
          path,
          "enabled",
          Object.values(node.tables).reduce((sum, table) => sum + columnsIn(table), 0),
        );
      return !isOff.schema;
    },
    table({ node, path }) {
      isOff = { ...isOff, table: keepsNow(path, "enabled") };
      if (!isOff.table) check(path, "enabled", columnsIn(node));
      return !isOff.table;
    },
    column({ path, resolution }) {
      if (resolution.hashed === true) check(path, "hashed", 1);
      if (resolution.enabled === false) check(path, "enabled", 1);
    },
  });
  return [...found.values()];
}

const isProtecting = (key: Field, value: boolean): boolean => value === (key === "hashed");

/** A table whose columns are unknown counts as one. */
const columnsIn = ({ columns }: LiveSchemas[string]["tables"][string]): number => (columns === undefined ? 1 : Object.keys(columns).length);

/**
 * What protected a field and is gone, if nothing new decides the field now: a rule, entry or mode that was there before and was overridden. Undefined if the
 * field was not protected, if what protected it is still there, or if what decides it now is new.
 */
export function removedCause(
  { before, now }: UnitChange<SchemaConfigUnit>,
  live: LiveSchemas,
  field: { readonly path: NodePath; readonly key: Field },
): NodeCause | undefined {
  const { path, key } = field;
  const was = decisionOf(before.rules, live, field);
  if (was === undefined || !isProtecting(key, was.value)) return undefined;
  const [appliedBefore, appliedNow] = [before, now].map(({ rules }) => appliedTo(rules, live, path));
  const decided = (all: typeof appliedNow, by: NodeCause): string | undefined =>
    all?.findLast(({ cause, set }) => set[key] !== undefined && canonicalJson(cause(key).place) === canonicalJson(by.place))?.content;
  const is = decisionOf(now.rules, live, field);
  const [contentBefore, contentNow] = [decided(appliedBefore, was.cause), is === undefined ? undefined : decided(appliedNow, is.cause)];
  const isGone = appliedNow?.every(({ content }) => content !== contentBefore) === true;
  const isKnown = contentNow !== undefined && appliedBefore?.some(({ content }) => content === contentNow) === true;
  return isGone && isKnown ? was.cause : undefined;
}
