import type { Pointer } from "../base/model/json/pointer.ts";
import {
  type IntegrationSelector,
  type Manifest,
  type PolicySpec,
  problemIn,
  type SchemaConfigSpec,
  type SchemaRule,
} from "../base/model/manifest.ts";
import { addAll } from "../base/model/maps.ts";
import { isError, type Problem, type ProblemText } from "../base/model/problem.ts";
import { andMore } from "../base/text/lists.ts";
import { didYouMean } from "../base/text/suggest.ts";
import type { Account } from "./kind.ts";
import { integrations } from "./lists.ts";
import { isIntegration, isPolicy, isRuleSet, isSchemaConfig, isTag, kindNames } from "./manifests.ts";
import { nameMatcher, namePatterns } from "./patterns/names.ts";
import { type IntegrationNames, integrationMatcher, unknownIntegration } from "./select.ts";

// Names that people write and nothing has. A reference to one manifest is in `references` of its kind, a label of columns in
// label-references.ts, a schema, table or column in schema-config/missing-names.ts.

/** What a target has of a manifest that it does not have: only what names in others can refer to. */
interface ElsewhereNames {
  readonly kind: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, unknown>>;
  /** The RuleSets that it uses. */
  readonly uses: readonly string[];
}

/** A selector of integrations, and where it is written. */
interface WrittenSelector {
  readonly manifest: Manifest;
  readonly pointer: Pointer;
  readonly selector: IntegrationSelector;
  /** What an unknown name is. */
  readonly missing?: SchemaConfigSpec["missing"];
  /** Of an exemption: it may be left over from an integration that earlier runs knew. */
  readonly isExemption?: true;
}

/** Every place where a manifest selects integrations. */
function writtenSelectors(manifest: Manifest): readonly WrittenSelector[] {
  const at = (pointer: Pointer, selector: IntegrationSelector | undefined, missing?: SchemaConfigSpec["missing"]) =>
    selector === undefined ? [] : [{ manifest, pointer, selector, ...(missing === undefined ? {} : { missing }) }];
  if (isSchemaConfig(manifest)) return at("/spec/integrations", manifest.spec.integrations, manifest.spec.missing);
  if (isPolicy(manifest)) return [...at("/spec/when/integration", manifest.spec.when?.integration), ...exempted(manifest)];
  if (!isTag(manifest)) return [];
  return (manifest.spec.resources ?? []).flatMap((target, index) =>
    "integrations" in target ? at(`/spec/resources/${index}/integrations`, target.integrations) : [],
  );
}

const exempted = (policy: Manifest<PolicySpec>): readonly WrittenSelector[] =>
  (policy.spec.exemptions ?? []).flatMap(({ integration }, index) =>
    integration === undefined
      ? []
      : [{ manifest: policy, pointer: `/spec/exemptions/${index}/integration`, selector: { names: [integration] }, isExemption: true }],
  );

/** Whether it names integrations that may only be in the account. */
export const selectsByName = (manifest: Manifest): boolean =>
  writtenSelectors(manifest).some(({ selector }) => selector.names !== undefined);

/** What is known without the account: labels of selectors that no manifest has, RuleSets that nobody uses, and rules with one id. */
export const projectNameProblems = (manifests: readonly Manifest[], elsewhere: readonly ElsewhereNames[]): readonly Problem[] => [
  ...labelProblems(manifests, elsewhere),
  ...unusedRuleSets(manifests, elsewhere),
  ...manifests.flatMap(doubledIds),
];

/** Labels are only in manifests. */
function labelProblems(manifests: readonly Manifest[], elsewhere: readonly ElsewhereNames[]): readonly Problem[] {
  const declared = manifests.filter(isIntegration);
  const pairsOf = ({ labels }: Pick<ElsewhereNames, "labels">): readonly string[] => Object.entries(labels).map(pairText);
  const others = elsewhere.filter(({ kind }) => kind === kindNames.integration);
  const known = new Set([...declared, ...others].flatMap(pairsOf));
  return manifests.flatMap(writtenSelectors).flatMap(({ manifest, pointer, selector: { labels = {} } }): readonly Problem[] => {
    const pairs = Object.entries(labels);
    const unknown = pairs
      .filter((pair) => !known.has(pairText(pair)))
      .map((pair) => {
        const message = `No Integration manifest has the label ${pairText(pair)}, so the selector has no effect.${didYouMean(pairText(pair), known)} Correct the label, or add it to metadata.labels of the integrations.`;
        return problemIn(manifest, `${pointer}/labels/${pair[0]}`, { code: "E_UNKNOWN_REFERENCE", message });
      });
    const matches = integrationMatcher({ labels });
    if (unknown.length > 0 || pairs.length === 0 || declared.some((one) => matches({ names: [one.name], labels: one.labels })))
      return unknown;
    const message = `No Integration manifest of this target has ${pairs.length === 1 ? "the label" : "all the labels"} ${pairs.map(pairText).join(", ")}, so the selector has no effect here.`;
    return [problemIn(manifest, pointer, { code: "W_NO_MATCH", severity: "warning", message })];
  });
}

const pairText = ([key, value]: readonly [string, unknown]): string => `${key}: ${value}`;

const rulesOf = (manifest: Manifest): readonly SchemaRule[] =>
  isSchemaConfig(manifest) || isRuleSet(manifest) ? (manifest.spec.rules ?? []) : [];

