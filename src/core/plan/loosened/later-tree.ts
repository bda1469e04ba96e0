import { canonicalJson, defined, type JsonValue } from "../../base/model/json/json.ts";
import type { LiveSchemas, LiveTable } from "../../base/model/live.ts";
import { getOrAdd, groupBy } from "../../base/model/maps.ts";
import type { Patterns, WrittenRule } from "../../base/model/specs.generated.d.ts";
import type { IntegrationNames } from "../../kinds/index.ts";
import { isIntegration, isPolicy, isSchemaConfig, ruleSetsIn, spliceRules } from "../../kinds/index.ts";
import type { Review } from "./entry.ts";
import { type BothSides, namesLike, patternTexts } from "./later-names.ts";

// Schemas and integrations that do not exist yet, with names from the patterns and literals of both sides. What is not the same
// on both sides comes first, together with everything else, so that a bound leaves out what matters least.

export type Side = Pick<Review["base"], "manifests" | "columnLabels">;
export type Sides = Readonly<Record<"base" | "head", Side>>;

type Level = "schema" | "table" | "column";

/** A rule, label, policy or exemption. */
interface Matching {
  readonly match: { readonly [L in Level]?: Patterns | undefined } & Pick<WrittenRule["match"], "label" | "where">;
  /** Of a label. */
  readonly label?: string;
}

const byText = <T>(list: readonly T[]): ReadonlyMap<string, T> => new Map(list.map((one) => [canonicalJson(one as JsonValue), one])); // parts of manifests are JSON

/** The values of both sides. `changed` are those on one side only. */
function inBoth<T>(before: readonly T[], now: readonly T[]): BothSides<T> {
  const [was, is] = [byText(before), byText(now)];
  const all = new Map([...was, ...is]);
  return { changed: [...all].flatMap(([text, one]) => (was.has(text) === is.has(text) ? [] : [one])), all: [...all.values()] };
}

const labelsIn = ({ columnLabels }: Side): readonly Matching[] =>
  (columnLabels?.patterns ?? []).map(({ label, match }) => ({ label, match }));

/**
 * Rules, and the labels that they match by. Changed are rules that protected at the base, rules that expose now, those in another order, all
 * of a SchemaConfig that selects something else or has another priority, and all at all if an integration has other names or labels.
 */
export function rulesOf({ base, head }: Sides): BothSides<Matching> {
  const integrationsOf = ({ manifests }: Side): string =>
    canonicalJson(manifests.filter(isIntegration).map(({ address, labels, spec }) => [address, labels, spec.settings?.name ?? null]));
  const areAllChanged = integrationsOf(base) !== integrationsOf(head);
  const [was, is] = [configsIn(base), configsIn(head)];
  const all = new Map<string, WrittenRule>();
  const changed = new Map<string, WrittenRule>();
  for (const address of new Set([...was.keys(), ...is.keys()])) {
    const { rules: before = none, rest } = was.get(address) ?? {};
    const { rules: now = none, rest: restNow } = is.get(address) ?? {};
    const same = new Set(areAllChanged || rest !== restNow ? [] : sameIn([...before.keys()], [...now.keys()]));
    for (const [text, rule] of [...before, ...now]) {
      const isOneSided = before.has(text) !== now.has(text);
      all.set(text, rule);
      if (isOneSided ? (before.has(text) ? isProtecting(rule) : isExposing(rule)) : !same.has(text)) changed.set(text, rule);
    }
  }
  const labels = inBoth(labelsIn(base), labelsIn(head));
  const names = new Set([...changed.values()].flatMap(({ match }) => patternTexts(match.label)));
  const isUsed = ({ label }: Matching): boolean => patternTexts(label).some((name) => names.has(name));
  return {
    changed: [...changed.values(), ...labels.changed, ...labels.all.filter(isUsed)],
    all: [...all.values(), ...labels.all],
  };
}

const none: ReadonlyMap<string, WrittenRule> = new Map();
const isProtecting = ({ set = {} }: WrittenRule): boolean => set.hashed === true || set.enabled === false;
const isExposing = ({ set = {}, ignore }: WrittenRule): boolean => set.hashed === false || set.enabled === true || ignore === true;

/** What is in both lists, without what lies between the first and the last one that is in another order. */
function sameIn(before: readonly string[], now: readonly string[]): readonly string[] {
  const [was, is] = [before.filter((one) => now.includes(one)), now.filter((one) => before.includes(one))];
  const isMoved = (one: string, index: number): boolean => one !== is[index];
  const [first, last] = [was.findIndex(isMoved), was.findLastIndex(isMoved)];
  return first < 0 ? was : [...was.slice(0, first), ...was.slice(last + 1)];
}

