import type { Binding } from "../model/binding.ts";
import type { DraftItem } from "../model/plan.ts";
import type { Resource } from "../model/resource.ts";
import type { AccountView, Identity } from "./kind.ts";

/** The pinned id, then the bound one, then one that was recovered; undefined where there is none (product §3.2). */
export function boundIdentity(resource: Resource, account: AccountView): Identity | undefined {
  const bound = account.bindings.get(resource.address)?.id;
  const id = resource.id ?? bound;
  const recovered = account.recovered.get(resource.address);
  if (id === undefined) return recovered === undefined ? undefined : { state: "found", id: recovered, by: "recovered" };
  return account.goneIds.has(id) ? { state: "gone", id } : { state: "found", id, by: resource.id === undefined ? "binding" : "pin" };
}

/** A `bind` item where the id is not on record yet, or another one is, or `record` has a version to note. It sends nothing. */
export function bindItem(
  resource: Resource,
  id: string,
  liveName: string | undefined,
  account: AccountView,
  record: Omit<Binding, "id"> = {},
): readonly DraftItem[] {
  const before = account.bindings.get(resource.address);
  if (before?.id === id) return noted(resource, id, liveName, record);
  return [
    {
      address: resource.address,
      kind: resource.kind,
      action: "bind",
      liveId: id,
      ...(liveName === undefined ? {} : { liveName }),
      changes: [{ path: "/id", ...(before === undefined ? {} : { before: before.id }), after: id, risk: "neutral" }],
      requests: [],
      observed: {},
      binding: { id, ...record },
    },
  ];
}

/** The secretVersion that holds from now on, for an object whose id alone is on record. */
function noted(resource: Resource, id: string, liveName: string | undefined, { secretVersion }: Omit<Binding, "id">): readonly DraftItem[] {
  if (secretVersion === undefined) return [];
  return [
    {
      address: resource.address,
      kind: resource.kind,
      action: "bind",
      liveId: id,
      ...(liveName === undefined ? {} : { liveName }),
      changes: [{ path: "/secretVersion", after: secretVersion, risk: "neutral" }],
      requests: [],
      observed: {},
      binding: { id, secretVersion },
    },
  ];
}

/** What a person has to do about an object whose id answers 404: it is never created again by itself. */
export function goneInstruction(resource: Resource, id: string): string {
  return (
    `${resource.address} stands for ${id}, which is gone from the account. dimsync never creates it again by itself. ` +
    `If that is wanted, run dimsync unbind ${resource.address}${resource.id === undefined ? "" : " and remove metadata.id"}; otherwise remove the manifest.`
  );
}
