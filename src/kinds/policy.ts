import type { ManifestKind } from "./kind.ts";

/** Policies are checked by src/policies; nothing in the account corresponds to them. */
export const policy: ManifestKind = { name: "Policy", references: () => [] };
