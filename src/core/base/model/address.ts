/**
 * `Kind/name`, for example `Integration/orders`. The schemas of an integration have an address of their own (`Schemas/orders`), a relation
 * belongs to a tag (`Tag/pii#8f1c`, after `#` the live id of the resource, or its address while there is no id).
 */
export type Address = string;

/** The part before `/` of the address of an integration's schemas. No manifest has this kind. */
export const schemasKind = "Schemas";

export const toAddress = (kind: string, name: string): Address => `${kind}/${name}`;

/** The parts of an address; `resource` is what follows `#` in that of a tag relation. Undefined if the text is not an address. */
export function parseAddress(address: Address): { readonly kind: string; readonly name: string; readonly resource?: string } | undefined {
  const [, kind, rest] = /^([A-Za-z]+)\/(.+)$/su.exec(address) ?? [];
  if (kind === undefined || rest === undefined) return undefined;
  // A live name may contain "#"; names of manifests don't.
  const at = kind === schemasKind ? -1 : rest.indexOf("#");
  return at < 1 ? { kind, name: rest } : { kind, name: rest.slice(0, at), resource: rest.slice(at + 1) };
}

/** The kind in an address; "" if the text is not an address. */
export const kindOf = (address: Address): string => parseAddress(address)?.kind ?? "";

/** The integration's name in the address of its schemas: `Schemas/orders` -> "orders". Undefined for other addresses. */
export function integrationOfSchemas(address: Address): string | undefined {
  const parts = parseAddress(address);
  return parts?.kind === schemasKind ? parts.name : undefined;
}

/** The address of the object that the address is, or is a part of: `Tag/pii#8f1c` -> `Tag/pii`. */
export function objectAddress(address: Address): Address {
  const parts = parseAddress(address);
  return parts === undefined ? address : toAddress(parts.kind, parts.name);
}

/** Whether it is the address of a tag relation, such as `Tag/pii#8f1c`. */
export const isRelation = (address: Address): boolean => parseAddress(address)?.resource !== undefined;

/** The pattern without the resource of a relation. */
export const objectPattern = (pattern: string): string => (pattern.startsWith(`${schemasKind}/`) ? pattern : pattern.replace(/#.*$/su, ""));

/** Whether a glob can match an address of the kind: one of its literal beginning and `Kind/` begins with the other. */
export const mayMatchKind =
  (kind: string) =>
  (pattern: string): boolean => {
    const start = pattern.slice(0, /[*?[{!\\]|$/u.exec(pattern)?.index);
    return start.startsWith(`${kind}/`) || `${kind}/`.startsWith(start);
  };

/** Order of code units: the same on every machine, unlike `localeCompare`. */
export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The record of one live object: its id, and digests of what was sent, never a value. */
export interface Binding {
  readonly id: string;
  /** Digest per JSON Pointer of the non-secret members that were last sent or accepted: of an asset's spec, or of an integration's `create` and of `settings` that no read shows. */
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
