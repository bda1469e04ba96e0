import type { AccountState } from "../../../src/embedded/index.ts";

export function change(account: AccountState): void {
  for (const { destination } of account.integrations) destination.name = "Warehouse (old)";
  for (const asset of account.assets) if (asset.id === "d-12") asset.name = "Warehouse (old)";
}
