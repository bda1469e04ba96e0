import { type Address, byText } from "../../base/model/address.ts";
import { byHandStep } from "../../base/model/draft-steps.ts";
import { defined, own } from "../../base/model/json/json.ts";
import { type KeptIntegration, type KeptTable, namesDigest, newNames } from "../../base/model/kept.ts";
import type { LiveSchemas } from "../../base/model/live.ts";
import { getOrAdd } from "../../base/model/maps.ts";
import { type NodePath, nodePath, nodePointer } from "../../base/model/nodes.ts";
import type { DraftStep } from "../../base/model/plan.ts";
import { isEnabled, isReadable, nodesAt } from "../../base/model/schema-tree.ts";
import { andMore, grouped } from "../../base/text/lists.ts";
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
  const open = new Map<string, OpenNode>();
  const gone: string[] = [];
  const judge = judgeOf(unit, input);
  for (const [path, nodes] of notDisabled(before, tree)) {
    const state = judge(path, nodes);
    if (state === "ended" || state === "gone") ended.add(nodePointer(path, nodes.as));
    if (state === "gone") gone.push(nodeText(path));
    // A column that was kept hashed and disabled is one finding.
    if (typeof state !== "string" && !open.has(nodePointer(path))) open.set(nodePointer(path), { path, nodes, state });
  }
  const steps = together([...open.values()]).map((all): DraftStep => {
    const [{ path, nodes, state }, ...others] = all;
    const at = commonPath(all.map((one) => one.path));
    const texts = all.map((one) => nodeText(one.path));
    return byHandStep({
      address,
      manifests,
      ...(others.length === 0
        ? {
            path: nodePointer(path, keyOf(nodes)),
            expected: nodes.as === "hashed",
            ...defined({ actual: nodesAt(tree, path).column?.[keyOf(nodes)] }),
          }
        : { path: at === undefined ? "" : nodePointer(at) }),
      obligation: true,
      instruction: state.instruction(andMore(texts, "node", { shown: 5 }), sinceOf(all)),
      command: giveUpCommand(address, at && nodeText(at)),
    });
  });
  const names = account.list(integrations).byId.get(unit.liveId)?.name ?? unit.name;
  const message = `${andMore(gone, "node", { shown: 10 })} of ${names} ${gone.length === 1 ? "is" : "are"} gone, and nothing new beside ${gone.length === 1 ? "it" : "them"} is readable. The next apply forgets that ${gone.length === 1 ? "it was" : "they were"} kept hashed or disabled.`;
  return {
    steps,
    problems: gone.length === 0 ? [] : [{ code: "I_KEPT_GONE", severity: "info", message }],
    hasEnded: (path, as) => ended.has(nodePointer(path, as)),
  };
}

/** The kept nodes that are in no disabled schema or table: there, all of them hold. */
function* notDisabled({ schemas }: KeptIntegration, tree: LiveSchemas): Generator<readonly [NodePath, KeptNodes]> {
  for (const [schema, tables] of schemas)
    for (const [table, all] of tables) {
      const live = nodesAt(tree, nodePath(schema, table, undefined));
      if ([live.schema, live.table].some((node) => node !== undefined && !isEnabled(node))) continue;
      for (const nodes of all) for (const column of nodes.columns ?? [undefined]) yield [nodePath(schema, table, column), nodes];
    }
}

const keyOf = ({ as }: KeptNodes): "hashed" | "enabled" => (as === "hashed" ? "hashed" : "enabled");

/** "held": the account or a planned change keeps it. "gone": nothing new is readable beside it. */
type State = "held" | "ended" | "gone" | Doubt;

/** What to do about nodes that may be readable. */
interface Doubt {
  readonly instruction: (names: string, since: string) => string;
  /** What nodes with the same instruction share; absent: a node has its own. */
  readonly alike?: string;
}

interface OpenNode {
  readonly path: NodePath;
  readonly nodes: KeptNodes;
  readonly state: Doubt;
}

/** The nodes of each finding: those alike are one, unless giving up the node above them gives up others, too. */
const together = (open: readonly OpenNode[]): readonly (readonly [OpenNode, ...OpenNode[]])[] =>
  grouped(open, ({ path, state }) => state.alike ?? nodePointer(path)).flatMap((all): readonly (readonly [OpenNode, ...OpenNode[]])[] => {
    if (all.length === 1) return [all];
    const at = commonPath(all.map(({ path }) => path)) ?? [];
    const below = open.filter(({ path }) => at.every((name, index) => path[index] === name));
    return below.length === all.length ? [all] : all.map((one) => [one]);
  });

