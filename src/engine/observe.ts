import { kindNamed, kinds } from "../kinds/index.ts";
import type { AccountView, Identity, ListName } from "../kinds/kind.ts";
import type { Address } from "../model/address.ts";
import type { Bindings } from "../model/binding.ts";
import { ServiceError } from "../model/errors.ts";
import { own } from "../model/json.ts";
import type { Pointer } from "../model/pointer.ts";
import type { Problem } from "../model/problem.ts";
import { locationIn, type Resource } from "../model/resource.ts";
import type { Listing } from "../model/service.ts";
import type { RunReads } from "./cached-reads.ts";

/** What is read before anything can be compared, and what each manifest means in it. */
export interface ObservedAccount {
  readonly world: AccountView;
  readonly problems: readonly Problem[];
  /** Lists that could not be read; nothing that needs one may be planned. */
  readonly unreadLists: ReadonlySet<ListName>;
  /** Why a list may be only a part of what there is; nothing may be created on its word. */
  readonly suspicions: readonly string[];
  /** Every read that this stage needed succeeded. */
  readonly complete: boolean;
}

export interface ObserveInput {
  readonly resources: readonly Resource[];
  /** The manifests that are compared in this round; the others are there to be referred to. */
  readonly compared: readonly Resource[];
  readonly bindings: Bindings;
  /** Ids that reading showed of creates whose answer an earlier run did not get. */
  readonly recovered: ReadonlyMap<Address, string>;
  /** Ids of integrations that this run has created. */
  readonly fresh: ReadonlySet<string>;
  readonly reads: RunReads;
  readonly taggedBy: string | undefined;
  readonly writeSecrets: (address: Address) => boolean;
  readonly ignored: (address: Address, path: Pointer) => boolean;
  readonly listUnmanaged?: boolean | undefined;
  readonly maxBodyBytes?: number | undefined;
  /** Lengths below which a list was not cut off, by list name: earlier runs have seen more (records/lists-seen.ts). */
  readonly longestSeen?: Readonly<Record<string, number>>;
  /** Lists to be read and judged whatever the manifests need. */
  readonly alsoNeeded?: readonly ListName[];
}

/** Lengths at which an undocumented page would end (product §3.1). */
const pageSizes = new Set([10, 20, 25, 50, 100, 200, 250, 500, 1000]);

