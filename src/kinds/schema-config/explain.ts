import type { Address } from "../../model/address.ts";
import { own } from "../../model/json.ts";
import type { LiveColumn, LiveSchema, LiveSchemas, LiveTable } from "../../model/live.ts";
import type { SourceLocation } from "../../model/problem.ts";
import { type ColumnTree, locationIn } from "../../model/resource.ts";
import type { Layer, Program, Rule } from "./compiled-config.ts";
import { evaluate } from "./evaluate.ts";
import { causeOf } from "./evaluation.ts";
import { isAboutItself, newVerdict, resolve, type Says, type Statement, statements } from "./resolve-rules.ts";
import { type Case, type Context, caseOf, namedIn } from "./rule-cache.ts";
import {
  type Depth,
  type Field,
  literalColumnMaps,
  literalPointer,
  literalSchemas,
  literalTables,
  type NodeCause,
  type NodeChange,
  type NodePath,
} from "./tree.ts";

/** One voice that spoke of a node, in the order of speaking. */
export interface Said {
  /** A rule's name; absent for a literal; "unmatched.tables" for what becomes of nodes that nothing covers. */
  readonly rule?: string;
  readonly reason?: string;
  /** The SchemaConfig by which it has a say. */
  readonly config: Address;
  readonly place: SourceLocation;
  /**
   * "ignore-above": a rule ignores a node above, and with it this one. "narrowed": its `where` leaves this node out. "refuse": `unmatched: error`, and
   * nothing covers it.
   */
  readonly effect: "set" | "ignore" | "ignore-above" | "narrowed" | "refuse";
  readonly set: ColumnTree;
  /** Which of the fields that it sets are the final ones. */
  readonly wins: readonly Field[];
}

export interface Explanation {
  readonly path: NodePath;
  /** Undefined where the account has no such node, or its columns are unknown. */
  readonly live: LiveSchema | LiveTable | LiveColumn | undefined;
  readonly said: readonly Said[];
  readonly state: "managed" | "ignored" | "unmanaged";
  /** The wanted values; a field that is left out stays as it is. */
  readonly outcome: ColumnTree;
  /** What a plan would change of this node; empty too where the evaluation of the integration is refused. */
  readonly changes: readonly NodeChange[];
}

/** A node where it stands among contexts and literals. */
interface Standing {
  readonly context: Context;
  readonly met: Case;
  readonly says: Says | undefined;
  readonly node: LiveSchema | LiveTable | LiveColumn | undefined;
}

/** What a field of a node is to be, and why; undefined where nobody speaks of it. */
export function decisionOf(
  program: Program,
  live: LiveSchemas,
  path: NodePath,
  key: Field,
): { readonly value: boolean; readonly cause: NodeCause } | undefined {
  const depth = (path.length - 1) as Depth;
  const { met, says } = stand(program, live, path);
  const verdict = newVerdict();
  resolve(verdict, met.spoken, says, program.layers, depth);
  const [value, by] = key === "enabled" ? [verdict.enabled, verdict.enabledBy] : [verdict.hashed, verdict.hashedBy];
  if (value !== undefined && by !== undefined) return { value, cause: causeOf(by, path, key) };
  const fallback = verdict.covered || verdict.ignored || key === "hashed" ? undefined : program.unmatched[depth];
  if (fallback === undefined || fallback.mode === "error") return undefined;
  return { value: fallback.mode === "enable", cause: fallback.cause };
}

/**
 * Everything that was said of one node, and what came of it (product §4, `explain`). The node need not be live. `ignored` are leaves that the
 * project's config leaves to others.
 */
