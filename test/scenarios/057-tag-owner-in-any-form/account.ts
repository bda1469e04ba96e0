import type { AccountState } from "../../../src/embedded/index.ts";

export function change(account: AccountState): void {
  for (const tag of account.tags) {
    if (tag.id === "t-1") tag.owner = "privacy@example.com";
    if (tag.id === "t-2") tag.owner = "Dana";
  }
}
