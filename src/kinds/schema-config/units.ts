import { type Address, byText } from "../../model/address.ts";
import type { JsonObject } from "../../model/json.ts";
import type { Blocked, Deferred } from "../../model/plan.ts";
import type { Problem } from "../../model/problem.ts";
import { placeIn, type Resource, type SchemaConfigSpec } from "../../model/resource.ts";
import type { Units, World } from "../kind.ts";
import { type Selected, selectIntegration, selectIntegrations } from "../select.ts";
import type { SchemaConfigUnit } from "./unit.ts";

type Config = Resource<SchemaConfigSpec>;

/** One unit per selected integration, with every configuration that selects it; equal priorities contradict (product §2.4.6). */
export function units(configs: readonly Config[], world: World): Units<SchemaConfigUnit> {
  const problems: Problem[] = [];
  const blocked: Blocked[] = [];
  const deferred: Deferred[] = [];
  const byTarget = new Map<string, { readonly selected: Selected; readonly configs: Config[] }>();
  for (const config of [...configs].sort((a, b) => (a.spec.priority ?? 0) - (b.spec.priority ?? 0) || byText(a.name, b.name))) {
    for (const selected of selectedBy(config, world, problems)) {
      const target = selected.state === "found" ? selected.id : `${selected.state} ${selected.label}`;
      const known = byTarget.get(target);
      if (known === undefined) byTarget.set(target, { selected, configs: [config] });
      else known.configs.push(config);
    }
  }
  const found: SchemaConfigUnit[] = [];
  for (const { selected, configs: layers } of byTarget.values()) {
    const top = layers.at(-1);
    if (top === undefined || contradicts(layers, selected, problems)) continue;
    const address: Address = `${top.address}@${selected.label}`;
    if (selected.state === "found") found.push({ address, resource: top, layers, liveId: selected.id, label: selected.label });
    else if (selected.state === "waits") deferred.push({ address, waitsFor: [selected.on], desired: wish(layers) });
    else blocked.push({ address, code: selected.code, message: selected.message });
  }
  return { units: found.sort((a, b) => byText(a.address, b.address)), blocked, deferred, problems };
}

/** What a deferred unit wants, in full, as its manifests say it. */
export function wish(layers: readonly Config[]): JsonObject {
  const wishes = layers.map(({ spec: { rules, schemas, unmatched } }) => ({ ...(unmatched === undefined ? {} : { unmatched }), ...(rules === undefined ? {} : { rules }), ...(schemas === undefined ? {} : { schemas }) }));
  return (wishes.length === 1 ? wishes[0] : { layers: wishes }) as unknown as JsonObject;
}

function selectedBy(config: Config, world: World, problems: Problem[]): readonly Selected[] {
  const { integration, integrations } = config.spec;
  if (integration !== undefined) {
    const selected = selectIntegration(integration, world);
    if (selected.state !== "unresolved" || selected.code === "E_DEPENDENCY") return [selected];
    problems.push({
      code: selected.code,
      severity: "error",
      summary: selected.code === "E_AMBIGUOUS" ? "Ambiguous reference" : "Unknown reference",
      message: `${config.address} acts on an integration. ${selected.message}`,
      place: placeIn(config, "/spec/integration"),
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
      place: placeIn(config, "/spec/integrations"),
      address: config.address,
    });
  return selected;
}

function contradicts(layers: readonly Config[], selected: Selected, problems: Problem[]): boolean {
  const twin = layers.find((layer, index) => index > 0 && (layers[index - 1]?.spec.priority ?? 0) === (layer.spec.priority ?? 0));
  if (twin === undefined) return false;
  const names = layers.map(({ address }) => address).join(" and ");
  problems.push({
    code: "E_CONFLICTING_CONFIGS",
    severity: "error",
    summary: "Conflicting schema configurations",
    message: `${names} select the same integration, ${JSON.stringify(selected.label)}, with the same priority, so neither decides. Give them different spec.priority (the higher wins, field by field), or select it once.`,
    place: placeIn(twin, ""),
    address: twin.address,
  });
  return true;
}