/** By address: the rules of each SchemaConfig with those of its RuleSets, by their text, and the text of everything else. */
const configsIn = ({ manifests }: Side) => {
  const sets = ruleSetsIn(manifests);
  return new Map(
    manifests.filter(isSchemaConfig).map((one) => {
      const { rules: _, ...rest } = one.spec;
      const rules = spliceRules(one, sets).rules.map(({ rule }) => [canonicalJson(rule as JsonValue), rule] as const);
      return [one.address, { rules: new Map(rules), rest: canonicalJson(rest as JsonValue) }];
    }),
  );
};

/** Policies, their exemptions and labels. */
export function policiesOf({ base, head }: Sides): BothSides<Matching> {
  const matchingIn = (side: Side): readonly Matching[] => [
    ...side.manifests
      .filter(isPolicy)
      .flatMap(({ spec }): readonly Matching[] => [
        { ...spec, match: { schema: spec.when?.schema?.name, table: spec.when?.table?.name, column: spec.when?.column?.name } },
        ...(spec.exemptions ?? []).map((match) => ({ match })),
      ]),
    ...labelsIn(side),
  ];
  return inBoth(matchingIn(base), matchingIn(head));
}

/** The most names of each level. */
const most: Readonly<Record<Level, number>> = { schema: 60, table: 400, column: 6_000 };
/** Those of a pattern that is not changed, and of what it matches together with changed ones. */
const mostBeside: Readonly<Record<Level, number>> = { schema: 60, table: 2_000, column: 1_000 };
/** The most columns of a table that only a literal tree or a file names, beside those. */
const mostBesideNamed = 120;
const mostAttributes = 8;
/** The most columns of all tables, times the patterns that each is compared with. */
const mostComparisons = 200_000_000;

type Columns = NonNullable<LiveTable["columns"]>;

/** What a `where` asks for. */
type Attributes = NonNullable<WrittenRule["match"]["where"]>;

const ordinary: { readonly enabled: boolean; readonly hashed: boolean; readonly isPrimaryKey: boolean; readonly syncMode?: string } = {
  enabled: true,
  hashed: false,
  isPrimaryKey: false,
};

/** Of rules with a `where`: what it asks for, and the opposite of each member. */
export function attributesOf({ all }: BothSides<Matching>, onCut: TreeOptions["onCut"]): readonly Attributes[] {
  const asked = all.flatMap(({ match }) => match.where ?? []);
  const members = (["enabled", "hashed", "isPrimaryKey"] as const).filter((name) => asked.some((where) => where[name] !== undefined));
  const found = [...byText<Attributes>([{}, ...asked, ...members.map((name) => ({ [name]: !ordinary[name] }))]).values()];
  if (found.length > mostAttributes) onCut();
  return found.slice(0, mostAttributes);
}

interface TreeOptions {
  /** What its tables and columns have instead of what new ones have. */
  readonly attributes?: Attributes;
  /** Called if a bound leaves out names of changed patterns. */
  readonly onCut: () => void;
}

/** Tables that changed patterns match, with all columns; and what each other pattern of a table and each entry for a table name there. */
export function laterTree(sides: Sides, { changed, all }: BothSides<Matching>, { attributes = {}, onCut }: TreeOptions): LiveSchemas {
  const namesAt = (level: Level, given: BothSides<Matching>, limit: number): readonly string[] => {
    const textsOf = (of: readonly Matching[]) => of.flatMap(({ match }) => patternTexts(match[level]));
    const { names, isCut } = namesLike({ changed: textsOf(given.changed), all: textsOf(given.all) }, limit);
    if (isCut) onCut();
    return names;
  };
  const columnsOf = (names: readonly string[]): Columns => Object.fromEntries(names.map((name) => [name, { ...ordinary, ...attributes }]));
  const { enabled, syncMode } = { ...ordinary, ...attributes };
  const tree = new Map<string, Map<string, LiveTable>>();
  const add = (schema: string, table: string, columns: Columns): void => {
    const tables = getOrAdd(tree, schema, () => new Map<string, LiveTable>());
    const known = tables.get(table)?.columns;
    tables.set(table, { enabled, ...defined({ syncMode }), columns: known === undefined ? columns : { ...known, ...columns } });
  };
  const ofChanged = { changed, all: changed };
  // Rules for whole schemas and tables decide whether rules for columns matter there.
  const aboveColumns = (level: "schema" | "table"): readonly string[] => {
    const names = all
      .filter(({ match }) => deepest(match) === level)
      .flatMap(({ match }) => namesLike({ changed: [], all: patternTexts(match[level]) }, 3).names);
    return [...new Set([...namesAt(level, ofChanged, most[level]), ...names])].slice(0, most[level]);
  };
  const [schemas, tables] = [aboveColumns("schema"), aboveColumns("table")];
  const room = Math.floor(mostComparisons / (schemas.length * tables.length * (all.length + 1)));
  const names = namesAt("column", { changed, all }, Math.max(mostBeside.column, Math.min(most.column, room)));
  const [columns, few] = [columnsOf(names), columnsOf(names.slice(0, mostBesideNamed))];
  for (const schema of schemas) for (const table of tables) add(schema, table, columns);
  for (const one of all.filter(({ match }) => match.schema !== undefined || match.table !== undefined)) {
    const given = { changed: [one], all: [one, ...changed] };
    const own = columnsOf(namesAt("column", given, mostBeside.column));
    for (const schema of namesAt("schema", given, mostBeside.schema))
      for (const table of namesAt("table", given, mostBeside.table)) add(schema, table, own);
  }
  const named = groupBy([...namedColumns(sides.base), ...namedColumns(sides.head)], ({ schema, table }) => canonicalJson([schema, table]));
  for (const of of named.values()) add(of[0].schema, of[0].table, { ...few, ...columnsOf(of.flatMap(({ column }) => column ?? [])) });
  return Object.fromEntries([...tree].map(([schema, of]) => [schema, { enabled: true, tables: Object.fromEntries(of) }]));
}

