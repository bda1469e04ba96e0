import { byText, parseAddress } from "../model/address.ts";
import type { UnmanagedTable } from "../model/plan.ts";
import { counted } from "./counts.ts";
import { nameText } from "./path-text.ts";
import { visible } from "./visible.ts";

/** Tables of one name that lack rules for the same columns: alike in most integrations of a fleet, so that the odd one shows. */
export interface UnmanagedGroup {
  /** "public.orders" */
  readonly table: string;
  /** "id, note"; or that they are unknown. */
  readonly columns: string;
  /** What people call the integrations, in order. */
  readonly integrations: readonly string[];
}

export function unmanagedGroups(tables: readonly UnmanagedTable[]): readonly UnmanagedGroup[] {
  const groups = new Map<string, { readonly table: string; readonly columns: string; readonly integrations: string[] }>();
  for (const { address, schema, table, columns } of tables) {
    const key = JSON.stringify([schema, table, columns]);
    const group = groups.get(key) ?? {
      table: `${nameText(schema)}.${nameText(table)}`,
      columns: columns === undefined ? "(its columns were not read)" : columns.map(nameText).join(", "),
      integrations: [],
    };
    groups.set(key, group);
    group.integrations.push(visible(parseAddress(address)?.on ?? address));
  }
  return [...groups.values()].sort((a, b) => byText(a.table, b.table) || byText(a.columns, b.columns));
}

/** "shop-01", or "9 integrations: shop-01, shop-02, shop-03 and 6 more"; all of them where `inFull`. */
export function integrationsText(names: readonly string[], inFull = false): string {
  const [only, second] = names;
  if (only !== undefined && second === undefined) return only;
  const shown = inFull ? names : names.slice(0, 3);
  return `${counted(names.length, "integration")}: ${shown.join(", ")}${names.length > shown.length ? ` and ${names.length - shown.length} more` : ""}`;
}
