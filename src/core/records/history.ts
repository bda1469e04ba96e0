import type { Binding, NaturalKey } from "../base/model/address.ts";

/**
 * A POST before it is sent, with everything that is needed to find out later whether the service
 * acted on it. Contains no value of a body.
 */
export interface Intent {
  readonly runId: string;
  readonly address: string;
  readonly kind: string;
  readonly method: string;
  /** Path below the base URL. */
  readonly path: string;
  /** Identifies the created object, as in its item. */
  readonly naturalKey?: NaturalKey;
  /** Made without secrets. */
  readonly bodyDigest: string;
  /** The binding without the id: digests, never values. A create that is recovered later is recorded in the same way. */
  readonly record?: Omit<Binding, "id">;
  /** ISO 8601 */
  readonly at: string;
}

/**
 * "unknown" leaves the intent open: later plans block its address until it is settled. So does
 * "answered": the service returned the id, and the bindings may not contain it yet. "forgotten" means
 * that dimsync no longer manages an object that it created (unbind).
 */
export interface Settlement {
  readonly outcome: "created" | "failed" | "unknown" | "not-created" | "recovered" | "answered" | "forgotten";
  /** The live id, if there is one. */
  readonly id?: string;
  /** Who settled it, if it was not the run itself: for example "resolve". */
  readonly by?: string;
}

/** A POST whose outcome is not final: interrupted between the two lines, or settled as "unknown" or "answered". */
export interface OpenIntent extends Intent {
  readonly entryId: string;
  /** The id in a response, if there was one and it may not be recorded. */
  readonly answeredId?: string;
}

/** A created object. */
export interface CreatedEntry {
  readonly entryId: string;
  readonly id: string;
  /** As in its intent. */
  readonly naturalKey?: NaturalKey;
}

/** Creates, and what became of them. */
export interface History {
  /** By entry id. */
  readonly open: Map<string, OpenIntent>;
  /** By address. */
  readonly created: Map<string, CreatedEntry>;
  /** Ids of created objects that the user unbound. */
  readonly forgotten: Set<string>;
}

/** The object of an entry was unbound: no address refers to it any more. */
function forget({ created, forgotten }: Pick<History, "created" | "forgotten">, entryId: string): void {
  for (const [address, entry] of created)
    if (entry.entryId === entryId) {
      created.delete(address);
      forgotten.add(entry.id);
    }
}

/** The part of an intent that is kept once its object is known to exist. */
export const createdEntry = ({ entryId, naturalKey }: OpenIntent, id: string): CreatedEntry => ({
  entryId,
  id,
  ...(naturalKey === undefined ? {} : { naturalKey }),
});

/** Adds the outcome of an entry. */
export function settleIn({ open, created, forgotten }: History, entryId: string, { outcome, id }: Settlement): void {
  const intent = open.get(entryId);
  if (outcome === "unknown" || outcome === "answered") {
    if (intent !== undefined && id !== undefined) open.set(entryId, { ...intent, answeredId: id });
    return;
  }
  open.delete(entryId);
  if (intent !== undefined && id !== undefined && (outcome === "created" || outcome === "recovered"))
    created.set(intent.address, createdEntry(intent, id));
  if (outcome === "forgotten") forget({ created, forgotten }, entryId);
}
