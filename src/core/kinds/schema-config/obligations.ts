import type { Address } from "../../base/model/address.ts";
import { byHandStep } from "../../base/model/draft-steps.ts";
import { own } from "../../base/model/json/json.ts";
import { type KeptIntegration, type KeptTable, namesDigest, newNames } from "../../base/model/kept.ts";
import type { LiveSchemas, LiveTable } from "../../base/model/live.ts";
import { getOrAdd } from "../../base/model/maps.ts";
import { type NodePath, nodePath, nodePointer } from "../../base/model/nodes.ts";
import type { DraftStep } from "../../base/model/plan.ts";
import { isEnabled, isReadable, nodesAt } from "../../base/model/schema-tree.ts";
import { andMore } from "../../base/text/lists.ts";
import { nodeText } from "../../base/text/paths.ts";
import { giveUpCommand } from "../../base/text/shell.ts";
import type { Account, DiffResult } from "../kind.ts";
import { integrations } from "../lists.ts";
import type { RuleCache } from "./rules/rule-cache.ts";
import { managedAt, managedEnabled } from "./scan.ts";
import type { SchemaConfigUnit } from "./units.ts";

// What was kept once is an obligation: the account shows it unreadable, or a finding says so, until someone gives it up.

type KeptNodes = KeptTable[number];

/** What became of the kept nodes of an integration. */
export interface Obligations {
  /** Those that do not hold. */
  readonly steps: readonly DraftStep[];
  readonly problems: DiffResult["problems"];
  /** Whether an obligation has ended: someone has given it up, or the node is gone and nothing has replaced it. */
  readonly hasEnded: (path: NodePath, as: KeptNodes["as"]) => boolean;
}

interface Input {
  readonly tree: LiveSchemas;
  readonly account: Account;
  readonly before: KeptIntegration;
}

/** Compares what is kept of an integration with what the account shows. */
export function obligationsOf(unit: SchemaConfigUnit, input: Input): Obligations {
  const { tree, account, before } = input;
  const { address, manifests } = unit;
  const ended = new Set<string>();
  const byNode = new Map<string, DraftStep>();
  const gone: string[] = [];
  const judge = judgeOf(unit, input);
  const say = (path: NodePath, nodes: KeptNodes, instruction: string): void => {
    const actual = path.length === 3 ? nodesAt(tree, path).column?.[keyOf(nodes)] : undefined;
    // A column that was kept hashed and disabled is one finding.
    if (byNode.has(nodePointer(path))) return;
    const step = byHandStep({
      address,
      path: nodePointer(path, keyOf(nodes)),
      manifests,
      expected: nodes.as === "hashed",
      ...(actual === undefined ? {} : { actual }),
      obligation: true,
      instruction,
      command: giveUpCommand(address, nodeText(path)),
    });
    byNode.set(nodePointer(path), step);
  };
  for (const [schema, ofSchema] of before.schemas) {
    const liveSchema = own(tree, schema);
    if (liveSchema !== undefined && !isEnabled(liveSchema)) continue;
    for (const [table, ofTable] of ofSchema) {
      const liveTable = table === undefined ? undefined : own(liveSchema?.tables, table);
      if (liveTable !== undefined && !isEnabled(liveTable)) continue;
      for (const nodes of ofTable)
        for (const column of nodes.columns ?? [undefined]) {
          const path = nodePath(schema, table, column);
          const state = judge(path, nodes);
          if (state === "ended" || state === "gone") ended.add(keyIn(path, nodes.as));
          if (state === "gone") gone.push(nodeText(path));
          if (typeof state === "object") say(path, nodes, state.instruction);
        }
    }
  }
  const names = account.list(integrations).byId.get(unit.liveId)?.name ?? unit.name;
  const message = `${andMore(gone, "node", { shown: 10 })} of ${names} ${gone.length === 1 ? "is" : "are"} gone, and nothing new beside ${gone.length === 1 ? "it" : "them"} is readable. The next apply forgets that ${gone.length === 1 ? "it was" : "they were"} kept hashed or disabled.`;
  return {
    steps: [...byNode.values()],
    problems: gone.length === 0 ? [] : [{ address, code: "I_KEPT_GONE", severity: "info", message }],
    hasEnded: (path, as) => ended.has(keyIn(path, as)),
  };
}

const keyIn = (path: NodePath, as: KeptNodes["as"]): string => nodePointer(path, as);

const keyOf = ({ as }: KeptNodes): "hashed" | "enabled" => (as === "hashed" ? "hashed" : "enabled");

/** "held": the account or a planned change keeps it. "gone": nothing new is readable beside it. */
type State = "held" | "ended" | "gone" | { readonly instruction: string };

