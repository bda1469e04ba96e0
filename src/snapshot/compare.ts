import { readAhead, readSchemas } from "../engine/read-schemas.ts";
import { userRefFor } from "../kinds/users.ts";
import { byText } from "../model/address.ts";
import { emptyRecord, type JsonValue, own } from "../model/json.ts";
import type { LiveIntegration, LiveSchemas, LiveTag, LiveUser } from "../model/live.ts";
import { type Pointer, toPointer } from "../model/pointer.ts";
import type { Reads } from "../model/service.ts";

/** One leaf that two accounts have otherwise; a side that lacks it has no value. */
export interface AccountDifference {
  readonly object: string;
  readonly path: Pointer;
  readonly from?: JsonValue;
  readonly to?: JsonValue;
}

/** Live names by id on both sides. Ids are different in two accounts, so objects are the same by name. */
interface Side {
  readonly integrations: readonly LiveIntegration[];
  readonly tags: readonly LiveTag[];
  readonly users: readonly LiveUser[];
}

/**
 * Where two accounts differ, object by object: integrations with their schemas, and tags, matched by name; ids and times don't count. A name that one
 * account has several times is matched in the order of ids. Two integrations' schemas are held at a time. Throws ServiceError.
 */
export async function* compareAccounts(from: Reads, to: Reads): AsyncGenerator<AccountDifference> {
  const [a, b] = await Promise.all([sideOf(from), sideOf(to)]);
  const integrations = matched(a.integrations, b.integrations);
  const both: { readonly name: string; readonly a: LiveIntegration; readonly b: LiveIntegration }[] = [];
  for (const { name, a: one, b: other } of integrations) {
    const object = `Integration ${name}`;
    if (one === undefined || other === undefined)
      yield { object, path: "", ...(one === undefined ? { to: other?.id ?? "" } : { from: one.id }) };
    else {
      both.push({ name, a: one, b: other });
      yield* leaves(object, integrationShape(one), integrationShape(other));
    }
  }
  const pairs = readAhead(both, 2, (pair) => Promise.all([readSchemas(from, pair.a.id), readSchemas(to, pair.b.id)]));
  for await (const outcome of pairs) {
    if ("error" in outcome) throw outcome.error;
    const [one = {}, other = {}] = outcome.read;
    yield* leaves(`Integration ${outcome.item.name}`, { schemas: schemasShape(one, other) }, { schemas: schemasShape(other, one) });
  }
  for (const { name, a: one, b: other } of matched(a.tags, b.tags)) {
    const object = `Tag ${name}`;
    if (one === undefined || other === undefined)
      yield { object, path: "", ...(one === undefined ? { to: other?.id ?? "" } : { from: one.id }) };
    else yield* leaves(object, tagShape(one, a), tagShape(other, b));
  }
}

async function sideOf(reads: Reads): Promise<Side> {
  const [integrations, tags, users] = await Promise.all([reads.integrations(), reads.tags(), reads.users()]);
  const whole = await Promise.all(tags.items.map(async (tag) => (await reads.tag(tag.id)) ?? tag));
  return { integrations: integrations.items, tags: whole, users: users.items };
}

interface Match<T> {
  readonly name: string;
  readonly a: T | undefined;
  readonly b: T | undefined;
}

function matched<T extends { readonly id: string; readonly name: string }>(from: readonly T[], to: readonly T[]): readonly Match<T>[] {
  const grouped = (items: readonly T[]): ReadonlyMap<string, readonly T[]> => {
    const groups = new Map<string, T[]>();
    for (const item of [...items].sort((a, b) => byText(a.id, b.id))) groups.set(item.name, [...(groups.get(item.name) ?? []), item]);
    return groups;
  };
  const [a, b] = [grouped(from), grouped(to)];
  return [...new Set([...a.keys(), ...b.keys()])].sort(byText).flatMap((name) => {
    const [ones, others] = [a.get(name) ?? [], b.get(name) ?? []];
    const count = Math.max(ones.length, others.length);
    return Array.from(
      { length: count },
      (_, index): Match<T> => ({ name: count === 1 ? name : `${name} #${index + 1}`, a: ones[index], b: others[index] }),
    );
  });
}

type Shape = JsonValue | undefined | { readonly [key: string]: Shape };

const integrationShape = ({ paused, source, destination }: LiveIntegration): Shape => ({
  paused,
  source: { name: source.name, type: source.type },
  destination: { name: destination.name, type: destination.type },
});

/** The other account's schemas say which columns can be compared: those that an answer leaves out are unknown, not absent (interface §4.3). */
function schemasShape(schemas: LiveSchemas, other: LiveSchemas): Shape {
  const shape = emptyRecord<Shape>();
  for (const name of Object.keys(schemas)) {
    const { tables, ...schema } = own(schemas, name) ?? { tables: {} };
    const inShape = emptyRecord<Shape>();
    for (const table of Object.keys(tables)) {
      const { columns, ...entry } = own(tables, table) ?? { enabled: false };
      const counterpart = own(own(other, name)?.tables, table);
      const isKnown = columns !== undefined && (counterpart === undefined || counterpart.columns !== undefined);
      inShape[table] = isKnown ? { ...entry, columns: columns as unknown as Shape } : entry; // columns are JSON; their type only doesn't say so
    }
    shape[name] = { ...schema, tables: inShape };
  }
  return shape;
}

function tagShape(tag: LiveTag, { integrations, users }: Side): Shape {
  const nameOf = (id: string): string => integrations.find((one) => one.id === id)?.name ?? id;
  const person = userRefFor(tag.owner, users);
  const resources: Record<string, true> = Object.create(null) as Record<string, true>;
  for (const { id } of tag.taggedResources ?? []) resources[nameOf(id)] = true;
  return { description: tag.description, owner: typeof person === "object" ? person.user : person, resources };
}

const isMap = (value: Shape): value is { readonly [key: string]: Shape } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A whole subtree that one side lacks is one difference, at its top. */
function* leaves(object: string, from: Shape, to: Shape, path: readonly string[] = []): Generator<AccountDifference> {
  if (isMap(from) && isMap(to)) {
    for (const key of [...new Set([...Object.keys(from), ...Object.keys(to)])].sort(byText))
      yield* leaves(object, own(from, key), own(to, key), [...path, key]);
    return;
  }
  if (from === to) return;
  const shown = (value: Shape): JsonValue | undefined => (isMap(value) ? "present" : (value as JsonValue | undefined));
  const [one, other] = [shown(from), shown(to)];
  yield { object, path: toPointer(path), ...(one === undefined ? {} : { from: one }), ...(other === undefined ? {} : { to: other }) };
}
