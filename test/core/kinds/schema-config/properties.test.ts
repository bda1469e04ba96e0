// For any rules and any account, evaluation is what the documentation says.
import { describe, expect, test } from "vitest";
import { fromPointer } from "../../../../src/core/base/model/json/pointer.ts";
import type { LiveSchemas, LiveTable } from "../../../../src/core/base/model/live.ts";
import type { SchemaConfigSpec } from "../../../../src/core/base/model/manifest.ts";
import type { NodePath } from "../../../../src/core/base/model/nodes.ts";
import { tablesToRead, unmanagedTables } from "../../../../src/core/kinds/schema-config/coverage.ts";
import { evaluate } from "../../../../src/core/kinds/schema-config/evaluate.ts";
import { explain } from "../../../../src/core/kinds/schema-config/explain.ts";
import { patches, smallerPatches } from "../../../../src/core/kinds/schema-config/patch.ts";
import type { RuleCache } from "../../../../src/core/kinds/schema-config/rules/rule-cache.ts";
import { finishStats, type RunningStats } from "../../../../src/core/kinds/schema-config/rules/rule-stats.ts";
import { expand } from "../../../support/expand.ts";
import fc from "../../../support/fast-check.ts";
import { runs } from "../../../support/sample.ts";
import { compareFleet, config, ruleSet, rulesOf } from "./fleet.ts";
import { layers, live, name, sparse, withSets } from "./generators.ts";
import { reference, type Sets, type Wanted } from "./reference.ts";

const cacheOf = (specs: readonly SchemaConfigSpec[], sets: Sets = {}): RuleCache =>
  rulesOf(
    specs.map((one, index) => config({ ...one, integration: "shop", priority: index }, `c${index}`)),
    Object.entries(sets).map(([key, rules]) => ruleSet(key, rules)),
  );

type Value = boolean | string | undefined;
type Line = readonly [path: string, key: string, before: Value, after: Value];
const lines = (rules: RuleCache, tree: LiveSchemas): readonly Line[] =>
  evaluate(rules, tree).changes.map(({ path, key, before, after }) => [JSON.stringify(path), key, before, after]);
const byText = (a: Line, b: Line): number => (`${a[0]}${a[1]}` < `${b[0]}${b[1]}` ? -1 : 1);

function differences(wanted: readonly Wanted[]): readonly Line[] {
  return wanted.flatMap(({ path, live: { enabled: wasOn, hashed: wasHashed }, enabled, hashed }): readonly Line[] => [
    ...(enabled === wasOn ? [] : [[JSON.stringify(path), "enabled", wasOn, enabled] as const]),
    ...(hashed === undefined || wasHashed === undefined || hashed === wasHashed
      ? []
      : [[JSON.stringify(path), "hashed", wasHashed, hashed] as const]),
  ]);
}

/** The effect of a PATCH in the service: sent members replace, all others stay. */
function merged<T>(state: T, body: unknown): T {
  if (typeof body !== "object" || body === null || typeof state !== "object" || state === null) return body as T;
  const entries = Object.entries(state).map(
    ([key, value]) => [key, Object.hasOwn(body, key) ? merged(value, (body as Record<string, unknown>)[key]) : value] as const,
  );
  return Object.fromEntries(entries) as T;
}

const state = (tree: LiveSchemas): readonly (readonly unknown[])[] =>
  reference([{}], tree).map(({ path, enabled, hashed }) => [path, enabled, hashed]);

/** For each column, whether it is replicated and whether it is unhashed. */
function flows(wanted: readonly Wanted[], when: "before" | "after"): ReadonlyMap<string, "clear" | "hashed" | "not"> {
  const on = (path: readonly string[]): boolean => {
    const node = wanted.find((one) => JSON.stringify(one.path) === JSON.stringify(path));
    return (when === "before" ? node?.live.enabled : node?.enabled) === true;
  };
  return new Map(
    wanted
      .filter(({ path }) => path.length === 3)
      .map(({ path, live: before, hashed }) => {
        const flowing = [1, 2, 3].every((length) => on(path.slice(0, length)));
        return [JSON.stringify(path), !flowing ? "not" : (when === "before" ? before.hashed : hashed) === true ? "hashed" : "clear"];
      }),
  );
}

