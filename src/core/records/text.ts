import { type Address, type Binding, type Bindings, byText, parseAddress } from "../model/address.ts";
import type { SeenGroup } from "../model/columns.ts";
import { canonicalJson, isObject, setOwn } from "../model/json/json.ts";
import { parseJson, whyNotJson } from "../model/json/parse.ts";
import { printableJson } from "../text/control-characters.ts";
import { emptyState, sharedId } from "./facts.ts";
import type { CreatedEntry, OpenIntent } from "./history.ts";
import { holderText, toHolder } from "./process-identity.ts";
import { ContentError, count, json, listOf, mapOf, members, optional, type Reader, text } from "./readers.ts";
import type { AppliedPlan, Lease, UnlockedRun } from "./records.ts";
import type { AppliedCommit, ByAddress, NotKept, Remembered, SentValue } from "./remembered.ts";
import type { Content } from "./shared/store.ts";

// The records of a target as one text: each line is a JSON list that begins with the name of its section and, if the
// section is a map, its keys. Everything that dimsync knows of a target is in it, in this form only: stores keep it,
// `records export` prints it, and `records migrate` copies it. A new fact needs an entry in `sections` and nothing else.

/** What the first line says about the text. */
export interface TextHead {
  readonly target: string;
  /** Of the store that keeps the text; "" in an export. */
  readonly id: string;
}

const format = 1;
const title = "dimsync records";

// Older ones are dropped.
const keptApplied = 1_000;
const keptUnlocked = 50;

/** Equal content gives equal text. Ids, names and digests of the account are in it, and no secrets. */
export const printRecords = (head: TextHead, content: Content): string =>
  [headLine(head), ...linesBySection(content).flatMap(({ lines }) => lines.map((line) => line.text))].map((line) => `${line}\n`).join("");

/** The first line: a text, or the files of one, begin with it. */
export const headLine = ({ target, id }: TextHead): string => JSON.stringify([title, format, { target, id }]);

/** A line without its line break. */
interface Line {
  readonly key: string;
  readonly text: string;
}

interface SectionLines {
  readonly name: SectionName;
  /** Whether each line has a key of its own, so that their order does not matter. */
  readonly isKeyed: boolean;
  readonly lines: readonly Line[];
}

/** The lines of each section. */
export const linesBySection = (content: Content): readonly SectionLines[] =>
  sectionNames.map((name) => {
    const { isKeyed = false, list } = sectionNamed(name);
    const lines = list(content).map((parts) => lineOf(name, parts));
    // The text does not depend on the order in which things happened.
    return { name, isKeyed, lines: isKeyed ? lines.sort((a, b) => byText(a.text, b.text)) : lines };
  });

/** The lines of values that were read or written before: most of thousands are the same in the next version. */
const known = new WeakMap<object, Line>();

function lineOf(name: SectionName, parts: readonly unknown[], text?: string): Line {
  const value = parts.at(-1);
  const key = parts.length < 2 ? String(value) : parts.slice(0, -1).join("\n");
  const before = isObject(value) ? known.get(value) : undefined;
  if (before?.key === key) return before;
  const line = { key, text: text ?? printableJson(canonicalJson([name, ...parts])) };
  if (isObject(value)) known.set(value, line);
  return line;
}

/** Reads what `printRecords` printed. The state has no version. `placeOf`: names a line in a message. Throws ContentError. */
export function parseRecords(
  text: string,
  placeOf = (line: number): string => `line ${line}`,
): { readonly head: TextHead; readonly content: Content } {
  const [first = "", ...lines] = text.split("\n");
  const head = parseHead(listIn(first, placeOf(1)));
  const content = emptyBuilding();
  for (const [index, list] of listsIn(lines, placeOf).entries()) {
    if (list.length === 0) continue;
    const [name, ...parts] = list;
    const section = readLine(content, name, parts, () => placeOf(index + 2));
    lineOf(section, parts, lines[index]);
  }
  return { head, content: finished(content) };
}

function parseHead([found, version, head]: readonly unknown[]): TextHead {
  if (found !== title) throw new ContentError("it is not a text that dimsync wrote");
  if (version !== format)
    throw new ContentError(
      `its format is ${String(version).slice(0, 20)}, and this version of dimsync reads format ${format}; use a newer version`,
    );
  return headMembers(head);
}

