import type { Address } from "../../base/model/address.ts";
import { canonicalJson, defined } from "../../base/model/json/json.ts";
import type { Pointer } from "../../base/model/json/pointer.ts";
import type { LiveColumn, LiveSchema, LiveSchemas, LiveTable } from "../../base/model/live.ts";
import { type ColumnTree, locationIn, type TableTexts } from "../../base/model/manifest.ts";
import { type NodePath, nodePointer } from "../../base/model/nodes.ts";
import type { SourceLocation } from "../../base/model/problem.ts";
import {
  comparePaths,
  type Depth,
  type Field,
  levelNames,
  literalPointer,
  type NodeCause,
  type NodeField,
  nodesAt,
  tableTexts,
} from "../../base/model/schema-tree.ts";
import { nodeText } from "../../base/text/paths.ts";
import { nearest, suggestion } from "../../base/text/suggest.ts";
import type { ModeSource, RuleProgram } from "./compiled-config.ts";
import type { NewColumns } from "./evaluate.ts";
import { causeOf, type Evaluation, isSwitchedOff, lacksColumn, type NodeChange } from "./evaluation.ts";
import { coversItself, type RuleStep, steps, textsOf } from "./rules/resolve-rules.ts";
import type { CachedMatch, RuleCache } from "./rules/rule-cache.ts";
import { type ManagedNode, managedAt, managedEnabled } from "./scan.ts";

/** A rule, a literal entry, an `unmatched` mode or `unreviewed: disable` that applies to a node. */
interface AppliedSetting {
  /** A rule's name; absent for a literal entry; "unmatched.tables" or "unreviewed.columns" for a mode. */
  readonly rule?: string;
  readonly reason?: string;
  /** The label by which the rule matches the column. */
  readonly label?: NodeCause["label"];
  /** The SchemaConfig that contains it, or that uses its RuleSet. */
  readonly config: Address;
  readonly place: SourceLocation;
  /**
   * "ignore-above": the rule ignores a node above, and with it this one. "narrowed": its `where` excludes this node.
   * "refuse": `unmatched` is `error`, and nothing covers the node.
   */
  readonly effect: "set" | "ignore" | "ignore-above" | "narrowed" | "refuse";
  readonly set: ColumnTree & TableTexts;
  /** The fields that it decides. */
  readonly wins: readonly NodeField[];
}

export interface Explanation {
  readonly path: NodePath;
  /** Undefined if the account has no such node, or its columns are unknown. */
  readonly live: LiveSchema | LiveTable | LiveColumn | undefined;
  /** In the order in which they apply. */
  readonly applied: readonly AppliedSetting[];
  readonly state: "managed" | "ignored" | "unmanaged";
  /** The desired values; a field that is left out stays as it is. */
  readonly outcome: ColumnTree & TableTexts;
  /** What a plan would change in this node. */
  readonly changes: readonly NodeChange[];
  /** Which of the desired values are not sent although the live ones may differ, and why. */
  readonly notSent?: readonly string[];
}

/** The value that manifests set for a field of a node, and where; undefined if they set none. */
export function decisionIn(
  { resolution, unmatched }: ManagedNode,
  { path, key }: { readonly path: NodePath; readonly key: Field },
): { readonly value: boolean; readonly cause: NodeCause } | undefined {
  const [value, by] = key === "enabled" ? [resolution.enabled, resolution.enabledBy] : [resolution.hashed, resolution.hashedBy];
  if (value !== undefined && by !== undefined) return { value, cause: causeOf(by, path, key) };
  if (key === "hashed" || unmatched === undefined || unmatched.mode === "error") return undefined;
  return { value: unmatched.mode === "enable", cause: unmatched.cause };
}

/** A rule, literal entry or mode that sets something for a node. */
interface Applied {
  /** Equal for what says the same, wherever it is written. */
  readonly content: string;
  readonly set: ColumnTree;
  readonly cause: (key: Field) => NodeCause;
}

