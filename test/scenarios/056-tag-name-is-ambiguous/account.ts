import type { AccountState } from "../../../src/embedded/index.ts";

export function change(account: AccountState): void {
  const gold = account.tags.find(({ name }) => name === "Gold");
  if (gold !== undefined) account.tags.push({ ...structuredClone(gold), id: "t-9" });
}