const countsOf = (stats: RunningStats) => {
  const { matches, unknownColumns, levels, hits } = finishStats(stats) ?? stats;
  return [matches, unknownColumns, levels, hits];
};

const usual = { numRuns: runs(25, 2_000) };

describe("for any rules and any account", () => {
  test("evaluation equals the documented semantics, implemented literally", () => {
    fc.assert(
      fc.property(withSets, live, ([specs, sets], tree) => {
        expect([...lines(cacheOf(specs, sets), tree)].sort(byText)).toEqual([...differences(reference(specs, tree, sets))].sort(byText));
      }),
      { numRuns: runs(80, 10_000) },
    );
  });

  test("every change names the rule or literal entry that sets its value", () => {
    fc.assert(
      fc.property(withSets, live, ([specs, sets], tree) => {
        const documents: Readonly<Record<string, unknown>> = {
          ...Object.fromEntries(specs.map((one, index) => [`c${index}.yaml`, { spec: one }])),
          ...Object.fromEntries(Object.entries(sets).map(([key, rules]) => [`${key}.yaml`, { spec: { rules } }])),
        };
        for (const { key, after, cause } of evaluate(cacheOf(specs, sets), tree).changes) {
          const said = fromPointer(cause.place.pointer).reduce<unknown>(
            (value, segment) => (value as Record<string, unknown>)[segment],
            documents[cause.place.file],
          );
          const value =
            typeof said === "string"
              ? said === "enable"
              : typeof said === "boolean"
                ? said
                : (said as { set: Record<string, unknown> }).set[key];
          expect([cause.place.pointer, value]).toEqual([cause.place.pointer, after]);
        }
      }),
      usual,
    );
  });

  test("a cache that has seen other accounts gives the same results as a new one", () => {
    fc.assert(
      fc.property(withSets, fc.array(live, { minLength: 2, maxLength: 4 }), ([specs, sets], trees) => {
        const rules = cacheOf(specs, sets);
        for (const tree of [...trees, ...trees]) {
          const { stats, ...evaluation } = evaluate(rules, tree);
          const fresh = cacheOf(specs, sets);
          const { stats: freshStats, ...freshEvaluation } = evaluate(fresh, tree);
          expect(JSON.stringify(evaluation.changes)).toBe(JSON.stringify(freshEvaluation.changes));
          expect([evaluation.unmanagedColumns, evaluation.exposedColumns, evaluation.uncovered]).toEqual([
            freshEvaluation.unmanagedColumns,
            freshEvaluation.exposedColumns,
            freshEvaluation.uncovered,
          ]);
          expect(countsOf(stats)).toEqual(countsOf(freshStats));
        }
      }),
      usual,
    );
  });

  test("leaves that `ignore` excludes stay as they are, and no others", () => {
    fc.assert(
      fc.property(layers, live, fc.array(name, { maxLength: 3 }), sparse(fc.constantFrom("enabled", "hashed")), (specs, tree, of, only) => {
        const ignored = (path: NodePath, key: string): boolean => of.includes(path.at(-1) ?? "") && (only === undefined || key === only);
        // Whether a key column can be disabled depends on whether its table stays enabled.
        const isCompared = ([text, key]: Line): boolean => {
          const path: NodePath = JSON.parse(text);
          return (
            !ignored(path, key) && !(key === "enabled" && path.length === 3 && path.slice(0, 2).some((one = "") => ignored([one], key)))
          );
        };
        const { changes } = evaluate(cacheOf(specs), tree, { decide: (path, key) => (ignored(path, key) ? "leave" : "send") });
        const reported = changes.map(({ path, key, before, after }): Line => [JSON.stringify(path), key, before, after]);
        expect(reported.filter(({ 0: text, 1: key }) => ignored(JSON.parse(text), key))).toEqual([]);
        expect(reported.filter(isCompared).sort(byText)).toEqual(differences(reference(specs, tree)).filter(isCompared).sort(byText));
      }),
      usual,
    );
  });

  test("reading only the necessary columns gives the same plan for tables that may be replicated", () => {
    const mapTables = (tree: LiveSchemas, change: (entry: LiveTable, top: string, middle: string) => LiveTable): LiveSchemas =>
      Object.fromEntries(
        Object.entries(tree).map(([top, entry]) => [
          top,
          { ...entry, tables: Object.fromEntries(Object.entries(entry.tables).map(([middle, one]) => [middle, change(one, top, middle)])) },
        ]),
      );
    fc.assert(
      fc.property(withSets, live, ([specs, sets], made) => {
        const tree = mapTables(made, (one) => ({ ...one, columns: one.columns ?? {} }));
        const rules = cacheOf(specs, sets);
        const bare = mapTables(tree, ({ columns: _, ...one }) => one);
        const read = new Set(tablesToRead(rules, bare, undefined).map((path) => JSON.stringify(path)));
        const filled = mapTables(tree, (one, ...path) => {
          const { columns: _, ...rest } = one;
          return read.has(JSON.stringify(path)) ? one : rest;
        });
        const whole = lines(rules, tree);
        const wanted = reference(specs, tree, sets);
        // Columns of a table that is and stays disabled are not read.
        const mayFlow = (path: readonly string[]): boolean =>
          path.length < 3 ||
          wanted.some((one) => JSON.stringify(one.path) === JSON.stringify(path.slice(0, 2)) && (one.enabled || one.live.enabled));
        expect(lines(rules, filled)).toEqual(whole.filter(([path]) => mayFlow(JSON.parse(path))));
        // No table is read that is and stays disabled.
        for (const path of read) expect(mayFlow([...JSON.parse(path), ""])).toBe(true);
      }),
      usual,
    );
  });

  test("uncovered columns are listed by name, as many as are counted", () => {
    fc.assert(
      fc.property(withSets, live, ([specs, sets], tree) => {
        const rules = cacheOf(specs, sets);
        const listed = unmanagedTables(rules, tree).flatMap(({ schema: top, table: middle, columns = [] }) =>
          columns.map((bottom) => JSON.stringify([top, middle, bottom])),
        );
        const wanted = reference(specs, tree, sets).filter(({ path, state: is }) => path.length === 3 && is === "unmanaged");
        expect([...listed].sort()).toEqual(wanted.map(({ path }) => JSON.stringify(path)).sort());
        expect(listed).toHaveLength(evaluate(rules, tree).unmanagedColumns);
      }),
      usual,
    );
  });

  test("the PATCHes, one after the other, result in exactly the evaluated tree, sparse or complete, whole or split", () => {
    fc.assert(
      fc.property(
        layers,
        live,
        fc.constantFrom(undefined, 1, 200),
        fc.constantFrom("changed", "complete"),
        (specs, tree, maxBytes, entries) => {
          const { changes } = evaluate(cacheOf(specs), tree);
          const after = patches("i", changes, { live: tree, entries })
            .flatMap((one) => (maxBytes === undefined ? [one] : smallerPatches(one, maxBytes)))
            .reduce((now, { body }) => merged(now, body["schemas"]), tree);
          expect(state(after)).toEqual(reference(specs, tree).map(({ path, enabled, hashed }) => [path, enabled, hashed]));
        },
      ),
      usual,
    );
  });

  test("everything that protects is sent before anything that exposes", () => {
    fc.assert(
      fc.property(layers, live, fc.constantFrom(undefined, 1), fc.constantFrom("changed", "complete"), (specs, tree, maxBytes, entries) => {
        const { changes } = evaluate(cacheOf(specs), tree);
        const requests = patches("i", changes, { live: tree, entries }).flatMap((one) =>
          maxBytes === undefined ? [one] : smallerPatches(one, maxBytes),
        );
        let now = tree;
        let exposing = false;
        for (const { body } of requests) {
          const next = merged(now, body["schemas"]);
          const steps = state(next).map(([, enabled, hashed], index) => [state(now)[index]?.[1], enabled, state(now)[index]?.[2], hashed]);
          const exposes = steps.some(
            ([wasOn, on, wasHashed, isHashed]) => (wasOn === false && on === true) || (wasHashed === true && isHashed === false),
          );
          const protects = steps.some(
            ([wasOn, on, wasHashed, isHashed]) => (wasOn === true && on === false) || (wasHashed === false && isHashed === true),
          );
          expect([exposes && protects, exposing && protects]).toEqual([false, false]);
          exposing ||= exposes;
          now = next;
        }
      }),
      usual,
    );
  });

  test("exposed and unmanaged columns and live nodes are counted", () => {
    fc.assert(
      fc.property(layers, live, (specs, tree) => {
        const wanted = reference(specs, tree);
        const { exposedColumns, unmanagedColumns, liveNodes } = evaluate(cacheOf(specs), tree);
        const before = flows(wanted, "before");
        const exposed = [...flows(wanted, "after")].filter(([path, after]) => after === "clear" && before.get(path) !== "clear");
        // A table whose columns are unknown counts as one.
        const on = (path: readonly string[], when: "live" | "after"): boolean =>
          wanted.some((one) => JSON.stringify(one.path) === JSON.stringify(path) && (when === "live" ? one.live.enabled : one.enabled));
        const unknown = Object.entries(tree).flatMap(([top, { tables }]) =>
          Object.entries(tables).filter(
            ([middle, { columns }]) =>
              columns === undefined &&
              [[top], [top, middle]].every((path) => on(path, "after")) &&
              ![[top], [top, middle]].every((path) => on(path, "live")),
          ),
        );
        expect(exposedColumns).toBe(exposed.length + unknown.length);
        expect(unmanagedColumns).toBe(wanted.filter(({ path, state: is }) => path.length === 3 && is === "unmanaged").length);
        expect(liveNodes).toBe(wanted.length);
      }),
      usual,
    );
  });

  test("the expanded tree manages the same without rules", () => {
    fc.assert(
      fc.property(layers, live, (specs, tree) => {
        const rules = cacheOf(specs);
        expect(lines(cacheOf([{ schemas: expand(rules, tree) }]), tree)).toEqual(lines(rules, tree));
      }),
      usual,
    );
  });

  test("explanations agree with the evaluation, node by node", () => {
    fc.assert(
      fc.property(layers, live, (specs, tree) => {
        const rules = cacheOf(specs);
        const evaluation = evaluate(rules, tree);
        for (const { path, live: before, enabled, hashed, state: is } of reference(specs, tree)) {
          const [top = "", ...rest] = path;
          const reported = explain(rules, tree, [top, ...rest] as unknown as NodePath, { evaluation });
          expect([
            reported.state,
            reported.outcome.enabled ?? before.enabled,
            path.length < 3 ? undefined : (reported.outcome.hashed ?? before.hashed),
          ]).toEqual([is, enabled, hashed]);
          for (const key of ["enabled", "hashed"] as const) {
            const winners = reported.applied.filter(({ wins }) => wins.includes(key));
            expect(winners.map(({ set }) => set[key])).toEqual(reported.outcome[key] === undefined ? [] : [reported.outcome[key]]);
          }
        }
      }),
      { numRuns: runs(12, 1_000) },
    );
  });

  test("the order of keys in a response makes no difference", () => {
    const reversed = <T>(map: Readonly<Record<string, T>>): Record<string, T> => Object.fromEntries(Object.entries(map).reverse());
    fc.assert(
      fc.property(layers, live, (specs, tree) => {
        const backwards = reversed(
          Object.fromEntries(
            Object.entries(tree).map(([key, one]) => [
              key,
              {
                ...one,
                tables: reversed(
                  Object.fromEntries(
                    Object.entries(one.tables).map(([inner, two]) => [
                      inner,
                      two.columns === undefined ? two : { ...two, columns: reversed(two.columns) },
                    ]),
                  ),
                ),
              },
            ]),
          ),
        );
        const manifests = specs.map((one, index) => config({ ...one, integration: "shop", priority: index }, `c${index}`));
        const reported = (account: LiveSchemas) => {
          const { found, problemsInFull } = compareFleet({ manifests, live: { shop: account } });
          return JSON.stringify([found.map(({ tally: _tally, problems: _problems, ...rest }) => rest), problemsInFull]);
        };
        expect(reported(backwards)).toBe(reported(tree));
      }),
      usual,
    );
  });
});
