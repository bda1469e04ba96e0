import type { Bindings } from "../base/model/address.ts";
import type { Manifest } from "../base/model/manifest.ts";
import type { List } from "../base/model/service.ts";
import { asset } from "./asset/index.ts";
import { integration } from "./integration/index.ts";
import type { Conflict, Kind, ManifestKind } from "./kind.ts";
import { users } from "./lists.ts";
import { kindNames } from "./manifests.ts";
import { schemaConfig } from "./schema-config/index.ts";
import { ruleSet } from "./schema-config/manifest.ts";
import { tag } from "./tag/index.ts";

export { unshown } from "./fields.ts";
export { blocked, entryText, mayHaveName, otherwise } from "./identity.ts";
export {
  type Account,
  type DiffResult,
  emptyDiff,
  type Identity,
  type ImportedObjects,
  type Kind,
  type LiveSize,
  type LiveView,
  type LostProtection,
  type ManifestKind,
  type Pair,
  type ReadNeeds,
  type Suspicion,
  type TableTest,
  type Unit,
  type Updates,
} from "./kind.ts";
export { labelReferences, unknownLabel, unknownLabels } from "./label-references.ts";
export { assets, integrations, replicatesNothingNew, settingNames, tags, users } from "./lists.ts";
export { accountLists, indexed } from "./lookup.ts";
export {
  integrationAddress,
  isClassification,
  isIntegration,
  isPolicy,
  isRuleSet,
  isSchemaConfig,
  isTag,
  kindNames,
  manifestOfSchemas,
  policyAddress,
  schemaConfigAddress,
  schemasAddress,
} from "./manifests.ts";
export { compileGlob } from "./patterns/glob.ts";
export {
  type ColumnLabel,
  columnLabels,
  enterLabels,
  indicesIn,
  type LabelScope,
  labelAmong,
  labelRoots,
  labelsOf,
  wantedLabels,
} from "./patterns/labels.ts";
export { matchesEveryName, nameMatcher, namePatterns, namesMatcher } from "./patterns/names.ts";
export { matchesName, matchesPath, type NodePatterns, nodePatterns } from "./patterns/nodes.ts";
export {
  absenceOf,
  decisionIn,
  declaredPriorityProblems,
  disabledAbove,
  type Explanation,
  evaluate,
  explain,
  isFixed,
  type Known,
  type LostChange,
  type LostNode,
  labelsOfColumn,
  layersOf,
  lostNodes,
  missingOf,
  type NodeState,
  overlayOf,
  type Question,
  type RuleCache,
  readableElsewhere,
  readSchemas,
  ruleProblems,
  ruleSetsIn,
  type ScannedColumn,
  type ScannedNode,
  type ScannedSchema,
  type ScannedTable,
  type ScanOptions,
  type SchemaConfigUnit,
  scan,
  schemaConfig,
  schemaUnits,
  spliceRules,
  switchedOffBy,
  tablesToRead,
  tablesWithoutColumns,
  unknownColumns,
  unreviewedIn,
  whereLabelsAre,
  wholeSchemas,
  withColumns,
  withoutAlike,
} from "./schemas.ts";
export {
  type IntegrationNames,
  integrationMatcher,
  integrationNames,
  integrationsByName,
  isConfigured,
  labelScopes,
  nameInAddresses,
  schemasOf,
  selectedBy,
  selectIntegrations,
  withDeclaredNames,
  withIdentities,
  withIntegrations,
} from "./select.ts";
export { userIdOf } from "./users.ts";
export { projectNameProblems, selectorProblems, selectsByName } from "./written-names.ts";

/**
 * Every kind of object in the account, in the order of dependency: those that others refer to come
 * first. The cast drops the types of each kind's units and live objects: the engine passes a kind
 * only values of that kind.
 */
export const kinds = [asset, integration, schemaConfig, tag] as unknown as readonly Kind[];

/** Policies are checked by src/core/columns/policies; nothing in the account corresponds to them. */
const policy: ManifestKind = { name: kindNames.policy, references: () => [] };

/** Labels are read by src/core/columns/labels; nothing in the account corresponds to them. */
const classification: ManifestKind = {
  name: kindNames.classification,
  references: () => [],
  // Members of `meta` are compared with those in a dbt manifest, which names no secrets.
  isPlainKey: (path) => path.includes("meta"),
};

/** Every kind of manifest. The kinds that are not in `kinds` exist only in the project. */
export const manifestKinds: readonly ManifestKind[] = [...kinds, ruleSet, policy, classification];

/** Every list of the service: of the objects of each kind, and of users. */
export const lists: readonly List[] = [...kinds.flatMap(({ list }) => list ?? []), users];

/** The kind of its items, and of the addresses of its units. */
export const itemKindOf = ({ name, schemas }: Kind): string => schemas?.itemKind ?? name;

const kindsByName = new Map(kinds.flatMap((kind) => [kind.name, itemKindOf(kind)].map((name) => [name, kind] as const)));
const manifestKindsByName = new Map(manifestKinds.map((kind) => [kind.name, kind]));

/** The kind of manifests or of items with this name. */
export const kindNamed = (name: string): Kind | undefined => kindsByName.get(name);

export const manifestKindNamed = (name: string): ManifestKind | undefined => manifestKindsByName.get(name);

/** Manifests that describe the same object, as far as the manifests and the bindings show it. */
export const conflicts = (manifests: readonly Manifest[], bindings: Bindings): readonly Conflict[] =>
  kinds.flatMap((kind) => {
    const ofKind = manifests.filter((manifest) => manifest.kind === kind.name);
    return kind.conflicts?.(ofKind, bindings) ?? [];
  });