function unusedRuleSets(manifests: readonly Manifest[], elsewhere: readonly ElsewhereNames[]): readonly Problem[] {
  const uses = (manifest: Manifest): readonly string[] => rulesOf(manifest).flatMap((rule) => ("use" in rule ? rule.use : []));
  const sets = new Map(manifests.filter(isRuleSet).map((one) => [one.name, one]));
  const used = new Set<string>();
  const todo = [...manifests.filter(isSchemaConfig).flatMap(uses), ...elsewhere.flatMap((one) => one.uses)];
  for (let name = todo.pop(); name !== undefined; name = todo.pop()) {
    const set = used.has(name) ? undefined : sets.get(name);
    used.add(name);
    if (set !== undefined) addAll(todo, uses(set));
  }
  return [...sets.values()]
    .filter(({ name }) => !used.has(name))
    .map((set) => {
      const message = `No SchemaConfig uses ${set.address}, so its rules have no effect. Add { use: ${set.name} } to the rules of a SchemaConfig, or remove the RuleSet.`;
      return problemIn(set, "/metadata/name", { code: "W_UNUSED", severity: "warning", message });
    });
}

function doubledIds(manifest: Manifest): readonly Problem[] {
  const known = new Map<string, number>();
  return rulesOf(manifest).flatMap((rule, index): readonly Problem[] => {
    const id = "use" in rule ? undefined : rule.id;
    if (id === undefined) return [];
    const first = known.get(id);
    if (first === undefined) known.set(id, index);
    if (first === undefined) return [];
    const message = `Rule ${first + 1} of ${manifest.address} has the id ${JSON.stringify(id)}, too, so plans cannot tell which of the two causes a change. Give each rule an id of its own.`;
    return [problemIn(manifest, `/spec/rules/${index}/id`, { code: "W_DUPLICATE_ID", severity: "warning", message })];
  });
}

/** What names can match: each manifest of an integration with its live object, and each other live integration. */
function everyIntegration({ manifests, naming, list, identities }: Account): readonly IntegrationNames[] {
  const { items, byId } = list(integrations);
  const declared = manifests.filter(isIntegration).map(({ address, name, labels }) => {
    const identity = identities.get(address);
    const live = identity?.state === "found" ? byId.get(identity.id)?.name : undefined;
    return { names: live === undefined ? [name] : [name, live], labels };
  });
  const others = items
    .filter(({ id }) => !naming.manifests.has(id))
    .map(({ id, name }) => ({ names: [name === "" ? id : name], labels: {} }));
  return [...declared, ...others];
}

/** Names and globs of selectors that no integration has. `others`: names of integrations that this target or this read does not have. */
export function selectorProblems(manifests: readonly Manifest[], account: Account, others: readonly string[]): readonly Problem[] {
  const selectors = manifests.flatMap(writtenSelectors).filter(({ selector }) => selector.names !== undefined);
  if (selectors.length === 0) return [];
  const all = everyIntegration(account);
  const names = [...new Set([...all.flatMap((one) => one.names), ...others])];
  return selectors.flatMap((written): readonly Problem[] => {
    // The plan has a finding for each of those.
    const renamed = account.covered.get(written.manifest.address)?.values() ?? [];
    const earlier = written.isExemption === true ? [...account.kept.values()].flatMap(({ identity: [name] }) => name ?? []) : [];
    const known = new Set([...names, ...renamed, ...earlier]);
    const found = (written.selector.names ?? []).flatMap((pattern, index): readonly Problem[] => {
      const text = pattern.replace(/^!/u, "");
      if (known.has(text) || names.some(nameMatcher([text]))) return [];
      const problem = unknownName(text, names, written);
      const pointer = written.isExemption === true ? written.pointer : `${written.pointer}/names/${index}`;
      return problem === undefined ? [] : [problemIn(written.manifest, pointer, problem)];
    });
    // One that matches nothing has a warning of its own.
    if (written.isExemption === true) return found.filter(isError);
    if (found.length > 0 || written.missing === "ignore" || all.some(integrationMatcher(written.selector))) return found;
    if ((written.selector.names ?? []).some((name) => known.has(name) && !names.includes(name))) return [];
    const message = `${written.manifest.address} selects no integration here. Names match manifests and live integrations, labels match manifests.`;
    return [problemIn(written.manifest, written.pointer, { code: "W_NO_MATCH", severity: "warning", message })];
  });
}

function unknownName(text: string, names: readonly string[], { missing }: WrittenSelector): ProblemText | undefined {
  if (namePatterns(text).positive[0]?.literal === undefined) {
    const others = names.filter(nameMatcher([text], { ignoreCase: true }));
    const advice = others.length === 0 ? "" : ` In another case it would match ${andMore(others, "name", { shown: 3 })}.`;
    const message = `No integration matches ${JSON.stringify(text)}.${advice} Correct or remove the pattern.`;
    return { code: "W_NO_MATCH", severity: "warning", message };
  }
  if (missing === "ignore") return undefined;
  const message = `${unknownIntegration(text, names)} Correct or remove the name.`;
  return missing === "warn" ? { code: "W_NO_MATCH", severity: "warning", message } : { code: "E_UNKNOWN_REFERENCE", message };
}
