import { readAhead, readSchemas, readWhole } from "../engine/reads/read-account.ts";
import { integrations, users } from "../kinds/lists.ts";
import { tags } from "../kinds/tag/list.ts";
import { userRefFor } from "../kinds/users.ts";
import { byText } from "../model/address.ts";
import { emptyRecord, type JsonValue, own } from "../model/json/json.ts";
import { type Pointer, toPointer } from "../model/json/pointer.ts";
import type { LiveIntegration, LiveSchemas, LiveTag, LiveUser } from "../model/live.ts";
import type { Reads } from "../model/service.ts";

/** A leaf that differs between two accounts; absent on the side that does not have it. */
export interface AccountDifference {
  readonly object: string;
  readonly path: Pointer;
  readonly from?: JsonValue;
  readonly to?: JsonValue;
}

/** The lists of one account. */
interface AccountLists {
  readonly integrations: readonly LiveIntegration[];
  readonly tags: readonly LiveTag[];
  readonly users: readonly LiveUser[];
}

/**
 * The differences between two accounts, object by object: integrations with their schemas, and
 * tags. Objects are matched by name, because ids differ between accounts; several objects with one
 * name in the order of their ids. Ids and times are not compared. At most two pairs of schemas are
 * held in memory. Throws ServiceError.
 */
export async function* compareAccounts(from: Reads, to: Reads): AsyncGenerator<AccountDifference> {
  const [a, b] = await Promise.all([readLists(from), readLists(to)]);
  const pairs = pairByName(a.integrations, b.integrations);
  const both: { readonly name: string; readonly a: LiveIntegration; readonly b: LiveIntegration }[] = [];
  for (const { name, a: one, b: other } of pairs) {
    const object = `Integration ${name}`;
    if (one === undefined || other === undefined)
      yield { object, path: "", ...(one === undefined ? { to: other?.id ?? "" } : { from: one.id }) };
    else {
      both.push({ name, a: one, b: other });
      yield* leaves(object, integrationShape(one), integrationShape(other));
    }
  }
  const read = readAhead(both, 2, (pair) => Promise.all([readSchemas(from, pair.a.id), readSchemas(to, pair.b.id)]));
  for await (const outcome of read) {
    if ("error" in outcome) throw outcome.error;
    const [one = {}, other = {}] = outcome.read;
    yield* leaves(`Integration ${outcome.item.name}`, { schemas: schemasShape(one, other) }, { schemas: schemasShape(other, one) });
  }
  for (const { name, a: one, b: other } of pairByName(a.tags, b.tags)) {
    const object = `Tag ${name}`;
    if (one === undefined || other === undefined)
      yield { object, path: "", ...(one === undefined ? { to: other?.id ?? "" } : { from: one.id }) };
    else yield* leaves(object, tagShape(one, a), tagShape(other, b));
  }
}

async function readLists(reads: Reads): Promise<AccountLists> {
  const [ofIntegrations, ofTags, ofUsers] = await Promise.all([reads.list(integrations), reads.list(tags), reads.list(users)]);
  return { integrations: ofIntegrations.items, tags: await readWhole(reads, tags, ofTags.items), users: ofUsers.items };
}

interface Pair<T> {
  readonly name: string;
  readonly a: T | undefined;
  readonly b: T | undefined;
}

function pairByName<T extends { readonly id: string; readonly name: string }>(from: readonly T[], to: readonly T[]): readonly Pair<T>[] {
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
      (_, index): Pair<T> => ({ name: count === 1 ? name : `${name} #${index + 1}`, a: ones[index], b: others[index] }),
    );
  });
}

type Shape = JsonValue | undefined | { readonly [key: string]: Shape };

const integrationShape = ({ paused, source, destination }: LiveIntegration): Shape => ({
  paused,
  source: { name: source.name, type: source.type },
  destination: { name: destination.name, type: destination.type },
});

/** Columns that the other account did not return are left out: they are unknown, not missing. */
function schemasShape(schemas: LiveSchemas, other: LiveSchemas): Shape {
  const shape = emptyRecord<Shape>();
  for (const name of Object.keys(schemas)) {
    const { tables, ...schema } = own(schemas, name) ?? { tables: {} };
    const inShape = emptyRecord<Shape>();
    for (const table of Object.keys(tables)) {
      const { columns, ...entry } = own(tables, table) ?? { enabled: false };
      const counterpart = own(own(other, name)?.tables, table);
      const isKnown = columns !== undefined && (counterpart === undefined || counterpart.columns !== undefined);
      inShape[table] = isKnown ? { ...entry, columns: columns as unknown as Shape } : entry; // columns are JSON, although their type does not say so
    }
    shape[name] = { ...schema, tables: inShape };
  }
  return shape;
}

function tagShape(tag: LiveTag, lists: AccountLists): Shape {
  const nameOf = (id: string): string => lists.integrations.find((one) => one.id === id)?.name ?? id;
  const person = userRefFor(tag.owner, lists.users);
  const resources: Record<string, true> = Object.create(null) as Record<string, true>;
  for (const { id } of tag.taggedResources ?? []) resources[nameOf(id)] = true;
  return { description: tag.description, owner: typeof person === "object" ? person.user : person, resources };
}

const isMap = (value: Shape): value is { readonly [key: string]: Shape } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A subtree that only one side has is one difference, at its root. */
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
