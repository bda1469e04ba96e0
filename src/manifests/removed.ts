import { kindNames } from "../kinds/manifests.ts";
import type { Pointer } from "../model/json/pointer.ts";

// What earlier versions of dimsync read, with what to write instead.

/** By name. */
const kinds: Readonly<Record<string, string>> = {
  Tests: "`dimsync test` was removed. Write a Policy for schemas, tables and columns, and `expect` in an Integration or SchemaConfig.",
};

const keys: readonly { readonly kind: string; readonly path: RegExp; readonly instead: string }[] = [
  {
    kind: kindNames.schemaConfig,
    path: /^\/spec\/unmatched\/columns$/u,
    instead: 'Write a first rule for all columns, such as { match: { column: "*" }, set: { enabled: false } }, or `unreviewed`.',
  },
  {
    kind: "Config",
    path: /^\/catalog$/u,
    instead:
      "Each target has a file of its own: write `catalog` in the target, such as targets: { prod: { catalog: dimsync.catalog.prod.yaml } }.",
  },
  {
    kind: "Config",
    path: /\/guards\/minPopulation$/u,
    instead: "Remove it: maxChangedPercent counts objects with fewer than 100 nodes and fields only over the target.",
  },
];

/** What to write instead of a kind that was removed. */
export const insteadOfKind = (kind: string): string | undefined => (Object.hasOwn(kinds, kind) ? kinds[kind] : undefined);

/** What to write instead of a key that was removed. */
export const insteadOfKey = (kind: string, pointer: Pointer): string | undefined =>
  keys.find((key) => key.kind === kind && key.path.test(pointer))?.instead;