/** The node of all of them, or the one above them; undefined: they are in several schemas. */
function commonPath([first, ...others]: readonly NodePath[]): NodePath | undefined {
  const [schema, table, column] = (first ?? []).map((name, index) => (others.every((path) => path[index] === name) ? name : undefined));
  return schema === undefined ? undefined : nodePath(schema, table, table === undefined ? undefined : column);
}

/** "hashed since 2026-11-02" */
function sinceOf(all: readonly OpenNode[]): string {
  const kinds = new Set(all.map(({ nodes }) => nodes.as));
  const [first = ""] = all.map(({ nodes }) => nodes.since.slice(0, 10)).sort(byText);
  return `${kinds.size === 1 ? [...kinds][0] : "kept"} since ${first}`;
}

function judgeOf(unit: SchemaConfigUnit, { tree, account, before }: Input): (path: NodePath, nodes: KeptNodes) => State {
  const { address, liveId } = unit;
  const { base } = account;
  // Schemas at the base are of this kind.
  const atBase = base?.isNow === true ? unit : (base?.schemas(liveId) as SchemaConfigUnit | undefined);
  const keeps = keepingOf(unit, { tree, account });
  const replacements = replacementsIn(keeps, { tree, before });
  const decisions = [unit, atBase].map((of) => of && decisionsOf(of, { tree, account }));
  const isGivenUp = (path: NodePath, nodes: KeptNodes): boolean => {
    const [is, was] = decisions.map((decisionOf) => decisionOf?.(path, keyOf(nodes)));
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
    const node = nodeAt(tree, path);
    const unshown = unshownAbove(tree, path);
    if (unshown !== undefined)
      return isGivenUp(path, nodes)
        ? "ended"
        : {
            alike: unshown,
            instruction: (names, since) =>
              `The service shows no ${unshown}, so it is not known what is still unreadable: ${names} (${since}). Have the service discover the schema again, or give it up:`,
          };
    if (node !== undefined) {
      // The selector's own finding counts its columns.
      if (hasLeft(nodes.by)) return "held";
      if (keeps(path)) {
        // A request that sets it may be lost, and nothing would show that.
        if (nodes.isUnseen === true || !isUnshown(node, keyOf(nodes)) || !isReadable(node)) return "held";
        return {
          alike: keyOf(nodes),
          instruction: (names, since) =>
            `The service no longer shows \`${keyOf(nodes)}\` of ${names} (${since}), so this data may be readable. Each apply sends the value again. Check it in the service. If the service never shows it again, give it up, and the next apply counts what it sends as kept:`,
        };
      }
      if (isGivenUp(path, nodes)) return "ended";
      if (!isReadable(node)) return "held";
      return {
        instruction: (name, since) =>
          `${name} is readable (${since}), and ${nodes.by} no longer matches it. Match it again, or give it up:`,
      };
    }
    if (isGivenUp(path, nodes)) return "ended";
    const { names, isExact, above } = replacements(path, nodes);
    if (names.length === 0) return "gone";
    const found = isExact
      ? `${names[0]} is new and readable`
      : `${names.length === 1 ? `${names[0]} may have replaced it and is` : `one of ${andMore(names, "name", { shown: 5 })} may have replaced it; they are`} readable`;
    const goneAbove = above.length === path.length ? undefined : `${nodeText(above)} is gone, and with it `;
    return {
      ...defined({ alike: goneAbove && `${goneAbove}${found}` }),
      instruction: (lost, since) =>
        `${goneAbove === undefined ? `${lost} is gone` : `${goneAbove}${lost}`} (${since}), and ${found}. Add a rule for what is new, or give it up:`,
    };
  };
}

function nodeAt(tree: LiveSchemas, path: NodePath) {
  const { schema, table, column } = nodesAt(tree, path);
  return [schema, table, column][path.length - 1];
}

/** The tables or columns of a live node above this one, if the service shows none of them: then they are not gone. */
function unshownAbove(tree: LiveSchemas, path: NodePath): string | undefined {
  const { schema, table } = nodesAt(tree, path);
  if (path.length > 1 && schema !== undefined && Object.keys(schema.tables).length === 0) return `tables of ${path[0]}`;
  return path.length > 2 && table !== undefined && table.columns === undefined ? `columns of ${nodeText(path.slice(0, 2))}` : undefined;
}

