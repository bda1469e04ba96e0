import type { Address } from "./address.ts";

/** The record of one live object: its id, and digests of what was sent, never a value. */
export interface Binding {
  readonly id: string;
  /** Digest per JSON Pointer of the non-secret members that were last sent or accepted: of an asset's spec, or of an integration's `create`. */
  readonly sent?: Readonly<Record<string, string>>;
  /** An asset's secretVersion at the last send or bind. */
  readonly secretVersion?: number;
}

export type Bindings = ReadonlyMap<Address, Binding>;
