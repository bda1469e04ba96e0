import type { NaturalKey } from "../model/address.ts";
import type { Intent, Settlement } from "./journal-line.ts";

// What journal lines add up to: the same for the file of one machine and for shared records.

/** A POST whose outcome is not final: interrupted between the two lines, or settled as "unknown" or "answered". */
export interface OpenIntent extends Intent {
  readonly entryId: string;
  /** The id in a response, if there was one and it may not be recorded. */
  readonly answeredId?: string;
}

/** A created object, according to this journal. */
export interface CreatedEntry {
  readonly entryId: string;
  readonly id: string;
  /** As in its intent. */
  readonly naturalKey?: NaturalKey;
}

/** The state that results from the lines of a journal. */
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
