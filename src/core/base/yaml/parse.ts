import {
  type AliasEvent,
  COLLECTION_STYLE,
  EVENT_ID,
  type Event,
  getScalarValue,
  type MappingEvent,
  parseEvents,
  SCALAR_STYLE,
  type ScalarEvent,
  YAMLException,
} from "js-yaml";
import { setOwn } from "../model/json/json.ts";
import { deepestNesting } from "../model/json/parse.ts";
import { addAll } from "../model/maps.ts";
import { lineAndColumn, lineStartsOf } from "../text/file-text.ts";
import { type DocumentRange, documentRanges } from "./document-ranges.ts";
import { aliasProblem, duplicateKeyProblem, missingSeparatorProblem, syntaxProblem, tooDeep, type YamlProblem } from "./problems.ts";
import {
  disputeBeforeKey,
  disputeBehindEmpty,
  disputeInFirstLine,
  disputeInFlowMember,
  disputeInGap,
  disputeInMember,
  disputeInName,
  disputeInScalar,
  endOfFlow,
  keyMessage,
  secondDocument,
  syntaxErrorAt,
  tagMessage,
} from "./syntax-errors.ts";

// js-yaml turns a document into a list of events with offsets: scalars, and the beginnings and ends of lists and maps. From them come the
// values here, and the positions in nodes.ts. The values are those of YAML 1.2 core, whatever a %YAML line says, and keys are their
// source text (`1.0`, `~` and `true` are names).

/** A document that has been read. */
interface ParsedDocument {
  /** Null if nothing is written, and if there are problems. */
  readonly value: unknown;
  readonly problems: readonly YamlProblem[];
  /** Certainly JSON without references (`${…}`, `$secret`), and without aliases, numbers and characters that JSON cannot hold. */
  readonly isInert: boolean;
}

/** The events of a document: none if nothing is written. Throws YAMLException. */
const eventsOf = (document: string): readonly Event[] =>
  // A level takes at most one call more than itself: a collection that could be a key is read as one first.
  parseEvents(document, { maxDepth: deepestNesting + 2 });

/** A document whose values are being read. */
interface Reading {
  readonly text: string;
  readonly start: number;
  readonly index: number;
  /** Of the document alone, whose offsets the events have. */
  readonly source: string;
  readonly events: readonly Event[];
  /** Index of the next event. */
  at: number;
  depth: number;
  /** The values behind anchors so far; undefined: the value is not complete. */
  readonly anchors: Map<string, { readonly value: unknown; readonly size: number } | undefined>;
  /** The number of values, with those that aliases repeat. */
  size: number;
  hasUnusualNumber: boolean;
  /** Where the last scalar, alias or flow collection ended; only kept if there may be comments in the first column or behind a tab. */
  end: number;
  readonly hasOuterComments: boolean;
  /** The number of flow collections around. */
  flowDepth: number;
  readonly problems: YamlProblem[];
  readonly duplicates: Duplicate[];
}

/** Offsets in the document of a key and of the first one of that name in its map. */
interface Duplicate {
  readonly offset: number;
  readonly first: number;
  readonly name: string;
  readonly isAtTop: boolean;
}

/** How many values the aliases of a document may repeat. It bounds the work of everything that walks the values. */
const mostRepeated = 1_000_000;

/** Reads the document of that index. Never throws. */
export function parseDocument(text: string, [start, end]: DocumentRange, index: number): ParsedDocument {
  const source = text.slice(start, end);
  let events: readonly Event[];
  try {
    events = eventsOf(source);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    return { value: null, problems: [syntaxErrorAt(error, { text, start, end, index })], isInert: false };
  }
  const reading: Reading = {
    ...{ text, start, index, source, events, at: 1, depth: 0, size: 0, hasUnusualNumber: false },
    ...{
      anchors: new Map(),
      problems: [],
      duplicates: [],
      end: 0,
      hasOuterComments: source.includes("\n#") || source.includes("\t"),
      flowDepth: 0,
    },
  };
  report(reading, disputeInFirstLine(source));
  const content = next(reading);
  const value = content === undefined || content.type === EVENT_ID.POP ? null : valueAt(reading, content);
  const second = events.slice(reading.at).findIndex(({ type }) => type === EVENT_ID.DOCUMENT);
  const behind = second < 0 ? undefined : events[reading.at + second + 1];
  if (behind !== undefined) report(reading, { offset: Math.max(startOf(behind), 0), message: secondDocument });
  const problems = [...reading.problems, ...duplicateProblems(reading)].sort((a, b) => a.offset - b.offset);
  const isInert = !reading.hasUnusualNumber && reading.anchors.size === 0 && !/[$\\]/u.test(source);
  return { value: problems.length > 0 ? null : value, problems, isInert };
}

