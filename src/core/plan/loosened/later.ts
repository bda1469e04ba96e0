import { canonicalJson, type JsonValue } from "../../base/model/json/json.ts";
import type { LiveSchemas, LiveTable } from "../../base/model/live.ts";
import { getOrAdd, groupBy, once } from "../../base/model/maps.ts";
import type { NodePath } from "../../base/model/nodes.ts";
import { levelNames, nodesAt } from "../../base/model/schema-tree.ts";
import type { Patterns } from "../../base/model/specs.generated.d.ts";
import { visible } from "../../base/text/control-characters.ts";
import { capitalized, ruleText } from "../../base/text/describe.ts";
import { nodeText } from "../../base/text/paths.ts";
import type { Account, IntegrationNames, LostChange, LostNode, SchemaConfigUnit } from "../../kinds/index.ts";
import {
  isIntegration,
  isPolicy,
  isRuleSet,
  isSchemaConfig,
  labelScopes,
  layersOf,
  integrations as list,
  lostNodes,
  schemaUnits,
  withIntegrations,
  withoutAlike,
} from "../../kinds/index.ts";
import type { ReviewedTree } from "./columns.ts";
import type { Draft, Review } from "./entry.ts";
import { namesLike, patternTexts } from "./later-names.ts";

// What manifests give up of schemas, tables, columns and integrations that come later. Both sides are asked about the same
// made-up ones, whose names come from the patterns and literals of both. The text of rules is not compared.

/** The names that a rule, policy, exemption or label matches. */
interface Match {
  readonly schema?: Patterns | undefined;
  readonly table?: Patterns | undefined;
  readonly column?: Patterns | undefined;
}

type Side = Pick<Review["base"], "manifests" | "columnLabels">;
type Sides = Pick<Review, "base" | "head">;

/** A rule, label, policy or exemption. */
interface Matching {
  readonly match: Match;
}

const rulesIn = ({ manifests }: Side) =>
  manifests.flatMap((one) =>
    isSchemaConfig(one) || isRuleSet(one) ? (one.spec.rules ?? []).flatMap((rule) => ("match" in rule ? [rule] : [])) : [],
  );

const labelsIn = ({ columnLabels }: Side): readonly Matching[] =>
  (columnLabels?.patterns ?? []).map(({ label, match }) => ({ label, match }));

/** Rules, and the labels that they match by. */
const matchingRules = (side: Side): readonly Matching[] => [...rulesIn(side), ...labelsIn(side)];

/** Policies, their exemptions and labels. */
const matchingPolicies = (side: Side): readonly Matching[] => [
  ...side.manifests
    .filter(isPolicy)
    .flatMap(({ spec }): readonly Matching[] => [
      { ...spec, match: { schema: spec.when?.schema?.name, table: spec.when?.table?.name, column: spec.when?.column?.name } },
      ...(spec.exemptions ?? []).map((match) => ({ match })),
    ]),
  ...labelsIn(side),
];

/** Tables that files and literal trees name. */
function namedTables({ base, head }: Sides): readonly NamedTable[] {
  const found = new Map<string, NamedTable>();
  const add = (schema: string, table: string, columns: readonly string[]): void => {
    const known = getOrAdd(found, canonicalJson([schema, table]), () => ({ schema, table, columns: new Set<string>() }));
    for (const column of columns) known.columns.add(column);
  };
  for (const { manifests, columnLabels } of [base, head]) {
    for (const { spec } of manifests.filter(isSchemaConfig))
      for (const [schema, { tables = {} }] of Object.entries(spec.schemas ?? {}))
        for (const [table, { columns = {} }] of Object.entries(tables)) add(schema, table, Object.keys(columns));
    for (const { schema, table, column } of columnLabels?.columns ?? []) add(schema, table, column === undefined ? [] : [column]);
  }
  return [...found.values()];
}

interface NamedTable {
  readonly schema: string;
  readonly table: string;
  readonly columns: Set<string>;
}