/** What sets something for a live node, in the order in which it applies. */
export function appliedTo(cache: RuleCache, live: LiveSchemas, path: NodePath): readonly Applied[] {
  const { match, literals, unmatched } = managedAt(cache, live, path);
  const ofSteps = steps(match.applied, literals, cache.program.layers).map(({ by, entry }): Applied => {
    const { enabled, hashed, syncMode, cursorField } = entry ?? by.set ?? {};
    const set = defined({ enabled, hashed, syncMode, cursorField });
    const content = entry === undefined ? canonicalJson([by.match, set, by.ignores]) : canonicalJson(["literal", set]);
    return { content, set, cause: (key) => causeOf(by, path, key) };
  });
  if (unmatched === undefined) return ofSteps;
  const { mode, cause } = unmatched;
  return [...ofSteps, { content: `unmatched ${mode}`, set: mode === "error" ? {} : { enabled: mode === "enable" }, cause: () => cause }];
}

/** Everything that applies to a node, and the result. The node need not be live. `evaluation`: of its integration, with these `switchedOff`. */
export function explain(
  cache: RuleCache,
  live: LiveSchemas,
  path: NodePath,
  { evaluation, switchedOff }: { readonly evaluation: Evaluation; readonly switchedOff?: NewColumns | undefined },
): Explanation {
  const managed = managedAt(cache, live, path);
  const { resolution, unmatched } = managed;
  const { schema, table, column } = nodesAt(live, path);
  const node = path[1] === undefined ? schema : path[2] === undefined ? table : column;
  const mode = unmatched?.mode === "error" ? undefined : unmatched?.mode;
  const isOff =
    table !== undefined &&
    column !== undefined &&
    isSwitchedOff(switchedOff?.get(path[0])?.get(path[1] ?? ""), path[2] ?? "", { column, table });
  const off = isOff ? cache.program.unreviewed : undefined;
  const set = off === undefined ? managedEnabled(managed) : false;
  const isKept = evaluation.keptKeys.some((one) => comparePaths(one, path) === 0);
  const enabled = isKept ? undefined : set;
  const applied = [...appliedSteps(cache.program, managed, path), ...(unmatched === undefined ? [] : [appliedMode(unmatched)])];
  const outcome = defined({ enabled, hashed: resolution.hashed, ...textsOf(resolution) });
  const changes = evaluation.changes.filter((one) => comparePaths(one.path, path) === 0);
  const notSent = valuesNotSent(outcome, { node, changes, table });
  return {
    path,
    live: node,
    applied: [...(isKept || off !== undefined ? applied.map(withoutEnabled) : applied), ...(off === undefined ? [] : [appliedMode(off)])],
    state: resolution.ignored ? "ignored" : resolution.covered || mode !== undefined || off !== undefined ? "managed" : "unmanaged",
    outcome,
    changes,
    ...(notSent.length === 0 ? {} : { notSent }),
  };
}

function valuesNotSent(
  outcome: Explanation["outcome"],
  { node, changes, table }: Pick<Explanation, "changes"> & { readonly node: Explanation["live"]; readonly table: LiveTable | undefined },
): readonly string[] {
  const { cursorField } = outcome;
  if (cursorField !== undefined && table !== undefined && lacksColumn(table, cursorField))
    return [
      `${tableTexts.filter((key) => outcome[key] !== undefined).join(" and ")}, because the table has no column ${JSON.stringify(cursorField)}`,
    ];
  const shown: Explanation["outcome"] = node ?? {};
  const unknown = (["enabled", "hashed", ...tableTexts] as const).filter(
    (key) => node !== undefined && outcome[key] !== undefined && shown[key] === undefined && !changes.some((one) => one.key === key),
  );
  return unknown.map((key) => `${key}, because the service does not show the live value`);
}

const withoutEnabled = (setting: AppliedSetting): AppliedSetting => ({ ...setting, wins: setting.wins.filter((key) => key !== "enabled") });

function appliedSteps(
  program: RuleProgram,
  { scope, match, literals, resolution, depth }: ManagedNode,
  path: NodePath,
): readonly AppliedSetting[] {
  const winners = {
    enabled: resolution.enabled === undefined ? undefined : resolution.enabledBy,
    hashed: resolution.hashed === undefined || depth < 2 ? undefined : resolution.hashedBy,
    syncMode: resolution.texts?.syncMode?.by,
    cursorField: resolution.texts?.cursorField?.by,
  };
  const rules = [...scope.ignoring, ...match.namedBy].sort((a, b) => a.index - b.index);
  return steps(rules, literals, program.layers)
    .filter(({ entry }) => entry === undefined || coversItself(entry, depth))
    .map((step) => {
      const wins = (["enabled", "hashed", ...tableTexts] as const).filter((key) => winners[key] === step.by);
      return step.entry === undefined ? appliedRule(program, step, { match, depth, wins }) : appliedEntry(step, path, wins);
    });
}

