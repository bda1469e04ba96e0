/**
 * `Kind/name`, for example `Integration/orders`. A schema configuration acts on an integration (`SchemaConfig/shops@orders`), a relation
 * belongs to a tag (`Tag/pii#8f1c`, after `#` the live id of the resource, or its address while there is no id).
 */
export type Address = string;

export const toAddress = (kind: string, name: string): Address => `${kind}/${name}`;

/** The parts of an address; `on` is what follows `@`, `resource` what follows `#`. Undefined if the text is not an address. */
export function parseAddress(
  address: Address,
): { readonly kind: string; readonly name: string; readonly on?: string; readonly resource?: string } | undefined {
  const found = /^([A-Za-z]+)\/([^@#]+)(?:@([^#]*(?:#.*)?)|#(.*))?$/su.exec(address);
  const [, kind, name, on, resource] = found ?? [];
  if (kind === undefined || name === undefined) return undefined;
  return { kind, name, ...(on === undefined ? {} : { on }), ...(resource === undefined ? {} : { resource }) };
}

/** The kind in an address; "" if the text is not an address. */
export const kindOf = (address: Address): string => parseAddress(address)?.kind ?? "";

/** The address of the manifest behind an item: `Tag/pii#8f1c` -> `Tag/pii`, `SchemaConfig/shops@orders` -> `SchemaConfig/shops`. */
export function manifestAddress(address: Address): Address {
  const parts = parseAddress(address);
  return parts === undefined ? address : toAddress(parts.kind, parts.name);
}

/** Whether it is the address of a tag relation, such as `Tag/pii#8f1c`. */
export const isRelation = (address: Address): boolean => parseAddress(address)?.resource !== undefined;

/** Order of code units: the same on every machine, unlike `localeCompare`. */
export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

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