const next = (reading: Reading): Event | undefined => reading.events[reading.at++];

/** Where the content of a list, a map or a scalar begins, or an alias. */
export function startOf(event: Event): number {
  if (event.type === EVENT_ID.SCALAR) return event.valueStart - (isQuoted(event) ? 1 : 0);
  if (event.type === EVENT_ID.ALIAS) return event.anchorStart - 1;
  return "start" in event ? event.start : 0;
}

export const isQuoted = ({ style }: ScalarEvent): boolean => style === SCALAR_STYLE.DOUBLE_QUOTED || style === SCALAR_STYLE.SINGLE_QUOTED;

/** The text of a scalar as written, without quotes and with its escapes and line breaks resolved. */
export const textOf = (source: string, event: ScalarEvent): string =>
  event.fast ? source.slice(event.valueStart, event.valueEnd) : getScalarValue(source, event);

function valueAt(reading: Reading, event: Event): unknown {
  reading.size += 1;
  if (event.type === EVENT_ID.POP || event.type === EVENT_ID.DOCUMENT) return null;
  if (reading.hasOuterComments) checkGap(reading, event);
  if (event.type === EVENT_ID.ALIAS) return aliased(reading, event);
  if (event.tagStart >= 0) report(reading, { offset: event.tagStart, message: tagMessage });
  if (event.anchorStart < 0) return contentOf(reading, event);
  const name = nameOf(reading, event);
  const before = reading.size;
  reading.anchors.set(name, undefined);
  const value = contentOf(reading, event);
  reading.anchors.set(name, { value, size: reading.size - before + 1 });
  return value;
}

function checkGap(reading: Reading, event: Exclude<Event, { readonly type: 1 | 6 }>): void {
  const isScalar = event.type === EVENT_ID.SCALAR || event.type === EVENT_ID.ALIAS;
  const isFlow = !isScalar && event.style === COLLECTION_STYLE.FLOW;
  const start = startOf(event);
  if (start < 0 || !(isScalar || isFlow)) return;
  if (reading.depth > 0 || reading.flowDepth > 0) report(reading, disputeInGap(reading.source, reading.end, start));
  reading.end = endOf(event);
}

/** Where a scalar or an alias ends; of a flow collection, where its content begins. */
const endOf = (event: Exclude<Event, { readonly type: 1 | 6 }>): number =>
  event.type === EVENT_ID.SCALAR
    ? event.valueEnd + (isQuoted(event) ? 1 : 0)
    : event.type === EVENT_ID.ALIAS
      ? event.anchorEnd
      : event.start + 1;

/** Of an anchor or an alias. */
function nameOf(reading: Reading, { anchorStart, anchorEnd }: { readonly anchorStart: number; readonly anchorEnd: number }): string {
  report(reading, disputeInName(reading.source, anchorStart, anchorEnd));
  return reading.source.slice(anchorStart, anchorEnd);
}

function aliased(reading: Reading, event: AliasEvent): unknown {
  const { anchors, problems, index, source } = reading;
  const name = nameOf(reading, event);
  const anchored = anchors.get(name);
  const offset = reading.start + startOf(event);
  if (anchored === undefined) {
    problems.push(aliasProblem(index, offset, anchors.has(name) ? "circular" : "unresolved"));
    return null;
  }
  const isWithin = reading.size <= source.length + mostRepeated;
  reading.size += anchored.size;
  if (isWithin && reading.size > source.length + mostRepeated) problems.push(aliasProblem(index, offset, "too many"));
  return anchored.value;
}

