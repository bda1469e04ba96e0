// Caches, groups and memos: the key of each leaves something out, because the value does not depend on it. Each property
// compares the result with the one that is computed for every change, column or problem alone. The names are few and the
// members have few values, so that keys meet.
import { expect, test } from "vitest";
import { eachChange, newNodeChanges, withTraces } from "../../src/core/base/model/changes.ts";
import type { ColumnLabels } from "../../src/core/base/model/columns.ts";
import { canonicalJson, defined } from "../../src/core/base/model/json/json.ts";
import {
  type KeepingNodes,
  type KeptIntegration,
  type KeptSchemas,
  keptById,
  keptJson,
  keptNow,
  namesDigest,
} from "../../src/core/base/model/kept.ts";
import type { AuditEntry, LiveColumn, LiveSchemas, LiveTable } from "../../src/core/base/model/live.ts";
import type { Manifest, SchemaRule } from "../../src/core/base/model/manifest.ts";
import { type NodePath, nodePointer } from "../../src/core/base/model/nodes.ts";
import {
  type Attribution,
  type Cause,
  type Change,
  type ChangeFacts,
  type DraftFacts,
  draftItems,
  locatedCause,
  type ReadyStep,
} from "../../src/core/base/model/plan.ts";
import type { Locate, SourceLocation } from "../../src/core/base/model/problem.ts";
import { type Field, nodesAt, riskOf } from "../../src/core/base/model/schema-tree.ts";
import { attribute } from "../../src/core/drift/attribution.ts";
import type { Account } from "../../src/core/kinds/kind.ts";
import { labelRoots } from "../../src/core/kinds/patterns/labels.ts";
import { evaluate } from "../../src/core/kinds/schema-config/evaluate.ts";
import type { DecideLeaf, NodeChange } from "../../src/core/kinds/schema-config/evaluation.ts";
import { basisOf } from "../../src/core/kinds/schema-config/live-differences.ts";
import { namesBeside } from "../../src/core/kinds/schema-config/obligations.ts";
import { removedCause } from "../../src/core/kinds/schema-config/protection.ts";
import type { SchemaConfigUnit } from "../../src/core/kinds/schema-config/units.ts";
import { compare } from "../../src/core/plan/compare.ts";
import { numbered } from "../../src/core/plan/number-items.ts";
import { pairsByObject, type Reviewed } from "../../src/core/plan/origin.ts";
import { everything } from "../../src/core/plan/scope.ts";
import { compareFleet, config } from "../core/kinds/schema-config/fleet.ts";
import { draft } from "../core/plan/drafts.ts";
import { item, plan } from "../core/render/plans.ts";
import { accountViewOf, comparingRun, liveIntegration, resourceOf } from "../support/accounts/view.ts";
import fc from "../support/fast-check.ts";
import { runs } from "../support/sample.ts";
import { readySteps } from "../support/steps.ts";

const usual = { numRuns: runs(40, 3_000) };
const quick = { numRuns: runs(150, 10_000) };
const expectSame = <T>(found: Iterable<T>, expected: Iterable<T>): void => expect(sorted(found)).toEqual(sorted(expected));
/** As plain data, in an order of their own. */
const sorted = (all: Iterable<unknown>): readonly unknown[] =>
  [...all]
    .map((one) => [canonicalJson(one), one] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, one]) => one);

