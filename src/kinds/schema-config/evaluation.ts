import { own } from "../../model/json.ts";
import type { LiveColumn, LiveSchema, LiveTable } from "../../model/live.ts";
import { type ColumnTree, locationIn } from "../../model/resource.ts";
import type { Expected } from "./compile-rule.ts";
import type { Program, Rule, Speaker } from "./compiled-config.ts";
import { effectiveRules, type Says, type Verdict } from "./resolve-rules.ts";
import { type Case, type Context, namedIn } from "./rule-cache.ts";
import { addTo, beginTally, type Counting, emptySample, type Sample, warn } from "./rule-stats.ts";
import { type Depth, type Field, literalPointer, type NodeCause, type NodeChange, type NodePath, nodePointer, riskOf } from "./tree.ts";

/** Columns that may not be switched off, by who would do so. */
export interface Refused {
  readonly role: "primary key" | "cursor";
  readonly by: Speaker;
  readonly cause: NodeCause;
  readonly columns: Sample;
}

/** An assertion that the live node does not meet. */
export interface Unmet {
  readonly path: NodePath;
  readonly key: keyof Expected;
  readonly expected: string | boolean;
  readonly actual: string | boolean | undefined;
}

/** The table whose columns are looked at. */
interface TablePlace {
  readonly schema: string;
  readonly table: string;
  readonly liveTable: LiveTable;
  readonly tableOn: boolean;
  readonly context: Context;
  readonly maps: readonly (Readonly<Record<string, ColumnTree>> | undefined)[] | undefined;
}

/** What a walk collects: everything that differs or has to be said. Only nodes that differ come here, so it may allocate. */
export interface Judgement {
  readonly program: Program;
  readonly changes: NodeChange[];
  readonly refused: Map<string, Refused>;
  /** By depth: nodes that nothing covers where `unmatched` says `error`. */
  readonly unmatched: readonly [Sample, Sample, Sample];
  readonly unmet: Unmet[];
  readonly tally: Counting;
  /** The value that the field is to have; where it differs, a change is recorded. */
  settle(path: NodePath, depth: Depth, key: Field, before: boolean, verdict: Verdict): boolean;
  /** Checks the changes of a column from `since` on against what the column is. */
  lookAt(path: NodePath, column: LiveColumn, place: TablePlace, since: number): void;
  /** Compares a node with what is expected of it. */
  compare(path: NodePath, met: Case, node: LiveSchema | LiveTable | LiveColumn): void;
  /** Looks for rules and literals that speak of columns of a table that ends up disabled; `names` undefined where they are unknown. */
  pointless(place: TablePlace, names: readonly string[] | undefined): void;
  /** Counts the rules to which a node is owed that literals speak of as well. */
  countSpecial(met: Case, says: Says, depth: Depth): void;
}

