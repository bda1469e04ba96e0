import { type Address, byText, integrationOfSchemas } from "../../base/model/address.ts";
import { blockedStep, waitingStep } from "../../base/model/draft-steps.ts";
import type { JsonObject } from "../../base/model/json/json.ts";
import { type Manifest, problemIn, type SchemaConfigSpec } from "../../base/model/manifest.ts";
import { addAll, getOrAdd, groupBy } from "../../base/model/maps.ts";
import type { DraftStep } from "../../base/model/plan.ts";
import type { Problem } from "../../base/model/problem.ts";
import { enumerate } from "../../base/text/describe.ts";
import type { Account, Unit, Units } from "../kind.ts";
import { isSchemaConfig } from "../manifests.ts";
import { labelScopes, type Selected, schemasOf, selectedBy } from "../select.ts";
import { type CompiledConfig, type Config, compileConfig, makeRuleProgram, uniqueProblems } from "./compiled-config.ts";
import { equalPriorities, type PriorityConflict, priorityProblems } from "./priorities.ts";
import { newRuleCache, type RuleCache, withLabels } from "./rules/rule-cache.ts";
import { ruleSetsIn } from "./rules/rule-sets.ts";

/** All SchemaConfigs that select one integration, compared as one. */
export interface SchemaConfigUnit extends Unit {
  /** The one with the highest priority. */
  readonly manifest: Manifest<SchemaConfigSpec>;
  /** Their rules; they share their cache with all integrations with the same SchemaConfigs. */
  readonly rules: RuleCache;
  readonly liveId: string;
  /** The integration's name in addresses. */
  readonly name: string;
  /** The manifest of the integration, if it has one, then the SchemaConfigs, the one with the highest priority last. */
  readonly manifests: readonly Address[];
  /** How many integrations each SchemaConfig of the run selects. */
  readonly targets: ReadonlyMap<CompiledConfig, number>;
}

/** The units of all SchemaConfigs of the account. */
export const schemaUnits = (account: Account): Units<SchemaConfigUnit> => units(account.manifests.filter(isSchemaConfig), account);

/**
 * One unit per selected integration, with every SchemaConfig that selects it; equal priorities are
 * an error. The integrations of a SchemaConfig with invalid rules are blocked, because its other rules alone could
 * do the opposite of what its author wants.
 */
export function units(configs: readonly Config[], account: Account): Units<SchemaConfigUnit> {
  const problems: Problem[] = [];
  const sets = ruleSetsIn(account.manifests);
  const compiled = configs.map((config) => compileConfig(config, sets, { isDocumented: account.extended === undefined }));
  addAll(problems, uniqueProblems(compiled.flatMap((config) => config.problems)));
  const selections = compiled
    .toSorted(byPriority)
    .map((config) => ({ config, selected: checkedSelection(config.config, account, problems) }));
  const targets = new Map(selections.map(({ config, selected }) => [config, selected.length]));
  const rulesOf = newRules();
  const labels = labelScopes(account);
  const found: SchemaConfigUnit[] = [];
  const steps: DraftStep[] = [];
  const conflicts: PriorityConflict[] = [];
  // Lowest priority first.
  const all = selections.flatMap(({ config, selected }) => selected.map((one) => ({ config, one })));
  for (const group of groupBy(all, ({ one }) => (one.state === "found" ? one.id : `${one.state} ${one.name}`)).values()) {
    const selected = group[0].one;
    const layers = group.map(({ config }) => config);
    const top = layers.at(-1)?.config;
    if (top === undefined) continue;
    const address = schemasOf(selected, account);
    const conflicting = equalPriorities(
      layers.map(({ config }) => config),
      selected.name,
    );
    addAll(conflicts, conflicting);
    const broken = layers.filter(
      ({ config, problems: errors }) => errors.length > 0 || conflicting.some(({ configs: equal }) => equal.includes(config)),
    );
    if (broken.length > 0) {
      const causes = broken.map(({ config }) => config.address);
      const code = conflicting.length > 0 ? "E_CONFLICTING_CONFIGS" : "E_DEPENDENCY";
      steps.push(blockedStep({ address, code, message: `Not compared, because of errors in ${enumerate(causes, "and")}.` }));
      continue;
    }
    if (selected.state === "found") {
      const rules = withLabels(rulesOf(layers), () => labels?.(selected.id));
      const name = integrationOfSchemas(address) ?? "";
      const manifest = account.naming.manifests.get(selected.id);
      const manifests = [...(manifest === undefined ? [] : [manifest.address]), ...layers.map(({ config }) => config.address)];
      found.push({ address, name, manifests, manifest: top, rules, liveId: selected.id, targets });
    } else if (selected.state === "waits")
      steps.push(waitingStep({ verb: "update", address, waitsFor: [selected.on], desired: desiredOf(layers), later: ["PATCH"] }));
    else steps.push(blockedStep({ address, code: selected.code, message: selected.message }));
  }
  addAll(problems, priorityProblems(conflicts));
  return { units: found.sort((a, b) => byText(a.address, b.address)), steps, problems };
}

/** One value for equal lists of SchemaConfigs. */
function newRules(): (layers: readonly CompiledConfig[]) => RuleCache {
  const known = new Map<string, RuleCache>();
  return (layers) => {
    const key = layers.map(({ config }) => config.address).join(" ");
    return getOrAdd(known, key, () => newRuleCache(makeRuleProgram(layers)));
  };
}

const byPriority = (a: CompiledConfig, b: CompiledConfig): number =>
  (a.config.spec.priority ?? 0) - (b.config.spec.priority ?? 0) || byText(a.config.name, b.config.name);

/** The desired state of a unit that waits: what its manifests contain, with the rules of RuleSets in place. */
export function desiredOf(layers: readonly CompiledConfig[]): JsonObject {
  const desired = layers.map(
    ({
      written,
      config: {
        spec: { unmatched, schemas },
      },
    }) => ({
      ...(unmatched === undefined ? {} : { unmatched }),
      ...(written.length === 0 ? {} : { rules: written.map(({ rule }) => rule) }),
      ...(schemas === undefined ? {} : { schemas }),
    }),
  );
  // Specs are JSON, although their types do not say so.
  return (desired.length === 1 ? desired[0] : { layers: desired }) as unknown as JsonObject;
}

/** What the SchemaConfig selects. A reference to nothing is a problem. */
function checkedSelection(config: Config, account: Account, problems: Problem[]): readonly Selected[] {
  const selected = selectedBy(config.spec, account);
  const [first] = selected;
  if (first?.state !== "unresolved" || first.code === "E_DEPENDENCY" || config.spec.integration === undefined) return selected;
  const { code, message } = first;
  problems.push(problemIn(config, "/spec/integration", { code, message }));
  return [];
}