/** The record without members that are undefined. */
const told = <T extends object>(made: fc.Arbitrary<T>): fc.Arbitrary<T> => made.map((one) => JSON.parse(JSON.stringify(one)) as T);
const flag = fc.boolean();
const unknownOr = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 6 });
const recordOf = <T>(names: readonly string[], value: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> =>
  fc.record(Object.fromEntries(names.map((name) => [name, value])));

// Accounts in which every name exists.

const columnNames = ["a", "b", "c"];
const column = told(
  fc.record({ nameInDestination: unknownOr(fc.constantFrom("a", "b", "x")), enabled: unknownOr(flag), hashed: unknownOr(flag) }),
) as fc.Arbitrary<LiveColumn>;
const table = told(fc.record({ enabled: unknownOr(flag), columns: recordOf(columnNames, column) })) as fc.Arbitrary<LiveTable>;
const tree = recordOf(
  ["r", "s"],
  told(fc.record({ enabled: unknownOr(flag), tables: recordOf(["t", "u"], table) })),
) as fc.Arbitrary<LiveSchemas>;
const tablePaths = ["r", "s"].flatMap((schema) => ["t", "u"].map((name) => [schema, name] as const));
const paths: readonly NodePath[] = [
  ...["r", "s"].map((schema): NodePath => [schema]),
  ...tablePaths,
  ...tablePaths.flatMap((path) => columnNames.map((name): NodePath => [...path, name])),
];

const columnSet = fc.constantFrom<NonNullable<SchemaRule & { set: object }>["set"]>(
  ...[
    { enabled: true, hashed: true },
    { enabled: true, hashed: true },
    { enabled: false, hashed: false },
  ],
  ...[{ hashed: true }, { hashed: false }, { enabled: true }, { enabled: false }],
);
const pattern = fc.constantFrom("*", "a", "b", "[ab]");
const above = unknownOr(fc.constantFrom("*", "t"));
const rule = fc.oneof(
  { weight: 4, arbitrary: fc.record({ match: told(fc.record({ table: above, column: pattern })), set: columnSet }) },
  { weight: 2, arbitrary: fc.record({ match: fc.record({ label: fc.constantFrom("pii", "secret") }), set: columnSet }) },
  { weight: 1, arbitrary: fc.record({ match: fc.record({ table: fc.constantFrom("*", "u") }), set: fc.record({ enabled: flag }) }) },
) as fc.Arbitrary<SchemaRule>;
const rules = fc.array(rule, { minLength: 1, maxLength: 5 });

const originOf = (index: number): ColumnLabels["columns"][number]["origin"] => ({
  text: `labels.csv:${index}`,
  place: { file: "labels.csv", document: 0, pointer: `/${index}` },
  isInManifest: index % 2 === 0,
  ...(index % 3 === 0 ? { reason: "register" } : {}),
});
const labels: fc.Arbitrary<ColumnLabels> = fc
  .array(
    fc.record({
      side: fc.constantFrom("source" as const, "destination" as const),
      schema: fc.constantFrom("r", "s"),
      table: fc.constantFrom("t", "u"),
      column: fc.constantFrom("a", "b", "x"),
      label: fc.constantFrom("pii", "secret"),
    }),
    { maxLength: 8 },
  )
  .map((columns) => ({
    defined: ["pii", "secret"],
    patterns: [{ label: "secret", match: { column: "c" }, origin: originOf(100) }],
    columns: columns.map((one, index) => ({ ...one, describedBy: "labels.csv", origin: originOf(index) })),
  }));

/** The line of a place: another one for each place of a file. */
const locate: Locate = ({ file, document, pointer, on }) => ({
  file,
  line: [...JSON.stringify([document, pointer, on ?? "value"])].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 1_000_003, 0),
});

const fieldsOf = (path: NodePath): readonly Field[] => (path.length === 3 ? ["enabled", "hashed"] : ["enabled"]);
const nodeField = fc.constantFrom(...paths).chain((path) => fc.constantFrom(...fieldsOf(path)).map((field) => ({ path, field })));

// What items list.

const single = ({ path, key, before, after, cause }: NodeChange): Change<DraftFacts> => ({
  path: nodePointer(path, key),
  field: key,
  ...defined({ before }),
  after,
  // From the field and the value alone.
  risk: key === "hashed" || key === "enabled" ? riskOf(key, after === true) : "neutral",
  cause,
});

/** A value that the service does not show is sent only if it protects. */
const unlessUnseen: DecideLeaf = (_path, _key, change) => (change?.live === undefined && change?.risk !== "protects" ? "leave" : "send");

test("an item has each change of the schemas with its own values, risk and cause", () => {
  fc.assert(
    fc.property(rules, tree, labels, (all, live, ofColumns) => {
      const view = { columnLabels: labelRoots(ofColumns) };
      const { units, found } = compareFleet({ manifests: [config({ rules: all })], live: { shop: live }, view });
      const [unit] = units;
      const expected = unit === undefined ? [] : evaluate(unit.rules, live, { decide: unlessUnseen }).changes.map(single);
      expectSame(
        found.flatMap(({ items }) => items.flatMap((one) => [...eachChange(one)])),
        expected,
      );
    }),
    usual,
  );
});

