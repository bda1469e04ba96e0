import { EVENT_ID, type Event, SCALAR_STYLE, type ScalarEvent } from "js-yaml";
import type { DocumentRange } from "./document-ranges.ts";
import { eventsUnlessBroken, isQuoted, plainValue, startOf, textOf } from "./parse.ts";

/** A value and its position: offsets in UTF-16 units. */
export interface PlainNode {
  /** Undefined if nothing is written: the null of a member without a value. */
  readonly start: number | undefined;
  /** Of a scalar. */
  readonly end: number;
  /** Of strings and numbers. */
  readonly literal: string | number | undefined;
  /** Of a list or a map, in the order of the text. */
  readonly nodes: readonly PlainNode[] | undefined;
  /** Of a map, beside `nodes`. */
  readonly names: readonly string[] | undefined;
  /** Of the keys; in a list, where the values begin, or else where the ones before them end. */
  readonly keyStarts: readonly number[];
  /** Of an alias, which has nothing else but its position: the value that it stands for. */
  readonly target?: () => PlainNode;
}

/** A document whose positions are being read. */
interface Reading {
  readonly source: string;
  /** Where it begins in the text. */
  readonly start: number;
  readonly events: readonly Event[];
  /** Index of the next event. */
  at: number;
  readonly anchors: Map<string, PlainNode>;
}

/** The positions in a document: "empty" if nothing is written in it, "broken" if it has a syntax error. */
export function nodesOf(text: string, [start, end]: DocumentRange): PlainNode | "empty" | "broken" {
  const source = text.slice(start, end);
  const events = eventsUnlessBroken(source);
  if (events === undefined) return "broken";
  const reading: Reading = { source, start, events, at: 1, anchors: new Map() };
  const content = next(reading);
  return content === undefined ? "empty" : nodeOf(reading, content, start);
}

const next = (reading: Reading): Event | undefined => reading.events[reading.at++];

const none = { literal: undefined, nodes: undefined, names: undefined, keyStarts: [] };

/** `before`: where the text above the node ends. */
function nodeOf(reading: Reading, event: Event, before: number): PlainNode {
  const { source, start, anchors } = reading;
  if (event.type === EVENT_ID.DOCUMENT || event.type === EVENT_ID.POP) return { ...none, start: undefined, end: before };
  const name = event.anchorStart < 0 ? undefined : source.slice(event.anchorStart, event.anchorEnd);
  if (event.type === EVENT_ID.ALIAS) {
    // As it is now: the anchor may be used again below.
    const target = anchors.get(name ?? "");
    return {
      ...none,
      start: start + startOf(event),
      end: start + event.anchorEnd,
      ...(target === undefined ? {} : { target: () => target }),
    };
  }
  const node = event.type === EVENT_ID.SCALAR ? scalarNode(reading, event, before) : collectionNode(reading, event);
  if (name !== undefined) anchors.set(name, node);
  return node;
}

function scalarNode({ source, start }: Reading, event: ScalarEvent, before: number): PlainNode {
  if (event.valueStart < 0) return { ...none, start: undefined, end: before };
  const text = textOf(source, event);
  const value = event.style === SCALAR_STYLE.PLAIN ? plainValue(text) : text;
  const literal = typeof value === "string" || typeof value === "number" ? value : undefined;
  const isBlock = event.style === SCALAR_STYLE.LITERAL_BLOCK || event.style === SCALAR_STYLE.FOLDED_BLOCK;
  return {
    ...none,
    start: start + (isBlock ? headerStart(source, event) : startOf(event)),
    end: start + event.valueEnd + (isQuoted(event) ? 1 : 0),
    literal,
  };
}

/** Where the `|` or `>` is: its line ends where the text begins. */
function headerStart(source: string, { valueStart }: ScalarEvent): number {
  const line = source.lastIndexOf("\n", valueStart - 2) + 1;
  const header = /(?:^|\s)[|>][-+0-9]*(?:\s+#.*)?\s*$/u.exec(source.slice(line, valueStart));
  return header === null ? valueStart : line + header.index + header[0].search(/[|>]/u);
}

function collectionNode(reading: Reading, { type, start }: Extract<Event, { readonly start: number }>): PlainNode {
  const isMap = type === EVENT_ID.MAPPING;
  const nodes: PlainNode[] = [];
  const names: string[] = [];
  const keyStarts: number[] = [];
  let before = reading.start + start;
  for (let event = next(reading); event !== undefined && event.type !== EVENT_ID.POP; event = next(reading)) {
    let value: Event | undefined = event;
    if (isMap) {
      const key = nodeOf(reading, event, before);
      names.push(event.type === EVENT_ID.SCALAR ? textOf(reading.source, event) : "");
      keyStarts.push(key.start ?? before);
      before = key.end;
      value = next(reading);
    }
    const node = value === undefined ? { ...none, start: undefined, end: before } : nodeOf(reading, value, before);
    nodes.push(node);
    if (!isMap) keyStarts.push(node.start ?? before);
    before = node.end;
  }
  // An anchor at the beginning is that of the first key.
  const from = isMap && reading.source[start] === "&" ? keyStarts[0] : undefined;
  return { start: from ?? reading.start + start, end: before, literal: undefined, nodes, names: isMap ? names : undefined, keyStarts };
}
