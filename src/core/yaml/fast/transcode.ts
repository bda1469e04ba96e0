import { maxAliasCount } from "../parse.ts";
import { byte, type JsonBuffer, makeMembers, UnsupportedYaml } from "./buffer.ts";
import { transcodeDocument } from "./document.ts";

/*
 * YAML dominates the time of loading: the library reads 2 MB a second, and the literal trees of a
 * fleet are megabytes. Nearly all manifests use a small part of YAML: block maps and lists, `{ … }`
 * and `[ … ]`, plain or quoted scalars, `|` and `>`, anchors and aliases,
 * comments. This is a one-pass transcoder from that part to JSON text, which JSON.parse reads at
 * full speed. On everything else (tags, plain scalars over several lines in brackets, tabs, numbers in unusual
 * forms, duplicate or empty keys, anything malformed) it stops, and the library reads the text. So
 * it never reports a problem, and its result must equal the library's:
 * test/core/yaml/fast/transcode.test.ts.
 *
 * The position of each value costs almost nothing extra (nodes.ts).
 */

/** One document; the index counts empty ones. */
interface PlainDocument {
  readonly index: number;
  readonly value: unknown;
}

/** One document's JSON. The next one overwrites it. */
interface Transcoded {
  readonly index: number;
  readonly buffer: JsonBuffer;
}

/**
 * Characters that the library may treat as line breaks or marks, and lone surrogates, which UTF-8
 * cannot hold.
 */
const unsure = /[\u0085\u2028\u2029\ufeff\p{Surrogate}]/u;

/**
 * Input and JSON of one call after the other: allocating it for each call would cost more than
 * filling it, and untouched pages take no memory. That of a long text is not kept.
 */
let scratch = Buffer.alloc(0);
const keptLength = 32 * 1024 * 1024;

/**
 * The documents of a text, without empty ones; undefined if the fast path does not support the
 * text. Never throws.
 */
export function parsePlainYaml(text: string): readonly PlainDocument[] | undefined {
  const documents: PlainDocument[] = [];
  const stopped = transcode(text, undefined, ({ index, buffer }) => {
    documents.push({ index, value: JSON.parse(jsonText(buffer)) });
  });
  return stopped === undefined ? documents : undefined;
}

/**
 * Calls `take` with the JSON of each document that is not empty. Returns undefined, or the line (from
 * 0) on which there is, or ends, something that the fast path does not support: the caller must then
 * discard what it took. `marks` become the buffer's; the caller empties them between documents.
 */
export function transcode(text: string, marks: number[] | undefined, take: (transcoded: Transcoded) => void): number | undefined {
  const lines = text.includes("\r\n") ? text.replaceAll("\r\n", "\n") : text;
  const size = Buffer.byteLength(lines);
  const isAscii = size === lines.length;
  const unsureAt = isAscii ? -1 : text.search(unsure);
  if (unsureAt >= 0) return lineAt(Buffer.from(text.slice(0, unsureAt)));
  const needed = 6 * (size + 1) + 64;
  if (scratch.length < needed) scratch = Buffer.allocUnsafe(needed);
  scratch.write(lines);
  scratch[size] = byte.lineFeed;
  const [input, json] = [scratch.subarray(0, size + 1), scratch.subarray(size + 1)];
  let buffer = newBuffer({ input, json, isAscii, marks }, 0);
  try {
    for (let index = 0; buffer.at < input.length; index++) {
      if (index > 0) buffer = newBuffer({ input, json, isAscii, marks }, buffer.at);
      transcodeDocument(buffer);
      if (buffer.length > 0) take({ index, buffer });
    }
    return undefined;
  } catch (error) {
    if (error instanceof UnsupportedYaml) return lineAt(input.subarray(0, buffer.at));
    throw error;
  } finally {
    if (scratch.length > keptLength) scratch = Buffer.alloc(0);
  }
}

/** The number of line breaks. */
function lineAt(above: Buffer): number {
  let lines = 0;
  for (let at = above.indexOf(byte.lineFeed); at >= 0; at = above.indexOf(byte.lineFeed, at + 1)) lines += 1;
  return lines;
}

/** Before a document that begins at `at`. No spread: V8 is ten times as fast without one here. */
const newBuffer = ({ input, json, isAscii, marks }: Pick<JsonBuffer, "input" | "json" | "isAscii" | "marks">, at: number): JsonBuffer => ({
  input,
  json,
  isAscii,
  marks,
  at,
  length: 0,
  members: makeMembers(),
  anchors: new Map(),
  copied: 0,
  aliases: 0,
  mostAliases: maxAliasCount - 1,
  lastAlias: -1,
});

/** A part of the JSON, or the whole. */
export function jsonText({ json, length, isAscii }: JsonBuffer, from = 0, to = length): string {
  return json.toString(isAscii ? "latin1" : "utf8", from, to);
}