const place = told(
  fc.record({
    file: fc.constantFrom("a.yaml", "b.yaml"),
    document: fc.constantFrom(0, 1),
    pointer: fc.constantFrom("/x", "/y"),
    on: unknownOr(fc.constantFrom("key" as const, "value" as const)),
  }),
) as fc.Arbitrary<SourceLocation>;
const labelOrigin = told(
  fc.record({ text: fc.constantFrom("l.csv:1", "l.csv:2"), place, isInManifest: flag, reason: unknownOr(fc.constantFrom("v", "w")) }),
) as fc.Arbitrary<ColumnLabels["columns"][number]["origin"]>;
const draftCause = told(
  fc.record({
    rule: unknownOr(fc.constantFrom("p", "q")),
    reason: unknownOr(fc.constantFrom("v", "w")),
    label: unknownOr(fc.record({ name: fc.constantFrom("pii", "secret"), origin: labelOrigin })),
    place,
  }),
) as fc.Arbitrary<NonNullable<DraftFacts["cause"]>>;
const draftFacts = told(
  fc.record({
    before: unknownOr(flag),
    after: flag,
    risk: fc.constantFrom("protects" as const, "exposes" as const, "neutral" as const),
    cause: unknownOr(draftCause),
    origin: unknownOr(fc.constantFrom("drift" as const, "config" as const)),
  }),
) as fc.Arbitrary<DraftFacts>;

interface Single<F> {
  readonly path: NodePath;
  readonly field: Field;
  readonly facts: F;
}

/** Facts that are shared, equal, or different in some members. */
const singlesOf = <F extends object>(facts: fc.Arbitrary<F>): fc.Arbitrary<readonly Single<F>[]> =>
  fc.array(fc.tuple(facts, facts, flag), { minLength: 1, maxLength: 3 }).chain((pool) => {
    const mixed = pool.flatMap(([one, other]) => [
      one,
      ...Object.keys(other).map((key) => ({ ...one, [key]: (other as Record<string, unknown>)[key] })),
    ]);
    return fc.uniqueArray(
      fc
        .tuple(nodeField, fc.constantFrom(...mixed), flag)
        .map(([of, one, isCopy]) => ({ ...of, facts: isCopy ? (structuredClone(one) as F) : (one as F) })),
      { selector: ({ path, field }) => nodePointer(path, field), maxLength: 20 },
    );
  });

function groupsOf<F extends ChangeFacts | DraftFacts>(all: readonly Single<F>[]) {
  const groups = newNodeChanges<F>();
  for (const { path, field, facts } of all) groups.add(path, field, facts);
  return groups.changes();
}
const changeOf = <F extends object>({ path, field, facts }: Single<F>): Change<F> => ({ path: nodePointer(path, field), field, ...facts });

test("a numbered item has each change with its own cause, at its own file and line", () => {
  const reportRisks = { protects: "exposed", exposes: "stricter", neutral: "neutral" } as const;
  fc.assert(
    fc.property(fc.array(singlesOf(draftFacts), { minLength: 1, maxLength: 3 }), fc.constantFrom("Plan", "DriftReport"), (all, kind) => {
      const drafts = all.map((changes, index) => draft(`Schemas/${index}`, "update", { changes: groupsOf(changes) }));
      const made = numbered(drafts, { kind, locate });
      for (const [index, changes] of all.entries())
        expectSame(
          eachChange(made[index] ?? {}),
          changes.map(changeOf).map(({ cause, risk, ...rest }) => ({
            ...rest,
            risk: kind === "Plan" ? risk : reportRisks[risk],
            ...(cause === undefined ? {} : { cause: locatedCause(cause, locate) }),
          })),
        );
    }),
    quick,
  );
});

const attributions: readonly Attribution[] = ["dana", "kim"].flatMap((actor) =>
  ["exact", "likely"].map((confidence) => ({ actor, at: "2026-03-01T07:00:00Z", event: "e", confidence, own: false }) as Attribution),
);
const located = told(
  fc.record({
    rule: unknownOr(fc.constantFrom("p", "q")),
    file: fc.constantFrom("a.yaml", "b.yaml"),
    line: unknownOr(fc.constantFrom(1, 2)),
  }),
) as fc.Arbitrary<Cause>;
const trace: fc.Arbitrary<Pick<ChangeFacts, "origin" | "attribution" | "removed">> = fc
  .record({
    origin: unknownOr(fc.constantFrom("drift" as const, "config" as const, "conflict" as const)),
    attribution: unknownOr(fc.constantFrom(...attributions)),
    removed: fc.option(located, { nil: undefined, freq: 2 }),
  })
  .map(defined);