function appliedEntry(
  { by, entry: { enabled, hashed, syncMode, cursorField } }: Extract<RuleStep, { readonly entry: object }>,
  path: NodePath,
  wins: readonly NodeField[],
): AppliedSetting {
  const set = defined({ enabled, hashed, syncMode, cursorField });
  return { config: by.config.address, place: locationIn(by.config, literalPointer(path)), effect: "set", set, wins };
}

function appliedRule(
  program: RuleProgram,
  { by }: Extract<RuleStep, { readonly entry?: undefined }>,
  { match, depth, wins }: { readonly match: CachedMatch; readonly depth: Depth; readonly wins: readonly NodeField[] },
): AppliedSetting {
  const { name, cause, ignores, set = {}, layer } = by;
  const isNarrowed = !match.applied.includes(by);
  return {
    rule: name,
    ...defined({ reason: cause.reason, label: cause.label }),
    config: program.layers[layer]?.config.address ?? by.owner.address,
    place: cause.place,
    effect: isNarrowed ? "narrowed" : !ignores ? "set" : by.depth < depth ? "ignore-above" : "ignore",
    set,
    wins,
  };
}

function appliedMode({ cause, config, mode }: ModeSource<string>): AppliedSetting {
  const isError = mode === "error";
  return {
    ...(cause.rule === undefined ? {} : { rule: cause.rule }),
    config: config.address,
    place: cause.place,
    effect: isError ? "refuse" : "set",
    set: isError ? {} : { enabled: mode === "enable" },
    wins: isError ? [] : ["enabled"],
  };
}

/** Why there is no live node to show, with a suggestion; undefined if there is one. */
export function absenceOf(live: LiveSchemas, path: NodePath): string | undefined {
  const { schema, table } = nodesAt(live, path);
  for (const [depth, siblings] of [live, schema?.tables, table?.columns].entries()) {
    const name = path[depth];
    if (name === undefined) return undefined;
    if (siblings === undefined) return `unknown: the service returned no columns for ${nodeText(path.slice(0, depth))}`;
    if (!Object.hasOwn(siblings, name))
      return notInAccount(path.slice(0, depth + 1), Object.keys(siblings), depth === 0 ? inSchema(live, path) : undefined);
  }
  return undefined;
}

/** The path in a schema that has a table of this name, if the path leaves out the schema. */
function inSchema(live: LiveSchemas, [table, column, none]: NodePath): string | undefined {
  if (none !== undefined) return undefined;
  const schema = Object.keys(live).find((name) => {
    const columns = live[name]?.tables[table]?.columns;
    return (
      Object.hasOwn(live[name]?.tables ?? {}, table) && (column === undefined || columns === undefined || Object.hasOwn(columns, column))
    );
  });
  return schema === undefined ? undefined : nodeText([schema, table, column]);
}

function notInAccount(path: readonly (string | undefined)[], known: readonly string[], inSchema: string | undefined): string {
  if (inSchema !== undefined) return `not in the account: there is no schema ${nodeText(path)}. Did you mean ${inSchema}?`;
  const name = path.at(-1) ?? "";
  const similar = nearest(name, [...known].sort());
  const there = similar === undefined ? "" : nodeText([...path.slice(0, -1), similar]);
  const looksAlike = there.normalize() === nodeText(path).normalize();
  const hint = similar === undefined ? "" : looksAlike ? suggestion(name, similar) : ` Did you mean ${there}?`;
  return `not in the account: there is no ${levelNames[path.length - 1]} ${nodeText(path)}.${hint}`;
}

/**
 * The node above that is disabled after the changes, so that this one is not replicated; undefined if none is. `after` has
 * the new values by JSON Pointer.
 */
export function disabledAbove(
  live: LiveSchemas,
  [schema, table, column]: NodePath,
  after: ReadonlyMap<Pointer, unknown>,
): NodePath | undefined {
  const above: readonly NodePath[] = table === undefined ? [] : column === undefined ? [[schema]] : [[schema], [schema, table]];
  return above.find((node) => {
    const { schema: liveSchema, table: liveTable } = nodesAt(live, node);
    const enabled = node[1] === undefined ? liveSchema?.enabled : liveTable?.enabled;
    return enabled !== undefined && (after.get(nodePointer(node, "enabled")) ?? enabled) === false;
  });
}