/** The list of each line; an empty one for an empty line. */
function listsIn(lines: readonly string[], placeOf: (line: number) => string): readonly (readonly unknown[])[] {
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

function readLine(content: Building, name: unknown, parts: readonly unknown[], place: () => string): SectionName {
  if (!isSectionName(name))
    throw new ContentError(`${place()} is ${JSON.stringify(name)}, which this version of dimsync does not know; use a newer version`);
  try {
    sectionNamed(name).read(content, parts);
    return name;
  } catch (error) {
    if (!(error instanceof ContentError)) throw error;
    throw new ContentError(`${place()}: ${error.message}`);
  }
}

/** The content while it is read. */
interface Building {
  epoch: number;
  lease: Lease | undefined;
  readonly unlocked: UnlockedRun[];
  readonly applied: Map<string, AppliedPlan>;
  readonly open: OpenIntent[];
  readonly created: Map<Address, CreatedEntry>;
  readonly forgotten: string[];
  readonly bindings: Map<Address, Binding>;
  readonly lists: Record<string, number>;
  columnsAt: string | undefined;
  readonly groups: SeenGroup[];
  commit: AppliedCommit | undefined;
  readonly covered: Map<Address, Map<string, string>>;
  readonly notKept: Map<Address, Map<string, NotKept>>;
  readonly cursors: Map<Address, Map<string, string>>;
  readonly sentValues: Map<Address, Map<string, SentValue>>;
}

const emptyBuilding = (): Building => ({
  ...{ epoch: 0, lease: undefined, unlocked: [], applied: new Map(), open: [], created: new Map(), forgotten: [], bindings: new Map() },
  ...{ lists: {}, columnsAt: undefined, groups: [], commit: undefined },
  ...{ covered: new Map(), notKept: new Map(), cursors: new Map(), sentValues: new Map() },
});

function finished(content: Building): Content {
  const { epoch, lease, applied, lists: longestSeen, columnsAt: at, groups, commit: appliedCommit, ...rest } = content;
  refuseSharedIds(content.bindings);
  const columnsSeen = at === undefined ? undefined : { at, groups };
  return { epoch, lease, applied, state: { ...emptyState, ...rest, longestSeen, columnsSeen, appliedCommit } };
}

function refuseSharedIds(bindings: Bindings): void {
  const found = sharedId(bindings);
  if (found !== undefined) throw new ContentError(`${found.address} and ${found.other} are both bound to the id ${found.id}`);
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
  ...{ record: optional(record), at: text },
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
const group = members<SeenGroup>({ integrations: listOf(text), after: optional(text), schemas: mapOf(mapOf(listOf(text))) });
const notKept = members<NotKept>({ wanted: json, live: json, since: text });
const sentValue = members<SentValue>({ value: json, at: text });

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

interface Section {
  readonly isKeyed?: boolean;
  /** Reads a line without its name. Throws ContentError. */
  readonly read: (content: Building, parts: readonly unknown[]) => void;
  /** The lines without their name. */
  readonly list: (content: Content) => readonly (readonly unknown[])[];
}

/** Values by address and key. */
function valuesOf<T>(
  read: Reader<T>,
  known: (content: Building) => Map<Address, Map<string, T>>,
  all: (state: Remembered) => ByAddress<T>,
): Section {
  return {
    isKeyed: true,
    read(content, [of, key, value]) {
      const [values, at] = [known(content), address(of)];
      values.set(at, (values.get(at) ?? new Map<string, T>()).set(text(key), read(value)));
    },
    list: ({ state }) => [...all(state)].flatMap(([of, values]) => [...values].map(([key, value]) => [of, key, read(value)])),
  };
}

/** In the order of the text. */
const sections = {
  epoch: {
    read: (content, [epoch]) => {
      content.epoch = count(epoch);
    },
    list: ({ epoch }) => [[epoch]],
  },
  lease: {
    read: (content, [value]) => {
      content.lease = lease(value);
    },
    list: ({ lease: held }) => (held === undefined ? [] : [[storedLease(held)]]),
  },
  unlocked: {
    read: (content, [run]) => void content.unlocked.push(unlockedRun(run)),
    list: ({ state }) => state.unlocked.slice(-keptUnlocked).map((run) => [unlockedRun(run)]),
  },
  open: {
    read: (content, [intent]) => void content.open.push(openIntent(intent)),
    list: ({ state }) => state.open.map((intent) => [openIntent(intent)]),
  },
  created: {
    isKeyed: true,
    read: (content, [of, entry]) => void content.created.set(address(of), createdEntry(entry)),
    list: ({ state }) => [...state.created].map(([of, entry]) => [of, createdEntry(entry)]),
  },
  forgotten: {
    isKeyed: true,
    read: (content, [id]) => void content.forgotten.push(text(id)),
    list: ({ state }) => state.forgotten.map((id) => [id]),
  },
  binding: {
    isKeyed: true,
    read: (content, [of, value]) => void content.bindings.set(address(of), binding(value)),
    list: ({ state }) => [...state.bindings].map(([of, value]) => [of, binding(value)]),
  },
  applied: {
    isKeyed: true,
    read: (content, [planId, plan]) => void content.applied.set(text(planId), appliedPlan(plan)),
    list: ({ applied }) =>
      [...applied.values()]
        .sort((a, b) => byText(a.at, b.at))
        .slice(-keptApplied)
        .map((plan) => [plan.planId, appliedPlan(plan)]),
  },
  commit: {
    read: (content, [value]) => {
      content.commit = commit(value);
    },
    list: ({ state: { appliedCommit } }) => (appliedCommit === undefined ? [] : [[commit(appliedCommit)]]),
  },
  list: {
    isKeyed: true,
    read: (content, [name, length]) => setOwn(content.lists, text(name), count(length)),
    list: ({ state }) => Object.entries(state.longestSeen),
  },
  columns: {
    read: (content, [at]) => {
      content.columnsAt = text(at);
    },
    list: ({ state: { columnsSeen } }) => (columnsSeen === undefined ? [] : [[columnsSeen.at]]),
  },
  columnGroup: {
    read: (content, [value]) => void content.groups.push(group(value)),
    list: ({ state }) => (state.columnsSeen?.groups ?? []).map((one) => [group(one)]),
  },
  covered: valuesOf(
    text,
    (content) => content.covered,
    (state) => state.covered,
  ),
  notKept: valuesOf(
    notKept,
    (content) => content.notKept,
    (state) => state.notKept,
  ),
  cursor: valuesOf(
    text,
    (content) => content.cursors,
    (state) => state.cursors,
  ),
  sentValue: valuesOf(
    sentValue,
    (content) => content.sentValues,
    (state) => state.sentValues,
  ),
} as const satisfies Readonly<Record<string, Section>>;

type SectionName = keyof typeof sections;

const sectionNamed = (name: SectionName): Section => sections[name];

const isSectionName = (name: unknown): name is SectionName => typeof name === "string" && Object.hasOwn(sections, name);

const sectionNames = Object.keys(sections) as readonly SectionName[];
