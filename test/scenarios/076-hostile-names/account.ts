import type { AccountState } from "../../../src/embedded/index.ts";

export function change(account: AccountState): void {
  const columns = (...names: string[]) =>
    Object.fromEntries(names.map((name) => [name, { nameInDestination: name, enabled: true, hashed: false, isPrimaryKey: false }]));
  const table = (...names: string[]) => ({ nameInDestination: "t", enabled: true, syncMode: "full_refresh", columns: columns(...names) });
  const orders = account.integrations.find(({ id }) => id === "8f1c");
  if (orders === undefined) return;
  orders.schemas = JSON.parse(
    JSON.stringify({
      "a/b": { nameInDestination: "ab", enabled: true, tables: { "100%": table(" x "), "..": table("ü", "ä"), "~1": table("?#") } },
      PROTO: { nameInDestination: "p", enabled: true, tables: { constructor: table("toString", "a.b", "hasOwnProperty") } },
    }).replace("PROTO", "__proto__"),
  );
}
