import { canonicalJson } from "../../base/model/json/json.ts";
import { fromPointer, type Pointer } from "../../base/model/json/pointer.ts";
import type { LiveSchemas } from "../../base/model/live.ts";
import type { Manifest, PolicyExemption, PolicySpec } from "../../base/model/manifest.ts";
import { getOrAdd } from "../../base/model/maps.ts";
import { type NodePath, nodePath, nodePointer } from "../../base/model/nodes.ts";
import { placeText } from "../../base/model/problem.ts";
import { visible } from "../../base/text/control-characters.ts";
import { counted } from "../../base/text/counts.ts";
import { capitalized, enumerate, ruleText } from "../../base/text/describe.ts";
import { nodeText } from "../../base/text/paths.ts";
import { severities } from "../../base/text/signs.ts";
import type { CompiledPolicy, Violated } from "../../columns/policies/index.ts";
import { compilePolicy, isValidOn, policyQuestion } from "../../columns/policies/index.ts";
import type { Account, IntegrationNames, LabelScope, LostProtection, Pair, Unit } from "../../kinds/index.ts";
import { isPolicy, namesMatcher, scan } from "../../kinds/index.ts";
import type { Reviewed } from "../origin.ts";
import type { Draft, Review } from "./entry.ts";
import type { LabelTallies, Loss, LostLabels } from "./labels.ts";
import { laterText } from "./later.ts";
import { type NewExemption, type PolicyPair, weakerText } from "./manifests.ts";

// What the account shows of what the manifests give up. The trees are those that the run reads anyway, one at a time.

/** An integration whose tree is in memory. */
export interface ReviewedTree {
  readonly integration: IntegrationNames;
  /** What the manifests of the base call it. */
  readonly was: IntegrationNames;
  readonly live: LiveSchemas;
  /** The values that the plan changes. */
  readonly planned: ReadonlyMap<Pointer, boolean>;
  readonly labels: { readonly before: LabelScope | undefined; readonly now: LabelScope | undefined };
}

/** The number of columns, and the findings that are hidden. */
interface Tally {
  columns: number;
  findings: number;
}
const newTally = (): Tally => ({ columns: 0, findings: 0 });

/** Collects what policies of the base would refuse after apply and those of now do not. */
export function policyTallies(pairs: readonly PolicyPair[], { head, today }: Review, labels: LabelTallies) {
  const before = pairs.map((pair) => ({ pair, policy: compilePolicy(pair.before) }));
  const now = head.manifests.flatMap((manifest) => (isPolicyWith(manifest) ? [compilePolicy(manifest)] : []));
  // A policy that checks the same, with the same exemptions and labels, gives up nothing.
  const isAsked = ({ pair: { isChanged, before: was, now: is }, policy }: (typeof before)[number]): boolean =>
    isChanged ||
    (policy.labels !== undefined && labels.areChanged) ||
    canonicalJson(was.spec.exemptions ?? []) !== canonicalJson(is?.spec.exemptions ?? []);
  const asked = new Set(before.filter(isAsked));
  const tallies = new Map<PolicyPair, Tally>();
  const exempt = new Map<PolicyExemption, Tally>();
  const later = new Map<PolicyPair, string>();
  const known = new Set<string>();
  const exemptIn = [...before, ...now.map((policy) => ({ policy }))].flatMap(({ policy: { manifest } }) =>
    (manifest.spec.exemptions ?? []).map(({ integration = "*" }) => namesMatcher(integration)),
  );
  /** Equal for integrations that policies and exemptions do not tell apart. */
  const selection = (integration: IntegrationNames): readonly boolean[] => [
    ...now.map(({ selects }) => selects(integration)),
    ...exemptIn.map((matches) => matches(integration.names)),
  ];
  /** The nodes that a policy of the base checks, and whether it finds something there; and those that policies of now check. */
  const compare = ({ pair, policy }: (typeof before)[number], tree: ReviewedTree, counts?: typeof exempt) => {
    const covered = coveredBy(policy, { ...tree, integration: tree.was }, { labels: tree.labels.before, today });
    const still = new Set<Pointer>();
    if (covered.size === 0 && counts === undefined) return { covered, still };
    for (const other of now)
      if (isAsStrict(other.manifest.spec, pair.before.spec) && other.selects(tree.integration)) {
        const labelsNow = tree.labels.now ?? (counts && tree.labels.before);
        const found = coveredBy(other, tree, { labels: labelsNow, today, exempt: counts, isCounted: other.manifest === pair.now });
        // What an exemption lets pass is counted there.
        for (const path of found.keys()) still.add(path);
      }
    return { covered, still };
  };
  return {
    tallies,
    exempt,
    /** By policy: an example of what it would not check any more. */
    later,
    /** A made-up integration. */
    addLater(tree: ReviewedTree): void {
      const { integration, was, labels: scopes } = tree;
      for (const one of asked) {
        const { pair, policy } = one;
        const key = canonicalJson([pair.before.address, scopes.before?.id ?? null, scopes.now?.id ?? null, selection(integration)]);
        if (later.has(pair) || known.has(key) || !policy.selects(was)) continue;
        // Its columns of today say so.
        if (!pair.isChanged && policy.labels?.some(labels.lost) === true) continue;
        known.add(key);
        const { covered, still } = compare(one, tree);
        const path = [...covered.keys()].find((node) => !still.has(node));
        if (path !== undefined) later.set(pair, laterText(nodeOf(path), integration.names[0]));
      }
    },
    add(tree: ReviewedTree, lost: LostLabels): void {
      const isRenamed =
        canonicalJson([tree.was.names, tree.was.labels]) !== canonicalJson([tree.integration.names, tree.integration.labels]);
      for (const one of isRenamed ? before : asked) {
        const { pair, policy } = one;
        if (!policy.selects(tree.was)) continue;
        const { covered, still } = compare(one, tree, exempt);
        if (covered.size === 0) continue;
        const tally = getOrAdd(tallies, pair, newTally);
        for (const [path, isFinding] of covered) {
          if (still.has(path)) continue;
          const label = pair.now && policy.labels?.find((name) => lost.get(path)?.has(name));
          if (label !== undefined)
            labels.loses(label, {
              by: pair.before.address,
              columns: 1,
              text: (them) => `still checks ${them} in this plan, and not after the merge`,
            });
          else {
            tally.columns++;
            if (isFinding) tally.findings++;
          }
        }
      }
    },
  };
}