export async function observeAccount(input: ObserveInput): Promise<ObservedAccount> {
  const {
    resources,
    compared,
    bindings,
    recovered,
    fresh,
    reads,
    taggedBy,
    writeSecrets,
    ignored,
    listUnmanaged = false,
    maxBodyBytes,
  } = input;
  const problems: Problem[] = [];
  const suspicions: string[] = [];
  const unreadLists = new Set<ListName>();
  const needed = new Set<ListName>([
    ...(input.alsoNeeded ?? []),
    ...compared.flatMap((resource) => kindNamed(resource.kind)?.lists(resource, { taggedBy }) ?? []),
  ]);

  const list = async <T>(name: ListName, read: () => Promise<Listing<T>>): Promise<readonly T[]> => {
    if (!needed.has(name)) return [];
    try {
      const { items, completeness, why } = await read();
      if (completeness === "short") suspicions.push(why ?? `GET /v1/${name} did not give all that it speaks of.`);
      // Tags and users are never created, so that how many there are decides nothing.
      if (
        name === "integrations" &&
        completeness === "unknown" &&
        pageSizes.has(items.length) &&
        (own(input.longestSeen, name) ?? 0) <= items.length
      )
        suspicions.push(`GET /v1/${name} answered exactly ${items.length} ${name}, which may be one page of more.`);
      return items;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      unreadLists.add(name);
      problems.push(failedRead(error));
      return [];
    }
  };
  const [integrations, tags, users] = await Promise.all([
    list("integrations", reads.integrations),
    list("tags", reads.tags),
    list("users", reads.users),
  ]);

  const goneIds = new Set<string>();
  const unreadIds = new Set<string>();
  const byId = async <T extends { readonly id: string }>(
    name: "integrations" | "tags",
    listed: readonly T[],
    read: (id: string) => Promise<T | undefined>,
  ): Promise<readonly T[]> => {
    if (!needed.has(name) || unreadLists.has(name)) return listed;
    const ids = new Set(
      compared
        .filter(({ kind }) => kindNamed(kind)?.listedIn === name)
        .flatMap((resource) => resource.id ?? bindings.get(resource.address)?.id ?? []),
    );
    const absent = [...ids].filter((id) => !listed.some((item) => item.id === id));
    const found = await Promise.all(
      absent.map(async (id) => {
        try {
          const item = await read(id);
          if (item === undefined) goneIds.add(id);
          else suspicions.push(`GET /v1/${name} leaves out ${id}, which GET /v1/${name}/${id} answers.`);
          return item;
        } catch (error) {
          if (!(error instanceof ServiceError)) throw error;
          unreadIds.add(id);
          problems.push(failedRead(error));
          return undefined;
        }
      }),
    );
    return [...listed, ...found.filter((item) => item !== undefined)];
  };
  const [allIntegrations, allTags] = await Promise.all([
    byId("integrations", integrations, reads.integration),
    byId("tags", tags, reads.tag),
  ]);

  const identities = new Map<Address, Identity>();
  const world: AccountView = {
    resources,
    identities,
    integrations: allIntegrations,
    tags: allTags,
    users,
    goneIds,
    bindings,
    recovered,
    fresh,
    taggedBy,
    writeSecrets,
    ignored,
    listUnmanaged,
    maxBodyBytes,
  };
  for (const kind of kinds)
    for (const resource of resources) {
      if (resource.kind !== kind.name || kind.identify === undefined) continue;
      const unread =
        kind.lists(resource, { taggedBy }).some((name) => unreadLists.has(name)) ||
        unreadIds.has(resource.id ?? bindings.get(resource.address)?.id ?? "");
      const identity: Identity = unread
        ? { state: "blocked", code: "E_READ_FAILED", message: "A read that it needs failed; nothing is concluded from that." }
        : kind.identify(resource, world);
      identities.set(resource.address, identity);
      if (identity.state === "blocked" && identity.code === "E_AMBIGUOUS" && compared.includes(resource))
        problems.push({
          code: identity.code,
          severity: "error",
          summary: "Ambiguous identity",
          message: `${resource.address}: ${identity.message}`,
          place: locationIn(resource, "/metadata/name"),
          address: resource.address,
        });
    }
  problems.push(...sharedIdentities(resources, identities));
  return { world, problems, unreadLists, suspicions, complete: problems.every(({ code }) => code !== "E_READ_FAILED") };
}

/** A read that failed, as what is wrong with the plan: nothing may be concluded from what wasn't read. */
export function failedRead(error: ServiceError, address?: Address): Problem {
  const isBound = error.code === "E_COLUMN_READS";
  return {
    code: isBound ? error.code : "E_READ_FAILED",
    severity: "error",
    summary: isBound ? "Too many column reads" : "A read failed",
    message: `${error.message} The plan is incomplete, and nothing is created because of it.`,
    ...(address === undefined ? {} : { address }),
  };
}

/** Two manifests of a kind that mean one live object would overwrite each other for ever. */
function sharedIdentities(resources: readonly Resource[], identities: ReadonlyMap<Address, Identity>): readonly Problem[] {
  const owner = new Map<string, Resource>();
  const problems: Problem[] = [];
  for (const resource of resources) {
    const identity = identities.get(resource.address);
    if (identity?.state !== "found") continue;
    const key = `${resource.kind} ${identity.id}`;
    const other = owner.get(key);
    if (other === undefined) owner.set(key, resource);
    else
      problems.push({
        code: "E_SHARED_IDENTITY",
        severity: "error",
        summary: "Two manifests mean one object",
        message: `${other.address} and ${resource.address} both mean ${identity.id}. Remove one of them, or pin another id by metadata.id.`,
        place: locationIn(resource, "/metadata/name"),
        address: resource.address,
      });
  }
  return problems;
}