/** Equal ones, and those that differ in one member. */
const alike = fc
  .tuple(trace, trace)
  .map(([one, other]) => [
    one,
    defined({ ...one, removed: other.removed }),
    defined({ ...one, origin: other.origin }),
    defined({ ...one, attribution: other.attribution }),
  ]);

test("a traced item has each change with its own origin, attribution and removed cause", () => {
  fc.assert(
    fc.property(singlesOf(draftFacts), draftFacts, alike, flag, (singles, facts, traces, isCopy) => {
      const all = singles.map((one) => ({ ...one, facts }));
      const traceOf = ({ path }: Change<DraftFacts>) => {
        const at = [...path].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % traces.length;
        const found = traces[at] ?? {};
        return isCopy ? structuredClone(found) : found;
      };
      expectSame(
        eachChange({ changes: withTraces(groupsOf(all), traceOf) }),
        all.map(changeOf).map((one) => ({ ...one, ...traceOf(one) })),
      );
    }),
    quick,
  );
});

// A fleet.

interface Fleet {
  readonly before: readonly SchemaRule[];
  readonly now: readonly SchemaRule[];
  readonly trees: readonly LiveSchemas[];
  readonly labels: ColumnLabels;
}

/** The rules before: those of now or some of them, and others that decided and are gone. Integrations are often equal, or differ in one value. */
const fleet: fc.Arbitrary<Fleet> = fc
  .tuple(
    rules,
    rules,
    fc.array(tree, { minLength: 1, maxLength: 2 }),
    labels,
    fc.array(fc.tuple(fc.nat(), nodeField, unknownOr(flag)), { minLength: 2, maxLength: 4 }),
  )
  .map(([now, others, trees, ofColumns, shards]) => ({
    now,
    before: [...now.filter((_, index) => index % 2 === 0 || others.length % 2 === 0), ...others],
    trees: shards.map(([index, { path, field }, value]) => {
      const live = trees[index % trees.length] ?? {};
      return index % 3 === 0 ? live : withValue(live, path, field, value);
    }),
    labels: ofColumns,
  }));

function withValue(live: LiveSchemas, path: NodePath, field: Field, value: boolean | undefined): LiveSchemas {
  const copy = structuredClone(live);
  const { schema, table: ofTable, column: ofColumn } = nodesAt(copy, path);
  const node: object | undefined = path.length === 1 ? schema : path.length === 2 ? ofTable : ofColumn;
  if (node !== undefined && value !== undefined) Object.assign(node, { [field]: value });
  if (node !== undefined && value === undefined) Reflect.deleteProperty(node, field);
  return copy;
}

/** The numbered items of the fleet, or of one integration of it, with everything made again. */
async function itemsOf({ before, now, trees, labels: ofColumns }: Fleet, only?: number) {
  const integrations = trees.map((_, index) => liveIntegration(`id-${index}`, `shop-${index}`, `pg-${index}`));
  const configOf = (all: readonly SchemaRule[]) => resourceOf("SchemaConfig", "shops", { integrations: { names: ["shop-*"] }, rules: all });
  const viewOf = (configs: readonly Manifest[]): Account => accountViewOf(configs, { integrations, columnLabels: labelRoots(ofColumns) });
  const configs = [configOf(now)];
  const account = viewOf(configs);
  const atBase = viewOf([configOf(before)]);
  const base: Reviewed = {
    account: atBase,
    pairs: pairsByObject(atBase),
    locate,
    isComplete: true,
    isNow: false,
    problems: [],
  };
  const reads = { schemas: async (id: string) => ({ tree: trees[Number(id.slice(3))] ?? {} }) };
  const scope = { ...everything, unit: (address: string) => only === undefined || address === `Schemas/shop-${only}` };
  const { differences } = await compare({ run: comparingRun(reads, { scope }), account, reviewed: base, checks: [] });
  const drafts = differences.flatMap(draftItems);
  return { drafts, items: numbered(drafts, { kind: "Plan", locate }), base, account };
}

/** An item without its number, with single changes. */
const plainItem = ({ id: _, changes, ...rest }: ReadyStep) => ({ ...rest, changes: sorted(eachChange({ changes })) });

test("the items of a fleet are those that each integration has alone, with origins and removed causes", async () => {
  await fc.assert(
    fc.asyncProperty(fleet, async (made) => {
      const together = await itemsOf(made);
      const alone = await Promise.all(made.trees.map((_, index) => itemsOf(made, index)));
      expectSame(
        together.items.map(plainItem),
        alone.flatMap(({ items }) => items.map(plainItem)),
      );
    }),
    usual,
  );
});