/** The most names of each level. `withAll`: named tables that have the names made from patterns, too; the others have their own only. */
interface Limits extends Readonly<Record<keyof Match, number>> {
  readonly withAll: number;
}
const ofRules: Limits = { schema: 8, table: 24, column: 240, withAll: 24 };
/** Policies are asked about every table. */
const ofPolicies: Limits = { schema: 4, table: 16, column: 200, withAll: 20 };
const mostIntegrations = 24;
const mostLabelSets = 12;
/** The most lists of SchemaConfigs that are asked if they change in the same way. */
const mostAlike = 5;

interface TreeOptions {
  readonly most: Limits;
  /** Whether the columns are primary keys. */
  readonly isKey?: boolean;
}

/** The made-up schemas. */
function laterTree(sides: Sides, matchingIn: (side: Side) => readonly Matching[], { most, isKey = false }: TreeOptions): LiveSchemas {
  const { changed, all: both } = inBoth(matchingIn(sides.base), matchingIn(sides.head));
  const textsAt = (of: readonly Matching[], level: keyof Match) => of.flatMap(({ match }) => patternTexts(match[level]));
  const namesAt = (level: keyof Match) => namesLike({ changed: textsAt(changed, level), all: textsAt(both, level) }, most[level]);
  const columnsOf = (names: Iterable<string>): NonNullable<LiveTable["columns"]> =>
    Object.fromEntries([...names].map((name) => [name, { enabled: true, hashed: false, isPrimaryKey: isKey }]));
  const all = columnsOf(namesAt("column"));
  const tables = namesAt("table").map((table) => [table, { enabled: true, columns: all }] as const);
  const tree = new Map(namesAt("schema").map((schema) => [schema, new Map<string, LiveTable>(tables)]));
  for (const [index, { schema, table, columns }] of namedTables(sides).entries()) {
    const own = index < most.withAll ? { ...all, ...columnsOf(columns) } : columnsOf(columns);
    getOrAdd(tree, schema, () => new Map<string, LiveTable>(tables)).set(table, { enabled: true, columns: own });
  }
  return Object.fromEntries([...tree].map(([schema, of]) => [schema, { enabled: true, tables: Object.fromEntries(of) }]));
}

/** Those of both sides. `changed`: of one side only; what differs depends on them. */
function inBoth<T>(before: readonly T[], now: readonly T[]): { readonly changed: readonly T[]; readonly all: readonly T[] } {
  const byTextOf = (list: readonly T[]) => new Map(list.map((one) => [canonicalJson(one as JsonValue), one])); // parts of manifests are JSON
  const [was, is] = [byTextOf(before), byTextOf(now)];
  const all = new Map([...was, ...is]);
  return { changed: [...all].flatMap(([text, one]) => (was.has(text) === is.has(text) ? [] : [one])), all: [...all.values()] };
}