function contentOf(reading: Reading, event: Exclude<Event, { readonly type: 1 | 5 | 6 }>): unknown {
  if (event.type === EVENT_ID.SCALAR) return scalarOf(reading, event);
  reading.depth += 1;
  if (reading.depth === deepestNesting + 1) reading.problems.push(tooDeep(reading.index, reading.start + event.start));
  const isFlow = event.style === COLLECTION_STYLE.FLOW;
  if (isFlow) reading.flowDepth += 1;
  const value = event.type === EVENT_ID.SEQUENCE ? listOf(reading) : mapOf(reading, event.style);
  reading.depth -= 1;
  if (!isFlow) return value;
  reading.flowDepth -= 1;
  if (!reading.hasOuterComments) return value;
  const end = endOfFlow(reading.source, reading.end);
  report(reading, disputeInGap(reading.source, reading.end, end));
  reading.end = end;
  return value;
}

function scalarOf(reading: Reading, event: ScalarEvent): unknown {
  const text = checkedText(reading, event);
  if (event.style !== SCALAR_STYLE.PLAIN) return text;
  const value = plainValue(text);
  if (typeof value === "number" && !Number.isSafeInteger(value) && (!Number.isFinite(value) || Number.isInteger(value)))
    reading.hasUnusualNumber = true;
  return value;
}

function checkedText(reading: Reading, event: ScalarEvent): string {
  if (!event.fast) report(reading, disputeInScalar(reading.source, event));
  return textOf(reading.source, event);
}

function report({ problems, index, start }: Reading, found: { readonly offset: number; readonly message: string } | undefined): void {
  if (found !== undefined) problems.push(syntaxProblem(index, start + found.offset, found.message));
}

function listOf(reading: Reading): unknown {
  const items: unknown[] = [];
  for (let event = next(reading); event !== undefined && event.type !== EVENT_ID.POP; event = next(reading))
    items.push(valueAt(reading, event));
  return items;
}

function mapOf(reading: Reading, style: MappingEvent["style"]): unknown {
  const map: Record<string, unknown> = {};
  const first = reading.at;
  let hasDuplicates = false;
  let isEmptyBefore = false;
  for (let event = next(reading); event !== undefined && event.type !== EVENT_ID.POP; event = next(reading)) {
    const key = keyOf(reading, event);
    hasDuplicates ||= map[key] !== undefined && Object.hasOwn(map, key);
    const value = next(reading);
    if (value === undefined) break;
    if (style === COLLECTION_STYLE.BLOCK) {
      if (event.type === EVENT_ID.SCALAR) report(reading, disputeInMember(reading.source, event, value));
      if (reading.at > first + 2) report(reading, disputeBeforeKey(reading.source, startOf(event)));
      if (isEmptyBefore && reading.hasOuterComments) report(reading, disputeBehindEmpty(reading.source, startOf(event)));
    } else if (event.type === EVENT_ID.SCALAR) report(reading, disputeInFlowMember(reading.source, endOf(event), value));
    isEmptyBefore = value.type === EVENT_ID.SCALAR && value.valueStart < 0;
    setOwn(map, key, valueAt(reading, value));
  }
  if (hasDuplicates) addAll(reading.duplicates, duplicatesIn(reading, first));
  return map;
}

function keyOf(reading: Reading, event: Event): string {
  if (event.type === EVENT_ID.SCALAR) {
    if (reading.flowDepth > 0 && reading.hasOuterComments) checkGap(reading, event);
    if (event.valueStart >= 0) reading.end = endOf(event);
    const key = checkedText(reading, event);
    if (event.tagStart >= 0) report(reading, { offset: event.tagStart, message: tagMessage });
    if (event.anchorStart >= 0) reading.anchors.set(nameOf(reading, event), { value: key, size: 1 });
    return key;
  }
  report(reading, { offset: startOf(event), message: keyMessage });
  valueAt(reading, event);
  return "";
}

