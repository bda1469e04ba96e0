import { readOr } from "../../base/model/errors.ts";
import { canonicalJson, defined } from "../../base/model/json/json.ts";
import type { LiveSchemas } from "../../base/model/live.ts";
import { getOrAdd } from "../../base/model/maps.ts";
import type { NodePath } from "../../base/model/nodes.ts";
import type { Field, NodeCause } from "../../base/model/schema-tree.ts";
import type { Reads } from "../../base/model/service.ts";
import { countList } from "../../base/text/counts.ts";
import type { Account, LostProtection, LostTests, ReadNeeds, UnitChange } from "../kind.ts";
import { labelScopes } from "../select.ts";
import { type Config, compileConfig, makeRuleProgram } from "./compiled-config.ts";
import { tablesToRead } from "./coverage.ts";
import { appliedTo, decisionIn } from "./explain.ts";
import { readWithColumns } from "./read.ts";
import { newRuleCache, withLabels } from "./rules/rule-cache.ts";
import { ruleSetsIn } from "./rules/rule-sets.ts";
import { type ManagedNode, managedAt, managedColumn, managedTableAt, type Question, scan } from "./scan.ts";
import { desiredOf, type SchemaConfigUnit } from "./units.ts";

// What manifests of another commit (`before`) kept protected, and those of now do not.

/** Undefined if no manifest selects the integration any more. */
export type LostChange = Omit<UnitChange<SchemaConfigUnit>, "now"> & { readonly now: SchemaConfigUnit | undefined };

/** A text that is equal for units whose manifests say the same. Labels are not part of it. */
export const settingsOf = ({ rules }: SchemaConfigUnit): string =>
  canonicalJson(desiredOf(rules.program.layers.map(({ compiled }) => compiled)));

/** The same for each SchemaConfig, the one with the highest priority last. */
export const layersOf = ({ rules }: SchemaConfigUnit): readonly string[] =>
  rules.program.layers.map(({ compiled }) => canonicalJson(desiredOf([compiled])));

/**
 * The columns that `before` keeps hashed or switched off and `now` does not, although the plan sends nothing there: by what kept them. 0 columns: the plan
 * sends something for all of them.
 */
export function lostProtection(change: LostChange, live: LiveSchemas, { ignored, isSent, hasLost }: LostTests): readonly LostProtection[] {
  const found = new Map<string, LostProtection>();
  for (const { key, cause, path, columns } of lostNodes(change, live, ignored)) {
    const label = cause.label !== undefined && hasLost(path, cause.label.name) ? cause.label.name : undefined;
    const id = canonicalJson([key, cause.rule ?? "", cause.rule === undefined ? cause.place.file : cause.place, label ?? null]);
    const before = found.get(id);
    const lost = isSent(path, key) ? 0 : columns;
    found.set(id, {
      ...{ key, cause, ...defined({ label }), columns: lost + (before?.columns ?? 0) },
      examples: lost === 0 ? (before?.examples ?? []) : [...(before?.examples ?? []), path].slice(0, mostLostExamples),
    });
  }
  return [...found.values()];
}

const mostLostExamples = 3;

/** A schema, table or column that `before` keeps hashed or switched off, and `now` does not. */
export interface LostNode {
  readonly path: NodePath;
  readonly key: Field;
  /** What kept it. */
  readonly cause: NodeCause;
  /** It and those below. */
  readonly columns: number;
}

/** A node as the manifests of both commits manage it. `is`: undefined if none selects the integration any more. */
interface Sides {
  readonly was: ManagedNode;
  readonly is: ManagedNode | undefined;
}

export function lostNodes({ before, now }: LostChange, live: LiveSchemas, ignored?: LostTests["ignored"]): readonly LostNode[] {
  const found: LostNode[] = [];
  const isKept = (is: Sides["is"], path: NodePath, key: Field): boolean =>
    is !== undefined && ignored?.now(path, key) !== true && keptBy(is, path, key) !== undefined;
  const check = ({ was, is }: Sides, path: NodePath, { key, columns }: Pick<LostNode, "key" | "columns">): void => {
    if (columns === 0 || ignored?.before(path, key) === true) return;
    const cause = keptBy(was, path, key);
    if (cause === undefined || isKept(is, path, key) || (key === "hashed" && isKept(is, path, "enabled"))) return;
    found.push({ path, key, cause, columns });
  };
  const question: Question = {
    schema({ path, live: { tables }, managed: was }) {
      const is = now && managedAt(now.rules, live, path);
      if (isKept(is, path, "enabled")) return false;
      check({ was, is }, path, { key: "enabled", columns: Object.values(tables).reduce((sum, table) => sum + columnsIn(table), 0) });
      return true;
    },
    table({ path, live: table, managed }) {
      const tableNow = now && managedTableAt(now.rules, live, path);
      if (isKept(tableNow, path, "enabled")) return;
      check({ was: managed, is: tableNow }, path, { key: "enabled", columns: columnsIn(table) });
      // Without `column` of the question: most columns are not kept, and a pull request asks about all of them.
      for (const [name, column] of Object.entries(table.columns ?? {})) {
        const sought = { name, live: column, syncMode: table.syncMode };
        const was = managedColumn(before.rules, managed, sought);
        const { hashed, enabled } = was.resolution;
        if (hashed !== true && enabled !== false) continue;
        const is = tableNow && managedColumn(now.rules, tableNow, sought);
        if (hashed === true) check({ was, is }, [...path, name], { key: "hashed", columns: 1 });
        if (enabled === false) check({ was, is }, [...path, name], { key: "enabled", columns: 1 });
      }
    },
  };
  scan(live, [question], { rules: before.rules });
  return found;
}

