import type { AssetSpec, Resource } from "../../model/resource.ts";
import { resolveCommand, shellWord } from "../../text/shell.ts";
import { boundIdentity } from "../identity.ts";
import type { AccountView, Identity } from "../kind.ts";
import { type Duplicate, duplicatesOf } from "./duplicates.ts";
import { lookalikes } from "./references.ts";

/** Pin, binding, then what the records and the integrations show about assets with the same name and type. */
export function identify(resource: Resource<AssetSpec>, account: AccountView): Identity {
  const bound = boundIdentity(resource, account);
  if (bound !== undefined) return bound;
  const duplicates = duplicatesOf(resource, account);
  const [duplicate, ...others] = duplicates;
  if (duplicate !== undefined) return others.length === 0 ? ofDuplicate(resource, duplicate, account) : severalDuplicates(duplicates);
  const similar = lookalike(resource, account);
  if (similar !== undefined) return similar;
  if (resource.lifecycle.create === "ifMissing") return { state: "absent" };
  return {
    state: "blocked",
    code: "E_UNBOUND",
    message:
      "Its id is not recorded, and the API has no call that finds an asset. Bind its id, or set lifecycle.create: ifMissing if it does not exist yet.",
    command: `dimsync bind ${shellWord(`${resource.address}=ID`)}`,
  };
}

function ofDuplicate(resource: Resource<AssetSpec>, { address, id, hasManifest }: Duplicate, { goneIds }: AccountView): Identity {
  if (id === undefined)
    return {
      state: "blocked",
      code: "E_UNKNOWN_OUTCOME",
      message: `An earlier run sent a create for ${address}, which has the same name and type, and never received the response. Nothing is created until you resolve it.`,
      command: resolveCommand(address),
    };
  if (!hasManifest) return goneIds.has(id) ? { state: "gone", id } : { state: "found", id, by: "renamed" };
  return {
    state: "blocked",
    code: "E_UNBOUND",
    message: `${address} is bound to ${id}, which has the same name and type, so a second one is not created. If ${resource.address} is that asset, bind it and remove ${address}. If it is another asset, change its spec.name.`,
    command: `dimsync bind ${shellWord(`${resource.address}=${id}`)}`,
  };
}

const severalDuplicates = (duplicates: readonly Duplicate[]): Identity => ({
  state: "blocked",
  code: "E_AMBIGUOUS",
  message: `${duplicates.length} assets have its name and type: ${duplicates.map(({ address, id }) => `${id ?? "unknown id"} (${address})`).join(", ")}. Pin the right one with metadata.id.`,
});

/** An asset in the account that may be this one. */
function lookalike(resource: Resource<AssetSpec>, account: AccountView): Identity | undefined {
  const candidates = lookalikes(resource, account);
  const [candidate] = candidates;
  if (candidate === undefined) return undefined;
  const seen = candidates.map(({ id, name, type }) => `${JSON.stringify(name)} (${type}, ${id})`).join(", ");
  return {
    state: "blocked",
    code: "E_UNBOUND",
    message: `Its id is not recorded, and integrations refer to ${seen}, which may be this asset. An asset can't be read back, so dimsync does not create a second one. If it is the same, bind it.`,
    command: `dimsync bind ${shellWord(`${resource.address}=${candidate.id}`)}`,
  };
}
