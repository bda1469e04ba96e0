import { canonicalJson, type JsonValue } from "../../base/model/json/json.ts";
import type { LiveSchemas } from "../../base/model/live.ts";
import { getOrAdd, groupBy, once } from "../../base/model/maps.ts";
import type { NodePath } from "../../base/model/nodes.ts";
import { levelNames, nodesAt } from "../../base/model/schema-tree.ts";
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
import type { Draft } from "./entry.ts";
import { madeUpName } from "./later-names.ts";
import { attributesOf, laterIntegrations, laterTree, policiesOf, rulesOf, type Side, type Sides } from "./later-tree.ts";

// What manifests give up of schemas, tables, columns and integrations that come later. Both sides are asked about the same
// made-up ones, whose names come from the patterns and literals of both. The text of rules is not compared.

/** What both sides say about schemas: if it is equal, nothing is lost. */
const textOf = ({ manifests }: Side): string =>
  canonicalJson(
    [isSchemaConfig, isRuleSet, isPolicy, isIntegration].flatMap((isKind) =>
      manifests.filter(isKind).map(({ address, labels, spec }) => [address, labels, spec as JsonValue]),
    ),
  );

/** What kept something that comes later at the base, and does not any more. */
interface LaterLoss extends LostNode {
  /** Of a made-up integration. */
  readonly integration?: string;
}

/** By what kept them. */
type Losses = ReadonlyMap<string, readonly LostNode[]>;

/** The most columns that are asked of integrations whose rules differ, those of the account and made-up ones each, times the patterns that each is compared with. */
const mostComparisons = 60_000_000;

/** Asks both sides about what comes later. */
export function askLater(sides: Sides, accounts: { readonly before: Account; readonly now: Account }, areLabelsChanged: boolean) {
  const isChanged = areLabelsChanged || textOf(sides.base) !== textOf(sides.head);
  let isCut = false;
  const onCut = (): void => {
    isCut = true;
  };
  const rules = once(() => rulesOf(sides));
  const trees = once(() => attributesOf(rules(), onCut).map((attributes) => laterTree(sides, rules(), { attributes, onCut })));
  const made = once(() => {
    const isKnown = accounts.now.list(list).items.length > 0;
    const integrations = isChanged ? laterIntegrations(sides, { isKnown, onCut }) : new Map<string, IntegrationNames>();
    return { integrations, before: withIntegrations(accounts.before, integrations), now: withIntegrations(accounts.now, integrations) };
  });
  const [real, later] = [once(() => unitsOf(accounts)), once(() => unitsOf(made()))];
  // Integrations with the same rules lose the same.
  const known = new Map<object, Map<object | undefined, Losses>>();
  let comparisons = 0;
  const lossesOf = (change: LostChange): Losses =>
    getOrAdd(
      getOrAdd(known, change.before.rules.root, () => new Map<object | undefined, Losses>()),
      change.now?.rules.root,
      () => {
        if (!areOther(change, areLabelsChanged)) return new Map();
        const nodes = trees().flatMap((all) => {
          const tree = withoutAlike(change, all);
          comparisons += columnsIn(tree) * rules().all.length;
          if (comparisons <= mostComparisons) return lostNodes(change, tree);
          onCut();
          return [];
        });
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
      const live = integrations.size === 0 ? {} : laterTree(sides, policiesOf(sides), { onCut });
      for (const [id, integration] of integrations)
        yield { integration, was: integration, live, planned: new Map(), labels: { before: scopes.before?.(id), now: scopes.now?.(id) } };
    },
    /** What `shown` names already is left out, and what a lost label says. */
    drafts(shown: readonly Draft[], isLostLabel: (label: string) => boolean): readonly Draft[] {
      const { integrations } = made();
      // Integrations of the account do not use up what is asked about others.
      comparisons = 0;
      const sizeOf = (id: string): number => later().before.get(id)?.manifests.length ?? 0;
      // What other SchemaConfigs keep hides less with few of them.
      for (const [id, { names }] of [...integrations].sort(([a], [b]) => sizeOf(a) - sizeOf(b)))
        add(id, later(), () => false, { integration: names[0] ?? "" });
      const isShown = ({ cause: { rule, place, label } }: LaterLoss): boolean =>
        (label !== undefined && isLostLabel(label.name)) ||
        shown.some((one) => canonicalJson(one.place ?? null) === canonicalJson(place)) ||
        [...modes.values()].some(({ message }) => message.startsWith(`${rule}: `));
      return [...(isCut ? [incomplete] : []), ...modes.values(), ...[...lost.values()].filter((one) => !isShown(one)).map(laterDraft)];
    },
  };
}

/** The number of columns, and of tables without any. */
const columnsIn = (tree: LiveSchemas): number =>
  Object.values(tree)
    .flatMap(({ tables }) => Object.values(tables))
    .reduce((sum, { columns = {} }) => sum + 1 + Object.keys(columns).length, 0);

const incomplete: Draft = {
  code: "unknown",
  subject: "later columns",
  message:
    "There are too many patterns to ask about every later column that they match, so what is not hashed or switched off any more may be missing here. Read the rules, labels and policies that this pull request changes.",
  at: "head",
};

/** Whether the SchemaConfigs of both sides are not the same, or not in the same order. */
function areOther({ before, now }: LostChange, areLabelsChanged: boolean): boolean {
  const [was, is] = [layersOf(before), now === undefined ? [] : layersOf(now)];
  return canonicalJson(was) !== canonicalJson(is) || (areLabelsChanged && was.some((layer) => layer.includes('"label":')));
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
  const isTold = (one: string | undefined): one is string => one !== undefined && one !== madeUpName;
  const told = above.filter(isTold).reverse();
  const where = told.length === 0 ? "" : ` in ${visible(nodeText(told))}`;
  const of = isTold(integration) ? ` of an integration such as ${visible(integration)}` : "";
  return `a later ${levelNames[above.length] ?? "column"}${isTold(name) ? ` such as ${visible(name)}` : ""}${where}${of}`;
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