function judgeOf(unit: SchemaConfigUnit, { tree, account, before }: Input): (path: NodePath, nodes: KeptNodes) => State {
  const { address, liveId, rules } = unit;
  const { base } = account;
  // Schemas at the base are of this kind.
  const atBase = base?.isNow === true ? unit : (base?.schemas(liveId) as SchemaConfigUnit | undefined);
  const replacements = replacementsIn(rules, { tree, before });
  const isGivenUp = (path: NodePath, nodes: KeptNodes): boolean => {
    const [is, was] = [rules, atBase?.rules].map((of) => decisionOf(of, tree, { path, key: keyOf(nodes) }));
    return is !== "kept" && (was === "kept" || (is === "open" && was !== "open"));
  };
  const hasLeft = (by: Address): boolean => {
    const name = account.list(integrations).byId.get(liveId)?.name;
    const was = account.covered.get(by)?.get(liveId);
    return was !== undefined && was !== name && !unit.manifests.includes(by);
  };
  return (path, nodes) => {
    const pointer = nodePointer(path, keyOf(nodes));
    if (account.ignored(address, pointer)) return "ended";
    const { schema, table, column } = nodesAt(tree, path);
    const what = `${nodes.as} since ${nodes.since.slice(0, 10)}`;
    const node = path.length === 1 ? schema : path.length === 2 ? table : column;
    const unshown = unshownAbove(path, { schema, table });
    if (unshown !== undefined)
      return isGivenUp(path, nodes)
        ? "ended"
        : {
            instruction: `The service shows no ${unshown}, so it is not known whether ${nodeText(path)} is still unreadable (${what}). Have the service discover the schema again, or give it up:`,
          };
    if (node !== undefined) {
      // The selector's own finding counts its columns.
      if (keepsByManifests(rules, tree, path) || hasLeft(nodes.by)) return "held";
      if (isGivenUp(path, nodes)) return "ended";
      if (!isReadable(node)) return "held";
      return {
        instruction: `${nodeText(path)} is readable (${what}), and ${nodes.by} no longer matches it. Match it again, or give it up:`,
      };
    }
    if (isGivenUp(path, nodes)) return "ended";
    const { names, isExact, above } = replacements(path, nodes);
    if (names.length === 0) return "gone";
    const [goneAt, it] = above.length === path.length ? [nodeText(path), ""] : [nodeText(above), `, and with it ${nodeText(path)}`];
    const found = isExact
      ? `${andMore(names, "name", { shown: 5 })} ${names.length === 1 ? "is" : "are"} new and readable`
      : `${names.length === 1 ? `${names[0]} may have replaced it and is` : `one of ${andMore(names, "name", { shown: 5 })} may have replaced it; they are`} readable`;
    return { instruction: `${goneAt} is gone${it} (${what}), and ${found}. Add a rule for what is new, or give it up:` };
  };
}

/** The tables or columns of a live node above this one, if the service shows none of them: then they are not gone. */
function unshownAbove(path: NodePath, { schema, table }: Pick<ReturnType<typeof nodesAt>, "schema" | "table">): string | undefined {
  if (path.length > 1 && schema !== undefined && Object.keys(schema.tables).length === 0) return `tables of ${path[0]}`;
  return path.length > 2 && table !== undefined && table.columns === undefined ? `columns of ${nodeText(path.slice(0, 2))}` : undefined;
}

/** Whether manifests keep the node, or a node above it. It need not be live. */
function keepsByManifests(rules: SchemaConfigUnit["rules"] | undefined, tree: LiveSchemas, [schema, table, column]: NodePath): boolean {
  if (rules === undefined) return false;
  const isOff = (path: NodePath): boolean => managedEnabled(managedAt(rules, tree, path)) === false;
  if (isOff([schema])) return true;
  if (table === undefined) return false;
  if (isOff([schema, table])) return true;
  if (column === undefined) return false;
  const { enabled, hashed } = managedAt(rules, tree, [schema, table, column]).resolution;
  return enabled === false || hashed === true;
}

/** What manifests say of the field of a node: that it stays unreadable, or that it is readable. */
function decisionOf(
  rules: SchemaConfigUnit["rules"] | undefined,
  tree: LiveSchemas,
  { path, key }: { readonly path: NodePath; readonly key: "hashed" | "enabled" },
): "kept" | "open" | undefined {
  if (rules === undefined) return undefined;
  if (keepsByManifests(rules, tree, path)) return "kept";
  const managed = managedAt(rules, tree, path);
  return (key === "hashed" ? managed.resolution.hashed === false : managedEnabled(managed) === true) ? "open" : undefined;
}

interface Replacements {
  readonly names: readonly string[];
  readonly isExact: boolean;
  /** The uppermost node that is gone. */
  readonly above: NodePath;
}

