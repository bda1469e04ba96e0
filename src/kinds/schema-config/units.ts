import { type Address, byText } from "../../model/address.ts";
import type { JsonObject } from "../../model/json.ts";
import type { Blocked, Deferred } from "../../model/plan.ts";
import type { Problem } from "../../model/problem.ts";
import { locationIn, type Resource, type SchemaConfigSpec } from "../../model/resource.ts";
import type { AccountView, Unit, Units } from "../kind.ts";
import { type Selected, selectIntegration, selectIntegrations } from "../select.ts";
import { type CompiledConfig, type Config, compileConfig, eachOnce, makeRuleProgram, type Program } from "./compiled-config.ts";
import { ruleSetsIn } from "./rule-sets.ts";

/** All schema configurations that select one integration, compared as one. */
export interface SchemaConfigUnit extends Unit {
  /** The one of the highest priority, which names the unit. */
  readonly resource: Resource<SchemaConfigSpec>;
  /** What they say together; one value for all integrations with the same ones. */
  readonly program: Program;
  readonly liveId: string;
  /** What addresses show of the integration. */
  readonly label: string;
  /** How many integrations each configuration of the run selects. */
  readonly targets: ReadonlyMap<CompiledConfig, number>;
}

/**
 * One unit per selected integration, with every configuration that selects it; equal priorities contradict (product §2.4.6). A configuration whose
 * rules are wrong selects nothing: a part of its rules could do what the whole would not.
 */
export function units(configs: readonly Config[], world: AccountView): Units<SchemaConfigUnit> {
  const problems: Problem[] = [];
  const blocked: Blocked[] = [];
  const deferred: Deferred[] = [];
  const sets = ruleSetsIn(world.resources);
  const compiled = configs.map((config) => compileConfig(config, sets));
  problems.push(...eachOnce(compiled.flatMap((config) => config.problems)));
  const sound = compiled.filter((config) => config.problems.length === 0);

  const byTarget = new Map<string, { readonly selected: Selected; readonly configs: CompiledConfig[] }>();
  const targets = new Map<CompiledConfig, number>(sound.map((config) => [config, 0]));
  for (const one of sound.sort(byPriority)) {
    for (const selected of selectedBy(one.config, world, problems)) {
      targets.set(one, (targets.get(one) ?? 0) + 1);
      const target = selected.state === "found" ? selected.id : `${selected.state} ${selected.label}`;
      const known = byTarget.get(target);
      if (known === undefined) byTarget.set(target, { selected, configs: [one] });
      else known.configs.push(one);
    }
  }
  const programs = new Map<string, Program>();
  const programOf = (layers: readonly CompiledConfig[]): Program => {
    const key = layers.map(({ config }) => config.address).join(" ");
    const known = programs.get(key) ?? makeRuleProgram(layers);
    programs.set(key, known);
    return known;
  };
  const found: SchemaConfigUnit[] = [];
  const conflicts = new Map<string, Conflict>();
  for (const { selected, configs: layers } of byTarget.values()) {
    const top = layers.at(-1)?.config;
    if (top === undefined || contradicts(layers, selected, conflicts)) continue;
    const address: Address = `${top.address}@${selected.label}`;
    if (selected.state === "found")
      found.push({ address, resource: top, program: programOf(layers), liveId: selected.id, label: selected.label, targets });
    else if (selected.state === "waits") deferred.push({ address, waitsFor: [selected.on], desired: wish(layers) });
    else blocked.push({ address, code: selected.code, message: selected.message });
  }
  problems.push(...[...conflicts.values()].map(conflictProblem));
  return { units: found.sort((a, b) => byText(a.address, b.address)), blocked, deferred, problems };
}

const byPriority = (a: CompiledConfig, b: CompiledConfig): number =>
  (a.config.spec.priority ?? 0) - (b.config.spec.priority ?? 0) || byText(a.config.name, b.config.name);

/** What a deferred unit wants, in full: as its manifests say it, with the rules of RuleSets in place. */
export function wish(layers: readonly CompiledConfig[]): JsonObject {
  const wishes = layers.map(
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
  // Specs are JSON; their types only don't say so.
  return (wishes.length === 1 ? wishes[0] : { layers: wishes }) as unknown as JsonObject;
}

function selectedBy(config: Config, world: AccountView, problems: Problem[]): readonly Selected[] {
  const { integration, integrations } = config.spec;
  if (integration !== undefined) {
    const selected = selectIntegration(integration, world);
    if (selected.state !== "unresolved" || selected.code === "E_DEPENDENCY") return [selected];
    problems.push({
      code: selected.code,
      severity: "error",
      summary: selected.code === "E_AMBIGUOUS" ? "Ambiguous reference" : "Unknown reference",
      message: `${config.address} acts on an integration. ${selected.message}`,
      place: locationIn(config, "/spec/integration"),
      address: config.address,
    });
    return [];
  }
  const selected = integrations === undefined ? [] : selectIntegrations(integrations, world);
  if (selected.length === 0)
    problems.push({
      code: "W_SELECTOR_EMPTY",
      severity: "warning",
      summary: "Selector matches nothing",
      message: `${config.address} selects no integration, so it does nothing. Names mean manifests and live integrations, labels mean manifests.`,
      place: locationIn(config, "/spec/integrations"),
      address: config.address,
    });
  return selected;
}

/** Configurations of one priority, and the integrations that all of them select. */
interface Conflict {
  readonly configs: readonly Config[];
  readonly twin: Config;
  readonly labels: string[];
}

function contradicts(all: readonly CompiledConfig[], { label }: Selected, conflicts: Map<string, Conflict>): boolean {
  const configs = all.map(({ config }) => config);
  const twin = configs.find((layer, index) => index > 0 && (configs[index - 1]?.spec.priority ?? 0) === (layer.spec.priority ?? 0));
  if (twin === undefined) return false;
  const key = configs.map(({ address }) => address).join(" ");
  const known = conflicts.get(key) ?? { configs, twin, labels: [] };
  conflicts.set(key, known);
  known.labels.push(label);
  return true;
}

/** How many of the integrations a message names; the rest it counts. */
const shownLabels = 3;

function conflictProblem({ configs, twin, labels }: Conflict): Problem {
  const names = configs.map(({ address }) => address).join(" and ");
  const [first = ""] = labels;
  const shown = labels.slice(0, shownLabels).map((label) => JSON.stringify(label));
  const rest = labels.length > shownLabels ? ` and ${labels.length - shownLabels} more` : "";
  const what =
    labels.length === 1
      ? `the same integration, ${JSON.stringify(first)},`
      : `the same ${labels.length} integrations, ${shown.join(", ")}${rest},`;
  return {
    code: "E_CONFLICTING_CONFIGS",
    severity: "error",
    summary: "Conflicting schema configurations",
    message: `${names} select ${what} with the same priority, so neither decides. Give them different spec.priority (the higher wins, field by field), or select each integration once.`,
    place: locationIn(twin, twin.spec.integration === undefined ? "/spec/integrations" : "/spec/integration"),
    address: twin.address,
  };
}