const nodeOf = (pointer: Pointer): NodePath => {
  const [, schema = "", , table, , column] = fromPointer(pointer);
  return nodePath(schema, table, column);
};

const isPolicyWith = (manifest: Manifest): manifest is Manifest<PolicySpec> => isPolicy(manifest) && manifest.spec.require !== undefined;

const isAsStrict = (one: PolicySpec, other: PolicySpec): boolean =>
  severities.indexOf(one.severity) <= severities.indexOf(other.severity) &&
  (["enabled", "hashed"] as const).every((key) => other.require?.[key] === undefined || one.require?.[key] === other.require[key]);

interface CoverOptions {
  readonly labels: LabelScope | undefined;
  readonly today: string;
  readonly exempt?: Map<PolicyExemption, Tally> | undefined;
  readonly isCounted?: boolean;
}

/** The nodes that the policy checks, and whether it finds something there after apply. What is exempt is left out. */
function coveredBy(
  policy: CompiledPolicy,
  { integration, live, planned }: ReviewedTree,
  { labels, today, exempt, isCounted = false }: CoverOptions,
): ReadonlyMap<Pointer, boolean> {
  const { require = {} } = policy.manifest.spec;
  const covered = new Map<Pointer, boolean>();
  const add = ({ path, key, next }: Violated): void => {
    if (next === undefined) return;
    const pointer = nodePointer(path, key);
    const node = path.filter((name) => name !== undefined);
    const own = key === "hashed" ? hashedAt(live, path) : undefined;
    const actual = planned.get(pointer) ?? own;
    const isFinding = key === "enabled" || actual !== require[key];
    const exemption = policy.exemptions(integration.names, node).find((one) => isValidOn(one, today));
    if (exemption === undefined || isCounted) covered.set(nodePointer(path), isFinding || covered.get(nodePointer(path)) === true);
    if (exemption !== undefined && isCounted && exempt !== undefined) {
      const tally = getOrAdd(exempt, exemption, newTally);
      tally.columns++;
      if (isFinding) tally.findings++;
    }
  };
  scan(live, [policyQuestion(policy, { isLiteral: false, onViolation: add })], {
    labels,
    // Every value that is required is assumed to be the other one, so that all nodes that the policy checks are found.
    next: (path, key, now) => {
      const after = planned.get(nodePointer(path, key)) ?? now;
      const isChecked = path.length - 1 === policy.nodes.depth && require[key] !== undefined && key !== "enabled";
      return isChecked ? !require[key] : after;
    },
  });
  return covered;
}

const hashedAt = (live: LiveSchemas, [schema, table = "", column = ""]: readonly [string, string?, string?]): boolean | undefined =>
  live[schema]?.tables[table]?.columns?.[column]?.hashed;