/** What is new and readable beside the uppermost node of a path that is gone. */
function replacementsIn(
  rules: SchemaConfigUnit["rules"] | undefined,
  { tree, before }: Pick<Input, "tree" | "before">,
): (path: NodePath, nodes: KeptNodes) => Replacements {
  const known = new Map<string, Pick<Replacements, "names" | "isExact">>();
  return ([schema, table, column], { among }) => {
    const { schema: liveSchema, table: liveTable } = nodesAt(tree, table === undefined ? [schema] : [schema, table]);
    const ofSchema = before.schemas.get(schema);
    const [above, live, kept]: readonly [NodePath, Readonly<Record<string, unknown>>, Iterable<string | undefined>] =
      liveSchema === undefined || table === undefined
        ? [[schema], tree, before.schemas.keys()]
        : liveTable === undefined || column === undefined
          ? [[schema, table], liveSchema.tables, ofSchema?.keys() ?? []]
          : [[schema, table, column], liveTable.columns ?? {}, (ofSchema?.get(table) ?? []).flatMap(({ columns = [] }) => columns)];
    const digest = among?.[above.length - 1];
    const found = getOrAdd(known, JSON.stringify([above.slice(0, -1), digest]), () => {
      const all = new Set([...kept].flatMap((name) => name ?? []));
      const gone = [...all].filter((name) => !Object.hasOwn(live, name));
      const { names, isExact } = newNames(digest, { live: Object.keys(live), gone });
      const beside = names
        .filter((name) => isExact || !all.has(name))
        .map((name) =>
          nodePath(
            above.length === 1 ? name : schema,
            above.length === 1 ? undefined : above.length === 2 ? name : table,
            above.length === 3 ? name : undefined,
          ),
        );
      return { names: beside.filter((path) => hasReadable(rules, tree, path)).map(nodeText), isExact };
    });
    return { ...found, above };
  };
}

/** Whether data of the node is readable, and no manifest keeps it from being so. */
function hasReadable(rules: SchemaConfigUnit["rules"] | undefined, tree: LiveSchemas, path: NodePath): boolean {
  const [schema, table, column] = path;
  const live = nodesAt(tree, path);
  if (live.schema === undefined || !isEnabled(live.schema)) return false;
  const isOpen = (at: NodePath): boolean => !keepsByManifests(rules, tree, at);
  const inTable = (name: string, one: LiveTable): boolean =>
    isEnabled(one) &&
    (one.columns === undefined
      ? isOpen([schema, name])
      : Object.entries(one.columns).some(([of, value]) => isReadable(value) && isOpen([schema, name, of])));
  if (table === undefined) return Object.entries(live.schema.tables).some(([name, one]) => inTable(name, one));
  if (live.table === undefined || !isEnabled(live.table)) return false;
  if (column === undefined) return inTable(table, live.table);
  return live.column !== undefined && isReadable(live.column) && isOpen(path);
}

/** The digests of the names beside the nodes of a table. The same value for tables with the same names. */
export function namesBeside(
  tree: LiveSchemas,
  known: RuleCache["columnDigests"],
): (schema: string, table: string | undefined) => readonly string[] {
  const ofSchemas = [namesDigest(Object.keys(tree))];
  const ofTables = new Map<string, readonly string[]>();
  const ofColumns = new Map<string, Map<string | undefined, readonly string[]>>();
  return (schema, table) => {
    if (table === undefined) return ofSchemas;
    const { tables = {} } = own(tree, schema) ?? {};
    const above = getOrAdd(ofTables, schema, () => [...ofSchemas, namesDigest(Object.keys(tables))]);
    const columns = own(tables, table)?.columns;
    const digest = columns === undefined ? undefined : columnsDigest(Object.keys(columns), known);
    return getOrAdd(
      getOrAdd(ofColumns, schema, () => new Map<string | undefined, readonly string[]>()),
      digest,
      () => (digest === undefined ? above : [...above, digest]),
    );
  };
}

const mostKnown = 1_000;

/** A fleet has many tables with the same columns, and comparing names is faster than hashing them. */
function columnsDigest(names: readonly string[], known: RuleCache["columnDigests"]): string {
  const key = `${names.length} ${names[0] ?? ""}`;
  const last = known.get(key);
  if (last?.names.every((name, index) => name === names[index]) === true) return last.digest;
  if (known.size >= mostKnown) known.clear();
  const digest = namesDigest(names);
  known.set(key, { names, digest });
  return digest;
}

/** What is readable of an integration that was created in place of another: the kept nodes by name, and what is new beside those that it lacks. */
export function readableElsewhere(before: KeptIntegration, tree: LiveSchemas): readonly string[] {
  const found = new Set<string>();
  const replacements = replacementsIn(undefined, { tree, before });
  for (const [schema, tables] of before.schemas)
    for (const [table, all] of tables)
      for (const nodes of all)
        for (const column of nodes.columns ?? [undefined]) {
          const path = nodePath(schema, table, column);
          const live = nodesAt(tree, path);
          const node = path.length === 1 ? live.schema : path.length === 2 ? live.table : live.column;
          // What the service does not show may be readable.
          const isUnknown = unshownAbove(path, live) !== undefined;
          if (node === undefined && !isUnknown) for (const name of replacements(path, nodes).names) found.add(name);
          const at = [live.schema, ...(table === undefined ? [] : [live.table])];
          const isOpen = at.every((node) => (node === undefined ? isUnknown : isEnabled(node)));
          const isShut = column !== undefined && !isUnknown && (live.column === undefined || !isReadable(live.column));
          if (isOpen && !isShut) found.add(nodeText(path));
        }
  return [...found];
}