const deepest = ({ table, column, label }: Matching["match"]): Level =>
  column !== undefined || label !== undefined ? "column" : table !== undefined ? "table" : "schema";

/** The tables and columns that literal trees and files name. */
const namedColumns = ({ manifests, columnLabels }: Side): readonly Named[] => [
  ...manifests
    .filter(isSchemaConfig)
    .flatMap(({ spec }) =>
      Object.entries(spec.schemas ?? {}).flatMap(([schema, { tables = {} }]) =>
        Object.entries(tables).flatMap(([table, { columns = {} }]) =>
          [undefined, ...Object.keys(columns)].map((column) => ({ schema, table, column })),
        ),
      ),
    ),
  ...(columnLabels?.columns ?? []),
];

interface Named {
  readonly schema: string;
  readonly table: string;
  readonly column?: string | undefined;
}

const mostNames = 40;
const mostLabels = 40;

/** Integrations with the names and labels that selectors, exemptions and files match. */
export function laterIntegrations(
  { base, head }: Sides,
  { isKnown, onCut }: Pick<TreeOptions, "onCut"> & { readonly isKnown: boolean },
): ReadonlyMap<string, IntegrationNames> {
  const selectorsIn = ({ manifests, columnLabels }: Side): readonly Selecting[] => [
    ...manifests.filter(isSchemaConfig).map(({ spec }) => ({ ...spec.integrations, of: spec })),
    ...manifests.filter(isPolicy).map(({ spec }) => ({ ...spec.when?.integration, of: spec })),
    ...manifests.filter(isPolicy).flatMap(({ spec }) => (spec.exemptions ?? []).map((of) => ({ names: of.integration, of }))),
    ...(columnLabels?.columns ?? []).map(({ integration, origin: _, describedBy: __, ...of }) => ({ names: integration, of })),
  ];
  const { changed, all } = inBoth(selectorsIn(base), selectorsIn(head));
  const textsOf = (of: readonly Selecting[]) => of.flatMap(({ names }) => patternTexts(names));
  const { names, isCut } = namesLike({ changed: textsOf(changed), all: textsOf(all) }, mostNames);
  const labelsOf = (of: readonly Selecting[]) => of.flatMap(({ labels }) => (labels === undefined ? [] : [labels]));
  const both = [...labelsOf(changed), ...labelsOf(all)];
  const sets = [{}, ...both, ...labelsOf(changed).flatMap((one) => both.map((other) => ({ ...other, ...one })))];
  const labels = [...byText(sets).values()];
  const made = labels.slice(0, mostLabels).flatMap((of) => names.map((name) => ({ names: [name], labels: of })));
  if (isCut || labels.length > mostLabels) onCut();
  return new Map([...made.map((one, index) => [`later ${index}`, one] as const), ...(isKnown ? [] : namedIntegrations([base, head]))]);
}

/** What selects integrations, and for what. */
interface Selecting {
  readonly of: object;
  readonly names?: Patterns | undefined;
  readonly labels?: IntegrationNames["labels"] | undefined;
}

/** Integrations that manifests declare or refer to, for a review without the account. */
const namedIntegrations = (sides: readonly Side[]): readonly (readonly [id: string, names: IntegrationNames])[] =>
  sides.flatMap(({ manifests }) => [
    ...manifests.filter(isSchemaConfig).flatMap(({ spec: { integration } }) => {
      const id = typeof integration === "string" ? integration : integration?.id;
      return id === undefined ? [] : [[id, { names: [id], labels: {} }] as const];
    }),
    ...manifests.filter(isIntegration).map(({ name, labels }) => [name, { names: [name], labels }] as const),
  ]);
