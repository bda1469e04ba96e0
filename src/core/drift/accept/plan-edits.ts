import { type Address, byText, objectAddress, parseAddress } from "../../base/model/address.ts";
import { eachChange, firstChange } from "../../base/model/changes.ts";
import { type PolicyFinding, policyFindings } from "../../base/model/findings.ts";
import { defined, type JsonScalar, type JsonValue, sameJson } from "../../base/model/json/json.ts";
import { atPointer, fromPointer, isWithin, type Pointer, toPointer } from "../../base/model/json/pointer.ts";
import { locationIn, type Manifest, type SchemaConfigSpec, type SchemaMatch } from "../../base/model/manifest.ts";
import { type Change, type Plan, type ReadyStep, readySteps, type Step, stepsOf } from "../../base/model/plan.ts";
import type { Locate } from "../../base/model/problem.ts";
import { requestMode } from "../../base/model/sync-mode.ts";
import { isIntegration, isRuleSet, isSchemaConfig, kindNamed } from "../../kinds/index.ts";

/** How the manifests take over a live value. */
export type PlannedEdit =
  /** A value of a manifest changes. */
  | { readonly how: "value"; readonly manifest: Manifest; readonly path: readonly string[]; readonly value: JsonScalar }
  /**
   * The integration gets a configuration of its own, because the manifest that decided covers
   * others, too.
   */
  | {
      readonly how: "override";
      /** The manifest that decided. */
      readonly covering: Manifest<SchemaConfigSpec>;
      /** The one of the highest priority. */
      readonly top: Manifest<SchemaConfigSpec>;
      /** The new one gets into the file of this manifest. */
      readonly home: Manifest;
      readonly item: ReadyStep;
      readonly path: readonly string[];
      readonly value: JsonScalar;
    }
  /** `why` is a sentence that says what to do instead. */
  | { readonly how: "refused"; readonly why: string };

/**
 * One difference and the edits that accept it: several if a manifest has the value in several
 * places.
 */
export interface DifferenceEdits extends ReportedDifference {
  readonly edits: readonly PlannedEdit[];
}

/** A difference of a report. */
export interface ReportedDifference extends Pick<Change, "origin" | "attribution"> {
  readonly address: Address;
  readonly path: Pointer;
  /** What the manifests say; absent if unknown. So is `live`. */
  readonly desired?: JsonValue | undefined;
  readonly live?: JsonValue | undefined;
}

export interface ProjectManifests {
  readonly manifests: readonly Manifest[];
  readonly locate: Locate;
}

/** Every difference of the report, in its order. */
export function planEdits(report: Plan, { manifests, locate }: ProjectManifests): readonly DifferenceEdits[] {
  const byAddress = new Map(manifests.map((manifest) => [manifest.address, manifest]));
  const context = { manifests, locate, findings: policyFindings(report) };
  return [
    ...readySteps(report)
      .filter(({ verb }) => verb !== "bind")
      .flatMap((item) => ofItem(item, byAddress, context)),
    ...stepsOf(report, "byHand").map((step) => ({ ...ofChange(step, firstChange(step)), edits: ofByHand(step, byAddress) })),
  ];
}

const ofChange = ({ address }: Pick<Step, "address">, { path, before, after, origin, attribution }: Change): ReportedDifference => ({
  address,
  path,
  desired: after,
  live: before,
  ...defined({ origin, attribution }),
});

const refused = (why: string): readonly [PlannedEdit] => [{ how: "refused", why }];

interface ItemContext extends ProjectManifests {
  /** Of the report, which checks the live values. */
  readonly findings: readonly PolicyFinding[];
}

function ofItem(item: ReadyStep, byAddress: ReadonlyMap<Address, Manifest>, project: ItemContext): readonly DifferenceEdits[] {
  const { address, verb } = item;
  const whole = (why: string): readonly DifferenceEdits[] => [{ address, path: "", edits: refused(why) }];
  if (verb === "create") return whole("It is not in the account. Run apply to create it, or delete its manifest.");
  if (verb === "relate")
    return whole("The relation is missing in the account. Run apply to attach it, or remove the resource from spec.resources.");
  if (verb === "unrelate")
    return whole("The manifest does not declare the relation. Add the resource to spec.resources, or run apply to remove the relation.");
  const top = manifestOf(item, byAddress);
  if (top === undefined) return whole("No manifest has this address.");
  const configs = (item.manifests ?? []).flatMap((one) => byAddress.get(one) ?? []).filter(isSchemaConfig);
  const changes = [...eachChange(item)].sort((a, b) => byText(a.path, b.path));
  return changes.map((change) => {
    const forbidden = forbiddenBy(change) ?? notReviewed(change) ?? policyAgainst(item, change, project.findings);
    const edits = isSchemaConfig(top) ? [ofNode(item, change, configs, project)] : ofField(change, top);
    return { ...ofChange(item, change), edits: forbidden === undefined ? edits : refused(forbidden) };
  });
}