export function explain(
  program: Program,
  live: LiveSchemas,
  path: NodePath,
  ignored: (path: NodePath, key: Field) => boolean = () => false,
): Explanation {
  const depth = (path.length - 1) as Depth;
  const { context, met, says, node } = stand(program, live, path);
  const verdict = newVerdict();
  resolve(verdict, met.spoken, says, program.layers, depth);
  const fallback = verdict.covered || verdict.ignored ? undefined : program.unmatched[depth];

  const winners: Readonly<Record<Field, Rule | Layer | undefined>> = {
    enabled: verdict.enabled === undefined ? undefined : verdict.enabledBy,
    hashed: verdict.hashed === undefined ? undefined : verdict.hashedBy,
  };
  const heard = [...context.above, ...met.named.here].sort((a, b) => a.index - b.index);
  // An entry of a literal tree that is only there for what is below it says nothing of this node.
  const voices = statements(heard, says, program.layers).filter(({ entry }) => entry === undefined || isAboutItself(entry, depth));
  const said = voices.map((statement): Said => {
    const isNarrowed = statement.by.type === "rule" && !met.spoken.includes(statement.by);
    return toSaid(program, statement, path, isNarrowed, (key) => winners[key] === statement.by);
  });
  const byFallback: readonly Said[] =
    fallback === undefined
      ? []
      : [
          {
            ...(fallback.cause.rule === undefined ? {} : { rule: fallback.cause.rule }),
            config: fallback.config.address,
            place: fallback.cause.place,
            effect: fallback.mode === "error" ? "refuse" : "set",
            set: fallback.mode === "error" ? {} : { enabled: fallback.mode === "enable" },
            wins: fallback.mode === "error" ? [] : ["enabled"],
          },
        ];
  const enabled = verdict.enabled ?? byFallback[0]?.set.enabled;
  const isManaged = verdict.covered || (fallback !== undefined && fallback.mode !== "error");
  return {
    path,
    live: node,
    said: [...said, ...byFallback],
    state: verdict.ignored ? "ignored" : isManaged ? "managed" : "unmanaged",
    outcome: { ...(enabled === undefined ? {} : { enabled }), ...(verdict.hashed === undefined ? {} : { hashed: verdict.hashed }) },
    changes:
      node === undefined
        ? []
        : evaluate(program, onlyAt(live, path, context.depth), ignored).changes.filter((change) => change.path.length === path.length),
  };
}

function stand(program: Program, live: LiveSchemas, [schema, table, column]: NodePath): Standing {
  const { root, layers } = program;
  const liveSchema = own(live, schema);
  const schemaSays = literalSchemas(layers, schema);
  const schemaMet = caseOf(root, namedIn(root, schema), liveSchema, undefined);
  if (table === undefined) return { context: root, met: schemaMet, says: schemaSays, node: liveSchema };
  const inSchema = schemaMet.child;
  const liveTable = own(liveSchema?.tables, table);
  const tableSays = literalTables(schemaSays, table);
  const tableMet = caseOf(inSchema, namedIn(inSchema, table), liveTable, liveTable?.syncMode);
  if (column === undefined) return { context: inSchema, met: tableMet, says: tableSays, node: liveTable };
  const inTable = tableMet.child;
  const liveColumn = own(liveTable?.columns, column);
  const met = caseOf(inTable, namedIn(inTable, column), liveColumn, liveTable?.syncMode);
  return { context: inTable, met, says: literalColumnMaps(tableSays)?.map((map) => own(map, column)), node: liveColumn };
}

function toSaid(program: Program, { by, entry }: Statement, path: NodePath, isNarrowed: boolean, wins: (key: Field) => boolean): Said {
  const fields = (["enabled", "hashed"] as const).filter((key) => (key === "enabled" || path.length === 3) && wins(key));
  if (by.type === "literal") {
    const { enabled, hashed }: ColumnTree = entry ?? {};
    const set: ColumnTree = { ...(enabled === undefined ? {} : { enabled }), ...(hashed === undefined ? {} : { hashed }) };
    return { config: by.config.address, place: locationIn(by.config, literalPointer(path)), effect: "set", set, wins: fields };
  }
  const { name, cause, ignores, set = {}, depth, layer } = by;
  const effect = isNarrowed ? "narrowed" : !ignores ? "set" : depth < path.length - 1 ? "ignore-above" : "ignore";
  const config = program.layers[layer]?.config.address ?? by.owner.address;
  return {
    rule: name,
    ...(cause.reason === undefined ? {} : { reason: cause.reason }),
    config,
    place: cause.place,
    effect,
    set,
    wins: fields,
  };
}

/** The tree with nothing in it but the way to one node. */
function onlyAt(live: LiveSchemas, [schema, table, column]: NodePath, depth: Depth): LiveSchemas {
  const liveSchema = own(live, schema);
  const liveTable = own(liveSchema?.tables, table ?? "");
  const liveColumn = own(liveTable?.columns, column ?? "");
  if (liveSchema === undefined) return {};
  const columns = depth === 2 && liveColumn !== undefined ? { [column ?? ""]: liveColumn } : {};
  const tables = depth > 0 && liveTable !== undefined ? { [table ?? ""]: { ...liveTable, columns } } : {};
  return { [schema]: { ...liveSchema, tables } };
}
