import type { Address } from "../model/address.ts";
import type { LiveIntegration, LiveTag } from "../model/live.ts";
import type { Resource } from "../model/resource.ts";
import type { AccountView } from "./kind.ts";

/** The lists of an account by what they are searched for, so that comparing n objects takes n steps and not n². */
export interface AccountLookup {
  readonly resources: ReadonlyMap<Address, Resource>;
  /** By id. */
  readonly integrations: ReadonlyMap<string, LiveIntegration>;
  readonly integrationsByName: ReadonlyMap<string, readonly LiveIntegration[]>;
  /** By the name of the source. */
  readonly integrationsBySource: ReadonlyMap<string, readonly LiveIntegration[]>;
  readonly tagsByName: ReadonlyMap<string, readonly LiveTag[]>;
  /** The addresses that bindings, then earlier creates, have an id for, by that id. */
  readonly recorded: ReadonlyMap<string, readonly Address[]>;
}

/** The account with its lookup. Call it again after one of its lists is replaced. */
export function indexed(account: Omit<AccountView, "lookup">): AccountView {
  const { resources, integrations, tags, bindings, earlierCreates } = account;
  const recorded = [
    ...[...bindings].map(([address, { id }]) => ({ address, id })),
    ...earlierCreates.flatMap(({ address, id }) => (id === undefined ? [] : [{ address, id }])),
  ];
  const addresses = [...grouped(recorded, ({ id }) => id)].map(([id, group]) => [id, group.map(({ address }) => address)] as const);
  const lookup: AccountLookup = {
    resources: new Map(resources.map((resource) => [resource.address, resource])),
    integrations: new Map(integrations.map((integration) => [integration.id, integration])),
    integrationsByName: grouped(integrations, ({ name }) => name),
    integrationsBySource: grouped(integrations, ({ source }) => source.name),
    tagsByName: grouped(tags, ({ name }) => name),
    recorded: new Map(addresses),
  };
  return { ...account, lookup };
}

function grouped<T>(values: readonly T[], keyOf: (value: T) => string): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const value of values) {
    const group = groups.get(keyOf(value));
    if (group === undefined) groups.set(keyOf(value), [value]);
    else group.push(value);
  }
  return groups;
}