/** The manifest that decides first. */
const manifestOf = (
  { address, manifests }: Pick<Step, "address" | "manifests">,
  byAddress: ReadonlyMap<Address, Manifest>,
): Manifest | undefined => byAddress.get(manifests?.at(-1) ?? objectAddress(address));

/** A column is not reviewed by editing a manifest, because `unreviewed: disable` overrides what manifests set. */
function notReviewed({ cause }: Change): string | undefined {
  if (cause?.rule !== "unreviewed.columns") return undefined;
  return `Nobody has reviewed the column. To keep it on, review it and accept it (dimsync catalog accept).`;
}

/** Why the live value must not be accepted, if a policy of severity error does not allow it. */
function policyAgainst({ address }: ReadyStep, { path, risk }: Change, findings: readonly PolicyFinding[]): string | undefined {
  const node = path.slice(0, path.lastIndexOf("/"));
  const finding = findings.find(
    (one) =>
      one.severity === "error" &&
      one.address === address &&
      // To replicate a node also replicates what is below it.
      (one.path === path || (risk === "exposed" && isWithin(one.path, node))),
  );
  if (finding === undefined) return undefined;
  return `${finding.rule} does not allow the live value. Run apply to revert it, or add an exemption to the policy.`;
}

/** Why the live value must not be accepted, if the manifests changed. */
function forbiddenBy({ origin }: Pick<Change, "origin">): string | undefined {
  if (origin === "config") return "The manifests changed here, not the account. Run apply to update the account.";
  if (origin === "conflict")
    return "Both the manifests and the account changed here. Decide which value to keep: edit the manifest, or apply it.";
  return undefined;
}

function scalarOf(value: JsonValue | undefined): JsonScalar | undefined {
  return value === null || (typeof value !== "object" && value !== undefined) ? value : undefined;
}

/**
 * Edits the manifest that decides the value. A literal is changed in place. A rule is overridden by a literal of the same
 * configuration, because literals win over rules. If that one covers several integrations, a configuration above it that covers
 * only this one gets the literal; a new one is added only if there is none.
 */
function ofNode(item: ReadyStep, change: Change, configs: readonly Manifest<SchemaConfigSpec>[], project: ProjectManifests): PlannedEdit {
  const value = change.field === "syncMode" ? requestMode(String(change.before)) : scalarOf(change.before);
  const top = configs.at(-1);
  if (value === undefined && change.before !== undefined)
    return { how: "refused", why: "No request takes this sync mode. Run apply to revert it." };
  if (value === undefined || top === undefined) return { how: "refused", why: "The live value is not known." };
  const path = ["spec", ...fromPointer(change.path)];
  const decider = deciderOf(change, configs, project);
  const manifest = configs.slice(configs.indexOf(decider ?? top)).find(isSingle);
  if (manifest !== undefined) return { how: "value", manifest, path, value };
  return { how: "override", covering: decider ?? top, top, home: homeOf(item, configs, project) ?? decider ?? top, item, path, value };
}

/** Whether the configuration covers one integration only. */
const isSingle = ({ spec }: Manifest<SchemaConfigSpec>): boolean => spec.integration !== undefined;

/** The configuration whose literal or rule decides the value, or the one of the highest priority that uses its RuleSet. */
function deciderOf(
  { path, cause }: Change,
  configs: readonly Manifest<SchemaConfigSpec>[],
  { manifests, locate }: ProjectManifests,
): Manifest<SchemaConfigSpec> | undefined {
  if (cause === undefined) return undefined;
  const has = (manifest: Manifest, pointer: Pointer): boolean => {
    const place = locate(locationIn(manifest, pointer));
    return place.file === cause.file && place.line === cause.line;
  };
  if (cause.rule === undefined)
    return configs.findLast((config) => atPointer(config.spec, path) !== undefined && has(config, `/spec${path}`));
  const hasRule = (manifest: Manifest<Pick<SchemaConfigSpec, "rules">>, seen: readonly string[]): boolean =>
    (manifest.spec.rules ?? []).some((rule, index) => {
      if (!("use" in rule)) return has(manifest, `/spec/rules/${index}`);
      const used = manifests.filter(isRuleSet).find(({ name }) => name === rule.use);
      return used !== undefined && !seen.includes(used.name) && hasRule(used, [...seen, used.name]);
    });
  return configs.findLast(
    (config) => hasRule(config, []) || ["schemas", "tables"].some((level) => has(config, `/spec/unmatched/${level}`)),
  );
}