/** Integrations with the names and labels that selectors, exemptions and files match. */
function laterIntegrations({ base, head }: Sides, isAccountKnown: boolean): ReadonlyMap<string, IntegrationNames> {
  const selectors = (side: Side) =>
    side.manifests.flatMap((one) =>
      isSchemaConfig(one) ? (one.spec.integrations ?? []) : isPolicy(one) ? (one.spec.when?.integration ?? []) : [],
    );
  const namesIn = (side: Side): readonly string[] => [
    ...selectors(side).flatMap(({ names }) => patternTexts(names)),
    ...side.manifests
      .filter(isPolicy)
      .flatMap(({ spec }) => (spec.exemptions ?? []).flatMap(({ integration }) => patternTexts(integration))),
    ...(side.columnLabels?.columns ?? []).flatMap(({ integration }) => patternTexts(integration)),
  ];
  const labels = new Map([base, head].flatMap(selectors).map((one) => [canonicalJson(one.labels ?? {}), one.labels ?? {}]));
  const names = namesLike(inBoth(namesIn(base), namesIn(head)), mostIntegrations);
  const made = [{}, ...[...labels.values()].slice(0, mostLabelSets)].flatMap((of) => names.map((name) => ({ names: [name], labels: of })));
  return new Map([
    ...made.map((one, index) => [`later ${index}`, one] as const),
    ...(isAccountKnown ? [] : namedIntegrations([base, head])),
  ]);
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

/** What both sides say about schemas: if it is equal, nothing is lost. */
const textOf = ({ manifests }: Side): string =>
  canonicalJson(
    manifests.map((one) =>
      isSchemaConfig(one) || isRuleSet(one) || isPolicy(one)
        ? [one.address, one.spec as JsonValue]
        : isIntegration(one)
          ? [one.address, one.labels, one.spec.settings?.name ?? null]
          : [],
    ),
  );

/** What kept something that comes later at the base, and does not any more. */
interface LaterLoss extends LostNode {
  /** Of a made-up integration. */
  readonly integration?: string;
}

/** By what kept them. */
type Losses = ReadonlyMap<string, readonly LostNode[]>;

/** Asks both sides about what comes later. */
export function askLater(sides: Sides, accounts: { readonly before: Account; readonly now: Account }, areLabelsChanged: boolean) {
  const isChanged = areLabelsChanged || textOf(sides.base) !== textOf(sides.head);
  const trees = once(() => {
    const usesKeys = [sides.base, sides.head].flatMap(rulesIn).some(({ match }) => match.where?.isPrimaryKey !== undefined);
    return [false, ...(usesKeys ? [true] : [])].map((isKey) => laterTree(sides, matchingRules, { most: ofRules, isKey }));
  });
  const made = once(() => {
    const isKnown = accounts.now.list(list).items.length > 0;
    const integrations = isChanged ? laterIntegrations(sides, isKnown) : new Map<string, IntegrationNames>();
    return { integrations, before: withIntegrations(accounts.before, integrations), now: withIntegrations(accounts.now, integrations) };
  });
  const [real, later] = [once(() => unitsOf(accounts)), once(() => unitsOf(made()))];
  // Integrations with the same rules lose the same.
  const known = new Map<object, Map<object | undefined, Losses>>();
  const alike = new Map<string, number>();
  const lossesOf = (change: LostChange): Losses =>
    getOrAdd(
      getOrAdd(known, change.before.rules.root, () => new Map<object | undefined, Losses>()),
      change.now?.rules.root,
      () => {
        const changed = changedLayers(change, areLabelsChanged);
        const count = (alike.get(changed) ?? 0) + 1;
        alike.set(changed, count);
        if (changed === "" || count > mostAlike) return new Map();
        const nodes = trees().flatMap((tree) => lostNodes(change, withoutAlike(change, tree)));
        return groupBy(nodes, ({ key, cause: { rule = "", place } }) => `${key} ${rule} ${place.file} ${place.document} ${place.pointer}`);
      },
    );
  const lost = new Map<string, LaterLoss>();
  const modes = new Map<string, Draft>();
  const add = (
    id: string,
    units: ReturnType<typeof unitsOf>,
    isToday: (path: NodePath) => boolean,
    of: Pick<LaterLoss, "integration"> = {},
  ): void => {
    const [before, now] = [units.before.get(id), units.now.get(id)];
    if (before === undefined) return;
    if (now !== undefined) for (const draft of looserModes(before, now)) modes.set(`${draft.subject} ${draft.message}`, draft);
    for (const [cause, nodes] of lossesOf({ before, now })) {
      const node = lost.has(cause) ? undefined : nodes.find(({ path }) => !isToday(path));
      if (node !== undefined) lost.set(cause, { ...node, ...of });
    }
  };
  return {
    /** An integration of the account: what it has today does not come later. */
    add(liveId: string, live: LiveSchemas): void {
      if (isChanged) add(liveId, real(), (path) => nodesAt(live, path)[levelNames[path.length - 1] ?? "column"] !== undefined);
    },
    /** The made-up integrations, with a tree for policies; none if nothing has changed. */
    *integrations(): Iterable<ReviewedTree> {
      const { integrations, ...both } = made();
      const scopes = { before: labelScopes(both.before), now: labelScopes(both.now) };
      const live = integrations.size === 0 ? {} : laterTree(sides, matchingPolicies, { most: ofPolicies });
      for (const [id, integration] of integrations)
        yield { integration, was: integration, live, planned: new Map(), labels: { before: scopes.before?.(id), now: scopes.now?.(id) } };
    },
    /** What `shown` names already is left out, and what a lost label says. */
    drafts(shown: readonly Draft[], isLostLabel: (label: string) => boolean): readonly Draft[] {
      const { integrations } = made();
      // Integrations of the account do not use up what is asked about others.
      alike.clear();
      const sizeOf = (id: string): number => later().before.get(id)?.manifests.length ?? 0;
      // What other SchemaConfigs keep hides less with few of them.
      for (const [id, { names }] of [...integrations].sort(([a], [b]) => sizeOf(a) - sizeOf(b)))
        add(id, later(), () => false, { integration: names[0] ?? "" });
      const isShown = ({ cause: { rule, place, label } }: LaterLoss): boolean =>
        (label !== undefined && isLostLabel(label.name)) ||
        shown.some((one) => canonicalJson(one.place ?? null) === canonicalJson(place)) ||
        [...modes.values()].some(({ message }) => message.startsWith(`${rule}: `));
      return [...modes.values(), ...[...lost.values()].filter((one) => !isShown(one)).map(laterDraft)];
    },
  };
}

/** The SchemaConfigs that are not the same, or not in the same place, on both sides; "" if all are. */
function changedLayers({ before, now }: LostChange, areLabelsChanged: boolean): string {
  const [was, is] = [layersOf(before), now === undefined ? [] : layersOf(now)];
  const only = (one: readonly string[], other: readonly string[]) =>
    one.filter((layer) => !other.includes(layer) || (areLabelsChanged && layer.includes('"label":')));
  const changed = [...only(was, is), ...only(is, was)];
  return (changed.length > 0 ? changed : was.filter((layer, index) => layer !== is[index])).join(" ");
}

const unitsOf = ({ before, now }: { readonly before: Account; readonly now: Account }) => {
  const byId = (account: Account) => new Map(schemaUnits(account).units.map((unit) => [unit.liveId, unit]));
  return { before: byId(before), now: byId(now) };
};

const laterDraft = ({ key, cause: { rule, place }, path, integration }: LaterLoss): Draft => ({
  code: "protection-lost-later",
  subject: rule === undefined ? place.file : visible(ruleText(rule, rule)),
  message: `${capitalized(laterText(path, integration))} would not be ${key === "hashed" ? "hashed" : "switched off"} by it any more.`,
  at: "base",
  place,
});

/** "a later column such as `iban` in `public.orders`" */
export function laterText(path: NodePath, integration: string | undefined): string {
  const [name = "", ...above] = [...path].filter((one) => one !== undefined).reverse();
  const where = above.length === 0 ? "" : ` in ${visible(nodeText([...above].reverse()))}`;
  const of = integration === undefined ? "" : ` of an integration such as ${visible(integration)}`;
  return `a later ${levelNames[above.length] ?? "column"} such as ${visible(name)}${where}${of}`;
}

const unmatchedOrder = ["enable", "ignore", "error", "disable"];
const unreviewedOrder = ["", "report", "warn", "error", "disable"];

/** `unmatched` and `unreviewed`, whichever SchemaConfig sets them. */
function looserModes({ rules: before, manifest: config }: SchemaConfigUnit, { rules: now }: SchemaConfigUnit): readonly Draft[] {
  const modes = [
    ...[0, 1].map((depth) => ({
      was: before.program.unmatched[depth],
      is: now.program.unmatched[depth],
      none: "ignore",
      order: unmatchedOrder,
      name: depth === 0 ? "unmatched.schemas" : "unmatched.tables",
    })),
    { was: before.program.unreviewed, is: now.program.unreviewed, none: "", order: unreviewedOrder, name: "unreviewed" },
  ];
  return modes.flatMap(({ was, is, none, order, name }): readonly Draft[] => {
    const [modeBefore, modeNow] = [was?.mode ?? none, is?.mode ?? none];
    if (order.indexOf(modeNow) >= order.indexOf(modeBefore)) return [];
    return [
      {
        code: "managed-less",
        subject: (is ?? was)?.config.address ?? config.address,
        message: `${name}: ${modeBefore} at the base, ${modeNow === "" ? "not set" : modeNow} now.`,
        ...(is === undefined ? { at: "base" as const, place: was?.cause.place } : { at: "head" as const, place: is.cause.place }),
      },
    ];
  });
}
