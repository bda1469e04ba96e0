import type { AccountState } from "../../../src/embedded/index.ts";

export function change(account: AccountState): void {
  for (const { schemas } of account.integrations) {
    const customers = schemas["public"]?.tables["customers"];
    if (customers !== undefined) customers.enabled = false;
  }
}