/** Of a map that has just been read, whose events begin at that index. */
function duplicatesIn({ source, events, at, depth }: Reading, begin: number): readonly Duplicate[] {
  const duplicates: Duplicate[] = [];
  const firstByName = new Map<string, number>();
  for (let key = begin; key < at - 1; key = afterNode(events, afterNode(events, key))) {
    const event = events[key];
    if (event?.type !== EVENT_ID.SCALAR) continue;
    const [name, offset] = [textOf(source, event), startOf(event)];
    const first = firstByName.get(name);
    if (first === undefined) firstByName.set(name, offset);
    else duplicates.push({ offset, first, name, isAtTop: depth === 1 });
  }
  return duplicates;
}

/** The index of the event after a scalar, or after a whole list or map. */
function afterNode(events: readonly Event[], begin: number): number {
  let depth = 0;
  for (let at = begin; at < events.length; at++) {
    const type = events[at]?.type;
    if (type === EVENT_ID.SEQUENCE || type === EVENT_ID.MAPPING) depth += 1;
    if (type === EVENT_ID.POP) depth -= 1;
    if (depth === 0) return at + 1;
  }
  return events.length;
}

function duplicateProblems({ text, start, index, duplicates }: Reading): readonly YamlProblem[] {
  if (duplicates.length === 0) return [];
  const lineStarts = lineStartsOf(text);
  const lineOf = (offset: number): number => lineAndColumn(lineStarts, start + offset).line;
  const beginnings = new Set(documentStarts(duplicates.filter(({ isAtTop }) => isAtTop)));
  return duplicates.flatMap((duplicate) => {
    const { offset, first, isAtTop } = duplicate;
    if (beginnings.has(duplicate)) return missingSeparatorProblem(index, start + offset, lineOf(first));
    return isAtTop && beginnings.size > 0 ? [] : duplicateKeyProblem(index, start + offset, lineOf(first));
  });
}

/** The keys at which documents seem to begin without a `---` line: if several keys at the top repeat. */
function documentStarts(duplicates: readonly Duplicate[]): readonly Duplicate[] {
  let names = new Set(duplicates.map(({ name }) => name));
  if (names.size < 2) return [];
  return duplicates.filter(({ name }) => {
    const isStart = names.has(name);
    names = isStart ? new Set([name]) : names.add(name);
    return isStart;
  });
}

/**
 * The value of a plain scalar: YAML 1.2 core, section 10.3.2. Nearly all begin with a letter, and need no pattern.
 */
export function plainValue(text: string): unknown {
  if (text.charCodeAt(0) > digitNine) {
    if (text === "true" || text === "True" || text === "TRUE") return true;
    if (text === "false" || text === "False" || text === "FALSE") return false;
    return text === "null" || text === "~" || text === "Null" || text === "NULL" ? null : text;
  }
  if (text === "") return null;
  if (/^(?:[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|0o[0-7]+|0x[0-9a-fA-F]+)$/u.test(text)) return Number(text);
  if (/^[-+]?\.(?:inf|Inf|INF)$/u.test(text)) return text.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return /^\.(?:nan|NaN|NAN)$/u.test(text) ? Number.NaN : text;
}

const digitNine = 0x39;

/** The content of the scalars in quotes of a text, without those of documents that have a syntax error. */
export const quotedRanges = (text: string): readonly DocumentRange[] =>
  documentRanges(text).flatMap(([start, end]) =>
    (eventsUnlessBroken(text.slice(start, end)) ?? []).flatMap((event) =>
      event.type === EVENT_ID.SCALAR && isQuoted(event) ? [[start + event.valueStart, start + event.valueEnd] as const] : [],
    ),
  );

/** The events of a document; undefined if it has a syntax error. */
export function eventsUnlessBroken(document: string): readonly Event[] | undefined {
  try {
    return eventsOf(document);
  } catch (error) {
    if (error instanceof YAMLException) return undefined;
    throw error;
  }
}
