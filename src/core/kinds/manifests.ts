import { type Address, integrationOfSchemas, schemasKind, toAddress } from "../base/model/address.ts";
import type {
  ClassificationSpec,
  IntegrationSpec,
  Manifest,
  PolicySpec,
  RuleSetSpec,
  SchemaConfigSpec,
  TagSpec,
} from "../base/model/manifest.ts";

// The names of the kinds, for code that handles one kind of manifest only. test/architecture.test.ts refuses
// them as literals outside this folder. What holds for every kind belongs in `Kind` (kind.ts) instead.

/** `kind` in manifests, and the part of an address before `/`. */
export const kindNames = {
  asset: "Asset",
  integration: "Integration",
  tag: "Tag",
  schemaConfig: "SchemaConfig",
  ruleSet: "RuleSet",
  policy: "Policy",
  classification: "Classification",
} as const;

// The JSON Schema of a kind is what makes these predicates true.

export const isIntegration = (manifest: Manifest): manifest is Manifest<IntegrationSpec> => manifest.kind === kindNames.integration;
export const isTag = (manifest: Manifest): manifest is Manifest<TagSpec> => manifest.kind === kindNames.tag;
export const isSchemaConfig = (manifest: Manifest): manifest is Manifest<SchemaConfigSpec> => manifest.kind === kindNames.schemaConfig;
export const isRuleSet = (manifest: Manifest): manifest is Manifest<RuleSetSpec> => manifest.kind === kindNames.ruleSet;
export const isClassification = (manifest: Manifest): manifest is Manifest<ClassificationSpec> =>
  manifest.kind === kindNames.classification;
export const isPolicy = (manifest: Manifest): manifest is Manifest<PolicySpec> => manifest.kind === kindNames.policy;

export const assetAddress = (name: string): Address => toAddress(kindNames.asset, name);
export const tagAddress = (name: string): Address => toAddress(kindNames.tag, name);
export const integrationAddress = (name: string): Address => toAddress(kindNames.integration, name);

export const policyAddress = (name: string): Address => toAddress(kindNames.policy, name);
/** The address of an integration's schemas; `name` is that of the integration in addresses (`nameOf` of select.ts). */
export const schemasAddress = (name: string): Address => toAddress(schemasKind, name);
/** The address that the manifest of an integration has, if there is one; `schemas` is the address of its schemas. Other addresses: undefined. */
export function manifestOfSchemas(schemas: Address): Address | undefined {
  const name = integrationOfSchemas(schemas);
  return name === undefined || name.startsWith(integrationAddress("")) ? name : integrationAddress(name);
}
export const schemaConfigAddress = (name: string): Address => toAddress(kindNames.schemaConfig, name);
