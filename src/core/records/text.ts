import { type Address, type Binding, byText, parseAddress } from "../base/model/address.ts";
import { canonicalJson } from "../base/model/json/json.ts";
import { parseJson, whyNotJson } from "../base/model/json/parse.ts";
import type { KeptIntegrations, KeptTable } from "../base/model/kept.ts";
import { printableJson } from "../base/text/control-characters.ts";
import { emptyState, sharedId } from "./facts.ts";
import type { CreatedEntry, OpenIntent } from "./history.ts";
import { holderText, toHolder } from "./process-identity.ts";
import { ContentError, count, json, listOf, mapOf, members, oneOf, optional, type Reader, text } from "./readers.ts";
import type { AppliedPlan, Lease, RecordsState, UnlockedRun } from "./records.ts";
import type { AppliedCommit, GivenUp, RememberedValue } from "./remembered.ts";
import type { RecordsContent } from "./shared/store.ts";

// The records of a target as one text: each line is a JSON list that begins with the name of a member and, if the
// member is a map, its keys. Everything that dimsync knows of a target is in it, in this form only: stores keep it,
// `records export` prints it, and `records migrate` copies it. A new member needs an entry in `sections` and nothing else.

/** What the first line says about the text. */
interface TextHead {
  readonly target: string;
  /** Of the store that keeps the text; "" in an export. */
  readonly id: string;
}

const format = 1;
const title = "dimsync records";

// Older ones are dropped.
const keptApplied = 1_000;
const keptUnlocked = 50;
const keptGivenUp = 1_000;

/** Equal content gives equal text. Ids, names and digests of the account are in it, and no secrets. */
export function printRecords({ target, id }: TextHead, { state: { version: _, ...state }, ...content }: RecordsContent): string {
  const values: Readonly<Record<string, unknown>> = { ...state, ...content };
  const lines = sectionNames.flatMap((name) => {
    const { isSorted, parts } = sectionNamed(name);
    const texts = parts(values[name]).map((each) => textOf(name, each));
    // The text does not depend on the order in which things happened.
    return isSorted ? texts.sort(byText) : texts;
  });
  return [JSON.stringify([title, format, { target, id }]), ...lines].map((line) => `${line}\n`).join("");
}

const textOf = (name: string, parts: readonly unknown[]): string => printableJson(canonicalJson([name, ...parts]));

/** Reads what `printRecords` printed. The state has no version. Throws ContentError. */
export function parseRecords(text: string): { readonly head: TextHead; readonly content: RecordsContent } {
  const [first = "", ...lines] = text.split("\n");
  const head = parseHead(listIn(first, placeOf(1)));
  const values: Record<string, unknown> = Object.fromEntries(sectionNames.map((name) => [name, sectionNamed(name).empty()]));
  listsIn(lines).forEach((list, index) => {
    if (list.length > 0) readLine(values, list, () => placeOf(index + 2));
  });
  // Each section has put a value of its type there.
  return { head, content: contentOf(values as unknown as Flat) };
}

function parseHead([found, version, head]: readonly unknown[]): TextHead {
  if (found !== title) throw new ContentError("it is not a text that dimsync wrote");
  if (version !== format)
    throw new ContentError(
      `its format is ${String(version).slice(0, 20)}, and this version of dimsync reads format ${format}; use a newer version`,
    );
  return headMembers(head);
}

const placeOf = (line: number): string => `line ${line}`;

/** The list of each line; an empty one for an empty line. */
function listsIn(lines: readonly string[]): readonly (readonly unknown[])[] {
  try {
    // One call for all lines is much faster than one for each.
    const lists: unknown = parseJson(`[${lines.map((line) => (line === "" ? "[]" : line)).join(",\n")}]`);
    if (Array.isArray(lists) && lists.length === lines.length && lists.every(Array.isArray)) return lists;
  } catch {
    // The line that is not valid is found below.
  }
  return lines.map((line, index) => (line === "" ? [] : listIn(line, placeOf(index + 2))));
}