/** Whose file gets a new configuration of the integration: that of its own configuration, else that of its manifest. */
function homeOf(
  { manifests: addresses = [] }: ReadyStep,
  configs: readonly Manifest<SchemaConfigSpec>[],
  { manifests }: ProjectManifests,
): Manifest | undefined {
  return configs.findLast(isSingle) ?? manifests.find((manifest) => isIntegration(manifest) && addresses.includes(manifest.address));
}

/** Name, description and owner of a tag, the name of an asset, and the settings of an integration: the service returns them. */
function ofField(change: Change, manifest: Manifest): readonly PlannedEdit[] {
  const value = scalarOf(change.before);
  if (value === undefined) return refused("The service returns no value here. Run apply to write the desired value, or delete the line.");
  const path = placesIn(manifest, change.path).find((pointer) => atPointer(manifest.spec, pointer) !== undefined);
  if (path === undefined) return refused("The manifest has no value here.");
  return [{ how: "value", manifest, path: ["spec", ...fromPointer(path)], value }];
}

function ofByHand(step: Step, byAddress: ReadonlyMap<Address, Manifest>): readonly PlannedEdit[] {
  const change = firstChange(step);
  const forbidden = forbiddenBy(change);
  if (forbidden !== undefined) return refused(forbidden);
  const manifest = manifestOf(step, byAddress);
  const value = scalarOf(change.before);
  if (parseAddress(step.address)?.resource !== undefined)
    return refused(
      "The service does not return the type of the resource. Add it to spec.resources by hand, or remove the tag in the service.",
    );
  if (change.path === "") return refused("It is no longer in the account. Delete its manifest, or create it again in the service.");
  if (manifest === undefined) return refused("No manifest has this address.");
  if (value === undefined) return refused("The live value is not known. Do the step by hand, or edit the manifest by hand.");
  const places = placesOf(change, manifest);
  if (places.length === 0)
    return refused("The manifest does not have this as a single value. Do the step by hand, or edit the manifest by hand.");
  return places.map((path) => ({ how: "value", manifest, path, value }));
}

/** Where the manifest has the value that the step expects. */
function placesOf({ path, after: expected }: Change, manifest: Manifest): readonly (readonly string[])[] {
  if (isSchemaConfig(manifest)) return expectationsOf(path, expected, manifest.spec);
  return placesIn(manifest, path)
    .filter((pointer) => expected !== undefined && sameJson(atPointer(manifest.spec, pointer), expected))
    .map((pointer) => ["spec", ...fromPointer(pointer)]);
}

const placesIn = ({ kind }: Manifest, path: Pointer): readonly Pointer[] => kindNamed(kind)?.places?.(path) ?? [path];

/**
 * Entries of spec.expect that match this one node only. Editing a pattern would change the
 * expectation of other nodes.
 */
function expectationsOf(path: Pointer, expected: JsonValue | undefined, { expect = [] }: SchemaConfigSpec): readonly (readonly string[])[] {
  const segments = fromPointer(path);
  const names = segments.slice(1, -1).filter((_, index) => index % 2 === 0);
  const key = segments.at(-1) ?? "";
  return expect.flatMap((entry, index) => {
    const levels = [entry.match.schema, entry.match.table, entry.match.column];
    const isThis = levels.every((level, depth) =>
      names[depth] === undefined ? level === undefined : isLiteral(level, names[depth], entry.match),
    );
    const hasExpected = expected !== undefined && sameJson(atPointer(entry, toPointer([key])), expected);
    return isThis && hasExpected ? [["spec", "expect", String(index), key]] : [];
  });
}

function isLiteral(level: string | readonly string[] | undefined, name: string | undefined, { ignoreCase, where }: SchemaMatch): boolean {
  const only = typeof level === "string" ? level : level?.length === 1 ? level[0] : undefined;
  return only === name && ignoreCase !== true && where === undefined && !/[*?[\]{}!]/u.test(only ?? "");
}