/** A table or schema has no `hashed`. */
const isUnshown = (node: NonNullable<ReturnType<typeof nodeAt>>, key: "hashed" | "enabled"): boolean =>
  (key === "enabled" ? node.enabled : "hashed" in node ? node.hashed : undefined) === undefined;

type Keeps = (path: NodePath) => boolean;

/** Whether manifests keep a node, or a node above it, by a value that the config does not ignore. It need not be live. */
function keepingOf({ rules, address }: SchemaConfigUnit, { tree, account }: Pick<Input, "tree" | "account">): Keeps {
  const keeps: Keeps = (path) => {
    const managed = managedAt(rules, tree, path);
    const isSet = { hashed: managed.resolution.hashed === true, enabled: managedEnabled(managed) === false };
    if ((["hashed", "enabled"] as const).some((key) => isSet[key] && !account.ignored(address, nodePointer(path, key)))) return true;
    const [schema, table, column] = path;
    return table !== undefined && keeps(column === undefined ? [schema] : [schema, table]);
  };
  return keeps;
}

/** What manifests say of the field of a node: that it stays unreadable, or that it is readable. */
function decisionsOf(
  unit: SchemaConfigUnit,
  of: Pick<Input, "tree" | "account">,
): (path: NodePath, key: "hashed" | "enabled") => "kept" | "open" | undefined {
  const keeps = keepingOf(unit, of);
  return (path, key) => {
    if (keeps(path)) return "kept";
    const managed = managedAt(unit.rules, of.tree, path);
    return (key === "hashed" ? managed.resolution.hashed === false : managedEnabled(managed) === true) ? "open" : undefined;
  };
}

interface Replacements {
  readonly names: readonly string[];
  readonly isExact: boolean;
  /** The uppermost node that is gone. */
  readonly above: NodePath;
}

/** What is new and readable beside the uppermost node of a path that is gone. */
function replacementsIn(
  keeps: Keeps,
  { tree, before }: Pick<Input, "tree" | "before">,
): (path: NodePath, nodes: KeptNodes) => Replacements {
  const known = new Map<string, Pick<Replacements, "names" | "isExact">>();
  return (path, { among }) => {
    const [schema, table, column] = path;
    const { schema: liveSchema, table: liveTable } = nodesAt(tree, path);
    const ofSchema = before.schemas.get(schema);
    const [pathOf, name, live, kept]: readonly [(name: string) => NodePath, string, object, Iterable<string | undefined>] =
      liveSchema === undefined || table === undefined
        ? [(one) => [one], schema, tree, before.schemas.keys()]
        : liveTable === undefined || column === undefined
          ? [(one) => [schema, one], table, liveSchema.tables, ofSchema?.keys() ?? []]
          : [
              (one) => [schema, table, one],
              column,
              liveTable.columns ?? {},
              (ofSchema?.get(table) ?? []).flatMap(({ columns = [] }) => columns),
            ];
    const above = pathOf(name);
    const digest = among?.[above.length - 1];
    const found = getOrAdd(known, JSON.stringify([above.slice(0, -1), digest]), () => {
      const all = new Set([...kept].flatMap((name) => name ?? []));
      const gone = [...all].filter((name) => !Object.hasOwn(live, name));
      const { names, isExact } = newNames(digest, { live: Object.keys(live), gone });
      const beside = names.filter((one) => isExact || !all.has(one)).map(pathOf);
      return { names: beside.filter((one) => hasReadable(keeps, tree, one)).map(nodeText), isExact };
    });
    return { ...found, above };
  };
}

/** Whether data of a node in enabled ones is readable, and no manifest keeps it. What the service does not show may be readable. */
function hasReadable(keeps: Keeps, tree: LiveSchemas, path: NodePath): boolean {
  const node = nodeAt(tree, path);
  if (node === undefined || !isReadable(node)) return false;
  const [schema, table] = path;
  const below = Object.keys(("tables" in node ? node.tables : "columns" in node ? node.columns : undefined) ?? {});
  return below.length === 0
    ? !keeps(path)
    : below.some((name) => hasReadable(keeps, tree, table === undefined ? [schema, name] : [schema, table, name]));
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
  const replacements = replacementsIn(() => false, { tree, before });
  for (const [path, nodes] of notDisabled(before, tree)) {
    const node = nodeAt(tree, path);
    if (node === undefined) for (const name of replacements(path, nodes).names) found.add(name);
    // What the service does not show may be readable.
    if (unshownAbove(tree, path) !== undefined || (node !== undefined && isReadable(node))) found.add(nodeText(path));
  }
  return [...found];
}