function listIn(line: string, place: string): readonly unknown[] {
  try {
    const value: unknown = parseJson(line);
    if (Array.isArray(value)) return value;
  } catch (error) {
    throw new ContentError(`${place} ${whyNotJson(error, "is not valid JSON")}`, { cause: error });
  }
  throw new ContentError(`${place} is not a JSON list`);
}

function readLine(values: Record<string, unknown>, [name, ...parts]: readonly unknown[], place: () => string): void {
  if (!isSectionName(name))
    throw new ContentError(`${place()} is ${JSON.stringify(name)}, which this version of dimsync does not know; use a newer version`);
  try {
    values[name] = sectionNamed(name).add(values[name], parts);
  } catch (error) {
    if (!(error instanceof ContentError)) throw error;
    throw new ContentError(`${place()}: ${error.message}`);
  }
}

function contentOf({ epoch, lease, applied, ...state }: Flat): RecordsContent {
  const shared = sharedId(state.bindings);
  if (shared !== undefined) throw new ContentError(`${shared.address} and ${shared.other} are both bound to the id ${shared.id}`);
  return { epoch, lease, applied, state: { ...emptyState, ...state } };
}

// What of a value is kept, when it is read and when it is written.

const address: Reader<Address> = (value) => {
  const found = text(value);
  if (parseAddress(found) === undefined) throw new ContentError(`${JSON.stringify(found.slice(0, 100))} is not an address`);
  return found;
};

const headMembers = members<TextHead>({ target: text, id: text });
const digests = optional(mapOf(text));
const record = members<Omit<Binding, "id">>({ sent: digests, secretVersion: optional(count) });
const binding = members<Binding>({ id: text, sent: digests, secretVersion: optional(count) });
const intentMembers = {
  ...{ runId: text, address: text, kind: text, method: text, path: text, naturalKey: digests, bodyDigest: text },
  record: optional(record),
  at: text,
};
const openIntent = members<OpenIntent>({ entryId: text, ...intentMembers, answeredId: optional(text) });
const createdEntry = members<CreatedEntry>({ entryId: text, id: text, naturalKey: digests });
const appliedPlan = members<AppliedPlan>({ planId: text, runId: text, at: text });
const unlockedRun = members<UnlockedRun>({ runId: text, at: text, graceMs: count });
const commit: Reader<AppliedCommit> = (value) => {
  const found = members<AppliedCommit>({ commit: text, manifestDigest: text, runId: text, at: text })(value);
  // It becomes an argument of git.
  if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/u.test(found.commit)) throw new ContentError("the commit is not an id of a commit");
  return found;
};
const never: Reader<true> = () => {
  throw new ContentError("what is only planned is not recorded");
};
const always: Reader<true> = (value) => {
  if (value !== true) throw new ContentError(`${JSON.stringify(value)} must be true`);
  return value;
};
const keptTable: Reader<KeptTable> = listOf(
  members<KeptTable[number]>({
    as: oneOf(["hashed", "disabled"]),
    by: address,
    since: text,
    columns: optional(listOf(text)),
    among: optional(listOf(text)),
    isPlanned: optional(never),
    isUnseen: optional(always),
  }),
);
const keptIntegrations = members<KeptIntegrations>({
  ids: mapOf(listOf(text)),
  schemas: mapOf(members<KeptIntegrations["schemas"][string]>({ itself: optional(count), names: listOf(text), nodes: listOf(count) })),
});
const givenUp = members<GivenUp>({ what: text, reason: text, at: text });
const notKept = members<RememberedValue>({ wanted: json, live: json, since: text, times: count });

const storedLease = members<Omit<Lease, "holder">>({
  ...{
    token: text,
    runId: text,
    runUrl: optional(text),
    since: text,
    ttlMs: count,
    epoch: count,
    reason: optional(text),
    until: optional(text),
  },
  process: optional(toHolder),
});
const lease: Reader<Lease> = (value) => {
  const found = storedLease(value);
  const { runUrl, reason, until, process } = found;
  return { ...found, runUrl, reason, until, holder: holderText(process) };
};