/** What keeps the node hashed or switched off. */
function keptBy(managed: ManagedNode, path: NodePath, key: Field): NodeCause | undefined {
  const decision = decisionIn(managed, { path, key });
  return decision !== undefined && isProtecting(key, decision.value) ? decision.cause : undefined;
}

/** The schemas without tables that neither side tells apart from another one. */
export function withoutAlike({ before, now }: LostChange, tree: LiveSchemas): LiveSchemas {
  const ids = new Map<unknown, number>();
  const idOf = (one: unknown): number => getOrAdd(ids, one, () => ids.size);
  const keyOf = (path: NodePath): readonly unknown[] =>
    [before, ...(now === undefined ? [] : [now])].flatMap(({ rules }) => {
      const managed = managedAt(rules, tree, path);
      const { value, cause } = decisionIn(managed, { path, key: "enabled" }) ?? {};
      const isAlone = path.length > 1 && managed.literals !== undefined;
      return [idOf(managed.match.below), value, cause?.rule, cause?.place.pointer, managed.resolution.ignored, isAlone && path];
    });
  const seen = new Set<string>();
  const isNew = (path: NodePath, schema: string): boolean => {
    const key = JSON.stringify([schema, keyOf(path)]);
    return !seen.has(key) && seen.add(key) !== undefined;
  };
  return Object.fromEntries(
    Object.entries(tree).map(([name, schema]) => {
      const own = JSON.stringify(keyOf([name]));
      return [
        name,
        { ...schema, tables: Object.fromEntries(Object.entries(schema.tables).filter(([table]) => isNew([name, table], own))) },
      ];
    }),
  );
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
  const was = decisionIn(managedAt(before.rules, live, path), field);
  if (was === undefined || !isProtecting(key, was.value)) return undefined;
  const [appliedBefore, appliedNow] = [before, now].map(({ rules }) => appliedTo(rules, live, path));
  const decided = (all: typeof appliedNow, by: NodeCause): string | undefined =>
    all?.findLast(({ cause, set }) => set[key] !== undefined && canonicalJson(cause(key).place) === canonicalJson(by.place))?.content;
  const is = decisionIn(managedAt(now.rules, live, path), field);
  const [contentBefore, contentNow] = [decided(appliedBefore, was.cause), is === undefined ? undefined : decided(appliedNow, is.cause)];
  const isGone = appliedNow?.every(({ content }) => content !== contentBefore) === true;
  const isKnown = contentNow !== undefined && appliedBefore?.some(({ content }) => content === contentNow) === true;
  return isGone && isKnown ? was.cause : undefined;
}

/**
 * What an integration loses that the SchemaConfig no longer covers: "no rule keeps 12 hashed columns and 1 disabled column any more". Without
 * numbers if its schemas cannot be read.
 */
export async function lostBySelector(
  config: Config,
  id: string,
  { account, reads, needs }: { readonly account: Account; readonly reads: Reads; readonly needs: ReadNeeds },
): Promise<string> {
  const program = makeRuleProgram([compileConfig(config, ruleSetsIn(account.manifests))]);
  const rules = withLabels(newRuleCache(program), () => labelScopes(account)?.(id));
  const read = readWithColumns(reads, id, (tree) => {
    const tables = tablesToRead(rules, tree, undefined);
    needs.claimColumns(id, tables.length);
    return tables;
  });
  const live = await readOr(
    () => read,
    () => undefined,
  );
  const lost = { hashed: 0, disabled: 0 };
  const count: Question = {
    column({ managed: { resolution } }) {
      if (resolution.hashed === true) lost.hashed++;
      if (resolution.enabled === false) lost.disabled++;
    },
  };
  scan(live?.tree ?? {}, [count], { rules });
  const total = lost.hashed + lost.disabled;
  if (total === 0) return "no rule keeps its columns any more";
  const names = countList([
    [lost.hashed, `hashed ${lost.hashed === 1 ? "column" : "columns"}`],
    [lost.disabled, `disabled ${lost.disabled === 1 ? "column" : "columns"}`],
  ]);
  return `no rule keeps ${names} any more`;
}
