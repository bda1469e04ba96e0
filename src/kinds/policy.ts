import type { ManifestKind } from "./kind.ts";
import { kindNames } from "./manifests.ts";

/** Policies are checked by src/policies; nothing in the account corresponds to them. */
export const policy: ManifestKind = { name: kindNames.policy, references: () => [] };