test("the removed cause of a change is the one that is found for it alone, with its own rule and label", async () => {
  await fc.assert(
    fc.asyncProperty(fleet, async (made) => {
      const { drafts, base, account } = await itemsOf(made);
      const units = pairsByObject(account);
      for (const { liveId = "", changes } of drafts) {
        const key = `SchemaConfig ${liveId}`;
        const unitIn = (all: Reviewed["pairs"]) => all.get(key)?.unit as SchemaConfigUnit; // the only kind here
        const change = { before: unitIn(base.pairs), now: unitIn(units) };
        const live = made.trees[Number(liveId.slice(3))] ?? {};
        for (const path of paths)
          for (const field of fieldsOf(path)) {
            const found = [...eachChange({ changes })].find((one) => one.path === nodePointer(path, field));
            if (found === undefined) continue;
            const cause = found.risk === "exposes" ? removedCause(change, live, { path, key: field }) : undefined;
            expect(found.removed).toEqual(cause && locatedCause(cause, locate));
          }
      }
    }),
    usual,
  );
});

// Who made a change.

const subject = fc.constantFrom("8f1c", "b27d", "'Orders'", "orders", "'Billing'", "billing", "'gone'", "");
const verb = fc.constantFrom("schema changed", "column", "un-hashed", "paused", "renamed", "updated", "table", "viewed");
const named = fc.constantFrom("", "t", "u", "t.a", "u.a", "a", "b", "r", "'t'");
const event = fc.record({
  subject,
  verb,
  named,
  hour: fc.integer({ min: 0, max: 9 }),
  actor: fc.constantFrom("dana", "kim"),
  isOwn: fc.nat(5),
});
const entries: fc.Arbitrary<readonly AuditEntry[]> = fc.array(event, { minLength: 1, maxLength: 8 }).map((all) =>
  all.map(({ subject: of, verb: what, named: node, hour, actor, isOwn }, index) => ({
    id: `e-${index}`,
    timestamp: `2026-03-01T0${hour}:00:00.000Z`,
    event: `${of} ${what} ${node}`.trim(),
    actor: { type: "user", email: actor },
    context: { ipAddress: undefined, userAgent: isOwn === 0 ? "dimsync/1.0.0 (run/r1)" : undefined },
  })),
);
const object = fc.constantFrom(
  ...[
    { id: "8f1c", name: "orders", liveName: "Orders" },
    { id: "8f1c", name: "orders", liveName: undefined },
    { id: "b27d", name: "billing", liveName: "Billing" },
    { id: "c310", name: "sales", liveName: "Orders" },
  ],
);
const ofSettings = fc
  .uniqueArray(fc.constantFrom("/paused", "/name", "/replicationFrequency"), { minLength: 1 })
  .map((all) => all.map((path) => ({ path, risk: "neutral" as const })));
const reportItem = fc.oneof(
  fc
    .tuple(
      object,
      singlesOf(
        fc.record({
          risk: fc.constant("exposed" as const),
          origin: fc.constantFrom("drift" as const, "config" as const),
        }) as fc.Arbitrary<ChangeFacts>,
      ),
    )
    .map(([of, all]) => ({ of, kind: "Schemas", changes: groupsOf(all) })),
  fc.tuple(object, ofSettings).map(([of, changes]) => ({ of, kind: "Integration", changes })),
);

test("a change is attributed as if it were the only one", () => {
  fc.assert(
    fc.property(fc.array(reportItem, { minLength: 1, maxLength: 4 }), entries, (all, log) => {
      const items = all.map(({ of: { id, name, liveName }, kind, changes }, index) => ({
        ...item({ id: `i${index}`, address: `${kind}/${name}`, liveId: id }),
        liveName,
        changes,
      })) as readonly ReadyStep[];
      const reported = (ofReport: readonly ReadyStep[]) => attribute({ ...plan({ kind: "DriftReport" }), steps: ofReport }, log);
      const together = reported(items);
      for (const [index, one] of items.entries()) {
        // The first of its report, which still has the objects of the others: an event about one of them explains no other.
        const others = items.filter((other) => other !== one).map((other) => ({ ...other, changes: [] }));
        const alone = [...eachChange(one)].map(
          ({ path, field: _, ...facts }) => readySteps(reported([{ ...one, changes: [{ path, ...facts }] }, ...others]))[0],
        );
        expectSame(
          eachChange(readySteps(together)[index] ?? {}),
          alone.flatMap((found) => [...eachChange(found ?? {})]),
        );
        // Of the events about the object, the newest.
        const times = alone.flatMap((found) => found?.attribution?.at ?? []);
        expect(readySteps(together)[index]?.attribution?.at).toBe(times.sort().at(-1));
        const events = alone.flatMap((found) => found?.attribution ?? []);
        if (events.length > 0) expect(events).toContainEqual(readySteps(together)[index]?.attribution);
      }
    }),
    quick,
  );
});

