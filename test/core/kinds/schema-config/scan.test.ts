// A scan answers each question as if it were asked alone.
import { expect, test } from "vitest";
import type { LiveSchemas } from "../../../../src/core/base/model/live.ts";
import type { NodePath } from "../../../../src/core/base/model/nodes.ts";
import { managedAt, type Question, type ScannedNode, scan } from "../../../../src/core/kinds/schema-config/scan.ts";
import fc from "../../../support/fast-check.ts";
import { runs } from "../../../support/sample.ts";
import { column, config, rulesOf, schema, table } from "./fleet.ts";
import { layers, live } from "./generators.ts";

type Node = ScannedNode<unknown, NodePath>;

/** Gets every node below those whose name is not `not`. */
const listing = (each: (node: Node) => void, not?: string): Question => {
  const visit = (node: Node): boolean => {
    each(node);
    return node.path.at(-1) !== not;
  };
  return { schema: visit, table: visit, column: (node) => void visit(node) };
};
const pathsIn = (tree: LiveSchemas, questions: (add: (node: Node) => void) => readonly Question[]): readonly string[] => {
  const found: string[] = [];
  scan(
    tree,
    questions((node) => found.push(node.path.join("."))),
  );
  return found.sort();
};

test("questions do not change what another one is asked", () => {
  fc.assert(
    fc.property(live, (tree) => {
      const [all, some] = [undefined, "a"].map((not) => pathsIn(tree, (add) => [listing(add, not)]));
      expect(pathsIn(tree, (add) => [listing(add), listing(add, "a")])).toEqual([...(all ?? []), ...(some ?? [])].sort());
    }),
    { numRuns: runs(50, 1_000) },
  );
});

test("a node of a scan has what its path has", () => {
  fc.assert(
    fc.property(layers, live, (specs, tree) => {
      const rules = rulesOf(specs.map((spec, index) => config(spec, `c${index}`)));
      const compare = ({ managed, path }: Node): void => {
        const { match, resolution, unmatched } = managedAt(rules, tree, path);
        expect([managed.match, managed.resolution, managed.unmatched]).toEqual([match, resolution, unmatched]);
      };
      scan(tree, [listing(compare)], { rules });
    }),
    { numRuns: runs(30, 500) },
  );
});

test("a node has its values before and after the plan, and is replicated with the nodes above", () => {
  const tree = { s: schema({ t: table({ c: column({ hashed: true }) }, { enabled: false }) }) };
  const found: unknown[] = [];
  const next = (path: NodePath, key: string, now: boolean | undefined) => (key === "hashed" ? false : path.length === 2 || now);
  scan(tree, [{ column: ({ now, next: after }) => found.push(now, after) }], { next });
  expect(found).toEqual([
    { enabled: true, hashed: true, replicated: false },
    { enabled: true, hashed: false, replicated: true },
  ]);
});

test("what a literal tree lacks is unknown", () => {
  const tree: LiveSchemas = {
    s: { tables: { t: { enabled: true, columns: { c: { hashed: false } } }, off: { enabled: false, columns: {} } } },
  };
  const found: unknown[] = [];
  const question: Question = { table: ({ now }) => void found.push(now.replicated), column: ({ now }) => void found.push(now) };
  scan(tree, [question], { isLiteral: true });
  expect(found).toEqual([undefined, { enabled: undefined, hashed: false, replicated: undefined }, false]);
});