export function policyDrafts(
  pairs: readonly PolicyPair[],
  { tallies, later }: Pick<ReturnType<typeof policyTallies>, "tallies" | "later">,
): readonly Draft[] {
  return pairs.flatMap((pair): readonly Draft[] => {
    const { before, now, isChanged } = pair;
    const example = later.get(pair);
    const ofLater = example === undefined ? "" : ` ${capitalized(example)} would not be checked by it any more.`;
    const { columns, findings } = tallies.get(pair) ?? newTally();
    const place = { ...before.place, pointer: "" };
    const what =
      columns === 0
        ? ""
        : ` ${counted(columns, "column")} that it checked ${columns === 1 ? "is" : "are"} checked by no policy of this severity any more.`;
    const hidden = findings === 0 ? "" : ` The policy at the base would find ${counted(findings, "violation")} after apply.`;
    if (now === undefined)
      return [{ code: "policy-removed", subject: before.address, message: `It is gone.${what}${hidden}`, at: "base", place, columns }];
    const weaker = weakerText(before.spec, now.spec);
    if (weaker === "" && columns === 0 && example === undefined) return [];
    const message = `${weaker}${what}${hidden}${weaker === "" && columns === 0 ? ofLater : ""}`.trim();
    if (!isChanged && columns === 0)
      return [{ code: "protection-lost-later", subject: now.address, message, at: "head", place: { ...now.place, pointer: "" } }];
    return [{ code: "policy-weakened", subject: now.address, message, at: "head", place: { ...now.place, pointer: "" }, columns }];
  });
}

export const exemptionDrafts = (added: readonly NewExemption[], exempt: ReadonlyMap<PolicyExemption, Tally>): readonly Draft[] =>
  added.map(({ exemption, draft }) => {
    const { columns, findings } = exempt.get(exemption) ?? newTally();
    const now = findings === 0 ? "It covers no finding now." : `It covers ${counted(findings, "finding")} now.`;
    return { ...draft, message: `${draft.message} ${now}`, columns };
  });

interface ProtectionInput {
  readonly base: Reviewed;
  readonly ignoredNow: Account["ignored"];
  readonly labels: LabelTallies;
}

/** Collects what the manifests of the base kept protected and those of now do not, although nothing is sent for it. */
export function protectionTallies({ base, head }: Pick<Review, "base" | "head">, { base: view, ignoredNow, labels }: ProtectionInput) {
  const lost = new Map<string, LostProtection>();
  const [ignoreBefore, ignoreNow] = [base.settings?.ignore ?? [], head.settings.ignore].map((all) => canonicalJson(all));
  return {
    add(
      { kind, unit: before }: Pair,
      now: Unit | undefined,
      { live, planned, lost: lostLabels }: { readonly live: unknown; readonly planned: ReviewedTree["planned"]; readonly lost: LostLabels },
    ): void {
      const { schemas } = kind;
      if (schemas === undefined || live === undefined) return;
      if (now !== undefined && !labels.areChanged && ignoreBefore === ignoreNow && schemas.settings(before) === schemas.settings(now))
        return;
      const { address } = now ?? before;
      const found = schemas.lost({ before, now }, live, {
        ignored: {
          before: (path, key) => view.account.ignored(before.address, nodePointer(path, key)),
          now: (path, key) => ignoredNow(address, nodePointer(path, key)),
        },
        isSent: (path, key) => planned.has(nodePointer(path, key)),
        hasLost: (path, label) => lostLabels.get(nodePointer(path))?.has(label) === true,
      });
      for (const one of found) {
        if (one.label !== undefined) {
          if (one.columns > 0) labels.loses(one.label, protectionLoss(one, view));
          continue;
        }
        const id = canonicalJson([
          one.key,
          one.cause.rule ?? "",
          one.cause.place.file,
          one.cause.rule === undefined ? "" : one.cause.place.pointer,
        ]);
        const known = lost.get(id);
        const examples = known === undefined || known.examples.length === 0 ? one.examples : known.examples;
        lost.set(id, known === undefined ? one : { ...known, columns: known.columns + one.columns, examples });
      }
    },
    /** One for each rule; none if the plan shows what it no longer keeps. */
    drafts: (): readonly Draft[] => [...lost.values()].flatMap(protectionDrafts),
  };
}

const protectionDrafts = ({ key, cause: { rule, place }, columns, examples }: LostProtection): readonly Draft[] =>
  columns === 0
    ? []
    : [
        {
          code: "protection-lost",
          subject: rule === undefined ? place.file : visible(ruleText(rule, rule)),
          message: `${lostText(columns, examples)} ${columns === 1 ? "is" : "are"} not kept ${key === "hashed" ? "hashed" : "switched off"} by it any more. Nothing is sent now, but nothing protects ${columns === 1 ? "it" : "them"} from a change.`,
          at: "base",
          place,
          columns,
        },
      ];

/** "1164 columns, such as public.users.email," */
function lostText(columns: number, examples: readonly NodePath[]): string {
  const names = examples.map(nodeText);
  return columns === 1 && names.length === 1 ? (names[0] ?? "") : `${counted(columns, "column")}, such as ${enumerate(names, "and")},`;
}

const protectionLoss = ({ key, cause: { rule, place }, columns }: LostProtection, { locate }: Reviewed): Loss => {
  const { file, line } = locate(place);
  const where = placeText({ file, line });
  return {
    by: rule === undefined ? where : `${capitalized(visible(ruleText(rule, rule)))}, ${where},`,
    columns,
    text: (them) => `does not keep ${them} ${key === "hashed" ? "hashed" : "switched off"} any more, although nothing is sent now`,
  };
};