// The basis of a plan.

/** What decides how much the changes expose: every value above, of, and below their nodes that the request does not set. */
function touched(live: LiveSchemas, changes: readonly Single<DraftFacts>[], apart: ReadonlySet<LiveTable>): readonly unknown[] {
  const isAbove = (one: NodePath, other: NodePath): boolean => one.every((name, index) => name === other[index]);
  return paths.flatMap((path) => {
    const { schema, table: ofTable, column: ofColumn } = nodesAt(live, path);
    const exposing = changes.filter(({ facts }) => facts.risk === "exposes").map((one) => one.path);
    const isOfNode = exposing.some((one) => isAbove(path, one));
    const isBelow = exposing.some(
      (one) => isAbove(one, path) && (path.length !== 3 || one.length === 3 || ofTable === undefined || !apart.has(ofTable)),
    );
    if (!isOfNode && !isBelow) return [];
    return [[path, path.length === 1 ? schema?.enabled : path.length === 2 ? ofTable?.enabled : [ofColumn?.enabled, ofColumn?.hashed]]];
  });
}

const exposing = singlesOf(
  fc.record({
    before: flag,
    after: flag,
    risk: fc.constantFrom("exposes" as const, "exposes" as const, "protects" as const),
  }) as fc.Arbitrary<DraftFacts>,
);

test("two accounts have the same basis exactly if every value that decides what is exposed is equal", () => {
  fc.assert(
    fc.property(
      tree,
      exposing,
      fc.array(fc.tuple(nodeField, unknownOr(flag)), { maxLength: 2 }),
      fc.subarray([...tablePaths]),
      (live, all, edits, read) => {
        const other = edits.reduce((now, [{ path, field }, value]) => withValue(now, path, field, value), structuredClone(live));
        const [one, two] = [live, other].map((now) => {
          const apart = new Set(read.flatMap((path) => nodesAt(now, path).table ?? []));
          return { basis: basisOf(groupsOf(all), { tree: now, apart }), values: JSON.stringify(touched(now, all, apart)) };
        });
        expect(one?.basis === two?.basis).toBe(one?.values === two?.values);
        expect(one?.basis === undefined).toBe(one?.values === "[]");
      },
    ),
    quick,
  );
});

// What is kept.

const keepingNodes = told(
  fc.record({
    as: fc.constantFrom("hashed" as const, "disabled" as const),
    by: fc.constantFrom("SchemaConfig/p", "SchemaConfig/q"),
    isKept: flag,
    columns: unknownOr(fc.subarray(["a", "b", "__proto__", "ab"], { minLength: 1 }).map((all) => [...all].sort())),
  }),
) as fc.Arbitrary<KeepingNodes>;
/** Equal tables are often one value. */
const keeping = fc
  .array(fc.array(keepingNodes, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 3 })
  .chain((pool) =>
    fc
      .dictionary(
        fc.constantFrom("r", "s", "__proto__"),
        fc.dictionary(fc.constantFrom("t", "tu", "tuv", "u", "__proto__", "itself"), fc.constantFrom(...pool), { maxKeys: 5 }),
        { maxKeys: 3 },
      )
      .map(
        (schemas) =>
          new Map(
            Object.entries(schemas).map(([schema, tables]) => [
              schema,
              new Map(Object.entries(tables).map(([name, nodes]) => [name === "itself" ? undefined : name, nodes])),
            ]),
          ),
      ),
  );
const judged = (live: LiveSchemas) => ({ since: "2026-11-02T08:00:00.000Z", among: namesBeside(live, new Map()), isGivenUp: () => false });
/** Some schemas have fewer tables, and some tables fewer columns. */
const uneven = fc.tuple(tree, fc.array(fc.tuple(fc.constantFrom(...tablePaths), fc.constantFrom("b", "c", "u")))).map(([live, fewer]) => {
  const copy = structuredClone(live);
  for (const [path, name] of fewer) {
    const { schema, table: ofTable } = nodesAt(copy, path);
    Reflect.deleteProperty((name === "u" ? schema?.tables : ofTable?.columns) ?? {}, name);
  }
  return copy;
});