/** The content in one level. */
type Flat = Omit<RecordsContent, "state"> & Omit<RecordsState, "version">;

/** How a member of the content is written as lines. */
interface Section<T> {
  /** Whether the order of the lines does not matter. */
  readonly isSorted: boolean;
  readonly empty: () => T;
  /** The value with one more line, given without its name. It may be the same value. Throws ContentError. */
  add(value: T, parts: readonly unknown[]): T;
  /** The lines without their name. */
  parts(value: T): readonly (readonly unknown[])[];
}

/** One line, or none. */
const one = <T>(read: Reader<T>, print: (value: T) => unknown = read): Section<T | undefined> => ({
  isSorted: false,
  empty: () => undefined,
  add: (_, [value]) => read(value),
  parts: (value) => (value === undefined ? [] : [[print(value)]]),
});

/** A line for each value. */
const list = <T>(read: Reader<T>, most?: number): Section<T[]> => ({
  isSorted: false,
  empty: () => [],
  add(values, [value]) {
    values.push(read(value));
    return values;
  },
  parts: (values) => (most === undefined ? values : values.slice(-most)).map((value) => [read(value)]),
});

/** A line for each key. */
const map = <T>(key: Reader<string>, read: Reader<T>): Section<Map<string, T>> => ({
  isSorted: true,
  empty: () => new Map(),
  add: (values, [name, value]) => values.set(key(name), read(value)),
  parts: (values) => [...values].map(([name, value]) => [name, read(value)]),
});

/** A line for each key of each address. */
const mapByAddress = <T>(read: Reader<T>): Section<Map<Address, Map<string, T>>> => ({
  isSorted: true,
  empty: () => new Map(),
  add(all, [of, key, value]) {
    const at = address(of);
    return all.set(at, (all.get(at) ?? new Map<string, T>()).set(text(key), read(value)));
  },
  parts: (all) => [...all].flatMap(([of, values]) => [...values].map(([key, value]) => [of, key, read(value)])),
});

/** A line for each table, then for each group of integrations, which name tables by their positions. */
const keptSection: Section<{ readonly tables: KeptTable[]; readonly integrations: KeptIntegrations[] }> = {
  isSorted: false,
  empty: () => ({ tables: [], integrations: [] }),
  add(kept, [name, value]) {
    if (name === "table") kept.tables.push(keptTable(value));
    else kept.integrations.push(keptIntegrations(value));
    return kept;
  },
  parts: ({ tables, integrations }) => [
    ...tables.map((table) => ["table", keptTable(table)]),
    ...integrations.map((one) => ["integrations", keptIntegrations(one)]),
  ],
};

/** In the order of the text. */
const sections: { readonly [K in keyof Flat]-?: Section<Flat[K]> } = {
  epoch: { isSorted: false, empty: () => 0, add: (_, [epoch]) => count(epoch), parts: (epoch) => [[epoch]] },
  lease: one(lease, storedLease),
  unlocked: list(unlockedRun, keptUnlocked),
  open: list(openIntent),
  created: map(address, createdEntry),
  forgotten: { ...list(text), isSorted: true },
  bindings: map(address, binding),
  applied: {
    ...map(text, appliedPlan),
    parts: (plans) =>
      [...plans.values()]
        .sort((a, b) => byText(a.at, b.at))
        .slice(-keptApplied)
        .map((plan) => [plan.planId, appliedPlan(plan)]),
  },
  appliedCommit: one(commit),
  kept: keptSection,
  givenUp: list(givenUp, keptGivenUp),
  covered: mapByAddress(text),
  notKept: mapByAddress(notKept),
};

const sectionNamed = (name: keyof Flat): Section<unknown> => sections[name];

const isSectionName = (name: unknown): name is keyof Flat => typeof name === "string" && Object.hasOwn(sections, name);

const sectionNames = Object.keys(sections) as readonly (keyof Flat)[];
