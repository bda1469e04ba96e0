import type { Address } from "./address.ts";

/** The record of one live object: its id, and digests of what was sent, never a value. */
export interface Binding {
  readonly id: string;
  /** Digest per JSON Pointer of the non-secret members that were last sent or accepted: of an asset's spec, or of an integration's `create`. */
  readonly sent?: Readonly<Record<string, string>>;
  /** An asset's secretVersion at the last send or bind. */
  readonly secretVersion?: number;
}

/** What identifies an object among all others of its kind, before it has an id. */
export type NaturalKey = Readonly<Record<string, string>>;

/** A create of an earlier run, as the journal has it. */
export interface EarlierCreate {
  readonly address: Address;
  /** Absent if the outcome is unknown. */
  readonly id?: string;
  /** Absent in entries that do not have it. */
  readonly naturalKey?: NaturalKey;
}

export type Bindings = ReadonlyMap<Address, Binding>;