test("what is kept of a table does not depend on other tables", () => {
  fc.assert(
    fc.property(keeping, uneven, (all, live) => {
      const together = keptNow(undefined, all, judged(live));
      const alone = [...all].flatMap(([schema, tables]) =>
        [...tables].map(([name, nodes]) => [
          schema,
          name,
          keptNow(undefined, new Map([[schema, new Map([[name, structuredClone(nodes)]])]]), judged(live))
            .get(schema)
            ?.get(name),
        ]),
      );
      expectSame(
        [...together].flatMap(([schema, tables]) => [...tables].map(([name, nodes]) => [schema, name, nodes])),
        alone,
      );
    }),
    quick,
  );
});

test("what is kept is the same after it was stored, whatever is stored once", () => {
  const kept = fc.tuple(keeping, tree).map(([all, live]) => keptNow(undefined, all, judged(live)));
  const integration = fc.record({
    identity: fc.constantFrom(["a"], ["b"]),
    isCopy: flag,
    at: fc.nat(2),
  });
  fc.assert(
    fc.property(
      fc.array(kept, { minLength: 3, maxLength: 3 }),
      fc.dictionary(fc.constantFrom("8f1c", "b27d", "__proto__", "x"), integration),
      (all, byName) => {
        const byId = new Map(
          Object.entries(byName).map(([id, { at, isCopy, ...one }]): [string, KeptIntegration] => {
            const schemas: KeptSchemas = all[at] ?? new Map();
            return [id, { ...one, schemas: isCopy ? structuredClone(schemas) : schemas }];
          }),
        );
        const read = keptById(JSON.parse(JSON.stringify(keptJson(byId))));
        const plain = ([id, { schemas, ...one }]: readonly [string, KeptIntegration]) => [
          ...[id, one],
          sorted([...schemas].flatMap(([schema, tables]) => [...tables].map(([name, nodes]) => [schema, name ?? null, nodes]))),
        ];
        expectSame([...read].map(plain), [...byId].map(plain));
      },
    ),
    quick,
  );
});

test("what manifests keep of a table does not depend on the table before it", () => {
  fc.assert(
    fc.property(rules, tree, labels, (all, live, ofColumns) => {
      const keptIn = (of: LiveSchemas) => {
        const { units } = compareFleet({
          manifests: ["p", "q"].map((name, priority) => config({ priority, rules: all.filter((_, at) => at % 2 === priority) }, name)),
          live: { shop: of },
          view: { columnLabels: labelRoots(ofColumns) },
        });
        return units.flatMap(({ rules: known }) => [...(evaluate(known, of, { isKeeping: true }).keeper?.tables ?? [])]);
      };
      const listed = (found: ReturnType<typeof keptIn>) =>
        found.flatMap(([schema, tables]) => [...tables].map(([name, nodes]) => [schema, name ?? null, nodes]));
      const together = listed(keptIn(live));
      for (const [schema, name] of tablePaths) {
        const { schema: ofSchema, table: ofTable } = nodesAt(live, [schema, name]);
        if (ofSchema === undefined || ofTable === undefined) continue;
        const alone = listed(keptIn({ [schema]: { ...ofSchema, tables: { [name]: ofTable } } }));
        const ofThis = ([top, one]: readonly unknown[]): boolean => top === schema && (one === name || one === null);
        expectSame(together.filter(ofThis), alone.filter(ofThis));
      }
    }),
    usual,
  );
});

test("the digests beside a node are those of its own names", () => {
  fc.assert(
    fc.property(fc.array(uneven, { minLength: 1, maxLength: 3 }), (trees) => {
      for (const live of trees) {
        const beside = namesBeside(live, new Map());
        for (const [schema, name] of tablePaths) {
          const { schema: ofSchema, table: ofTable } = nodesAt(live, [schema, name]);
          if (ofTable === undefined) continue;
          const names = [live, ofSchema?.tables, ofTable.columns].map((of) => Object.keys(of ?? {}));
          expect(beside(schema, name)).toEqual(names.map(namesDigest));
        }
      }
    }),
    quick,
  );
});