export function newJudgement(program: Program, ignored: (path: NodePath, key: Field) => boolean): Judgement {
  const tally = beginTally(program);
  const changes: NodeChange[] = [];
  const refused = new Map<string, Refused>();
  const unmatched = [emptySample(), emptySample(), emptySample()] as const;
  const unmet: Unmet[] = [];
  const warnedTables = new Map<Rule, string>();

  const warnOfTable = (rule: Rule, schema: string, table: string): void => {
    const pointer = nodePointer([schema, table]);
    if (warnedTables.get(rule) === pointer) return;
    warnedTables.set(rule, pointer);
    warn(tally, "W_COLUMN_RULES_IN_DISABLED_TABLE", rule, [schema, table], `disabled ${rule.index}`);
  };

  return {
    program,
    changes,
    refused,
    unmatched,
    unmet,
    tally,

    settle(path, depth, key, before, verdict) {
      const said = key === "enabled" ? verdict.enabled : verdict.hashed;
      const fallback = verdict.covered || verdict.ignored || key === "hashed" ? undefined : program.unmatched[depth];
      if (fallback?.mode === "error") {
        if (!ignored(path, key)) addTo(unmatched[depth], path);
        return before;
      }
      const after = said ?? (fallback === undefined ? before : fallback.mode === "enable");
      if (after === before || ignored(path, key)) return before;
      const by: Speaker | undefined = said === undefined ? fallback : key === "enabled" ? verdict.enabledBy : verdict.hashedBy;
      if (by !== undefined) changes.push({ path, key, before, after, risk: riskOf(key, after), cause: causeOf(by, path, key), by });
      return after;
    },

    lookAt(path, column, { schema, table, liveTable, tableOn }, since) {
      const name = path[2] ?? "";
      for (const { key, after, by, cause } of changes.slice(since)) {
        if (by.type === "rule" && !tableOn) warnOfTable(by, schema, table);
        const role = column.isPrimaryKey === true ? "primary key" : liveTable.cursorField === name ? "cursor" : undefined;
        const teller = by.type === "rule" ? `rule ${by.index}` : by.type === "unmatched" ? "unmatched" : cause.place.pointer;
        if (key === "hashed" && after && role === "primary key") warn(tally, "W_HASHES_PRIMARY_KEY", by, path, `key ${teller}`);
        if (key !== "enabled" || after || role === undefined) continue;
        const known = refused.get(`${role} ${teller}`) ?? { role, by, cause, columns: emptySample() };
        refused.set(`${role} ${teller}`, known);
        addTo(known.columns, path);
      }
    },

    compare(path, { expectations }, node) {
      if (expectations.length === 0) return;
      const wanted: Partial<Record<keyof Expected, string | boolean>> = {};
      for (const { expected } of expectations) Object.assign(wanted, expected);
      const actual: Partial<Record<keyof Expected, string | boolean>> = node;
      for (const key of ["nameInDestination", "syncMode", "cursorField", "isPrimaryKey"] as const) {
        const expected = wanted[key];
        if (expected !== undefined && actual[key] !== expected) unmet.push({ path, key, expected, actual: actual[key] });
      }
    },

    pointless({ schema, table, liveTable, context, maps }, names) {
      // Rules that name no table mean every table, disabled ones too: only where they would change a column is that worth a word (lookAt).
      const aimed = context.rules.filter((rule) => rule.parts[1] !== undefined && rule.set !== undefined);
      for (const rule of aimed)
        if (names === undefined || names.some((name) => namedIn(context, name).here.includes(rule))) warnOfTable(rule, schema, table);
      for (const [layer, map] of (maps ?? []).entries()) {
        const by = program.layers[layer];
        if (map !== undefined && by !== undefined && (names === undefined || isUnlike(map, liveTable)))
          warn(tally, "W_COLUMN_RULES_IN_DISABLED_TABLE", by, [schema, table], `disabled ${layer} ${nodePointer([schema, table])}`);
      }
    },

    countSpecial({ spoken }, says, depth) {
      if (spoken.every(({ index }) => tally.effective[index] === 1)) return;
      for (const { index } of effectiveRules(spoken, says, program.layers, depth)) tally.effective[index] = 1;
    },
  };
}

/** Whether the columns of a literal differ from those that are live. What only says what is so already needs no word: an import writes it. */
function isUnlike(literal: Readonly<Record<string, ColumnTree>>, { columns }: LiveTable): boolean {
  return Object.entries(literal).some(([name, { enabled, hashed }]) => {
    const live = own(columns, name);
    return live === undefined || (enabled ?? live.enabled) !== live.enabled || (hashed ?? live.hashed) !== live.hashed;
  });
}

/** Why a value is as it is: the rule, the `unmatched` entry, or the leaf of the literal tree. */
export function causeOf(by: Speaker, path: NodePath, key: Field): NodeCause {
  return by.type === "literal" ? { place: locationIn(by.config, literalPointer(path, key)) } : by.cause;
}
