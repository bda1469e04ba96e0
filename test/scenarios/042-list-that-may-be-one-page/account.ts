import type { AccountState } from "../../../src/embedded/index.ts";

export function change(account: AccountState): void {
  const [orders] = account.integrations;
  if (orders === undefined) return;
  for (let i = account.integrations.length; i < 10; i++)
    account.integrations.push({
      ...structuredClone(orders),
      id: `x${i}`,
      name: `Extra ${i}`,
      source: { id: `sx-${i}`, name: `extra-${i}`, type: "mysql" },
    });
}
