import type { Address } from "../base/model/address.ts";
import type { LiveIntegration } from "../base/model/live.ts";
import type { Manifest } from "../base/model/manifest.ts";
import { getOrAdd, groupBy } from "../base/model/maps.ts";
import type { List, Listed } from "../base/model/service.ts";
import type { Account } from "./kind.ts";
import { integrations } from "./lists.ts";

/** The objects of a list that was read, and by what they are searched for, so that comparing n objects takes n steps and not n². */
interface Objects<T> {
  /** Empty if nothing needed the list. Includes objects that only a read by id returned. */
  readonly items: readonly T[];
  readonly byId: ReadonlyMap<string, T>;
  readonly byName: ReadonlyMap<string, readonly T[]>;
}

/** The objects that were read, by list. */
export type AccountLists = <T extends Listed>(list: List<T>) => Objects<T>;

/** `read`: what was read of each list, by its name. */
export function accountLists(read: ReadonlyMap<string, readonly Listed[]>): AccountLists {
  const known = new Map<string, Objects<Listed>>();
  return <T extends Listed>({ name }: List<T>): Objects<T> => {
    const objects = getOrAdd(known, name, () => {
      const items = read.get(name) ?? [];
      return { items, byId: new Map(items.map((object) => [object.id, object])), byName: groupBy(items, (object) => object.name ?? "") };
    });
    return objects as Objects<T>; // what the list of this name decoded
  };
}

/** Manifests, records and integrations by what they are searched for. */
export interface AccountLookup {
  readonly manifests: ReadonlyMap<Address, Manifest>;
  /** By the name of the source. */
  readonly integrationsBySource: ReadonlyMap<string, readonly LiveIntegration[]>;
  /** The addresses that bindings, then earlier creates, have an id for, by that id. */
  readonly recorded: ReadonlyMap<string, readonly Address[]>;
}

/** The account with its lookup. Call it again after its manifests, records or lists are replaced. */
export function indexed(account: Omit<Account, "lookup">): Account {
  const { manifests, bindings, earlierCreates } = account;
  const recorded = [
    ...[...bindings].map(([address, { id }]) => ({ address, id })),
    ...earlierCreates.flatMap(({ address, id }) => (id === undefined ? [] : [{ address, id }])),
  ];
  const addresses = [...groupBy(recorded, ({ id }) => id)].map(([id, group]) => [id, group.map(({ address }) => address)] as const);
  const lookup: AccountLookup = {
    manifests: new Map(manifests.map((manifest) => [manifest.address, manifest])),
    integrationsBySource: groupBy(account.list(integrations).items, ({ source }) => source?.name ?? ""),
    recorded: new Map(addresses),
  };
  return { ...account, lookup };
}
