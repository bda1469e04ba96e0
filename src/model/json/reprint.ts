import { colon, isPlain, type JsonForm, newLine, quoted } from "./form.ts";

// The body of a request has a map for each column, most of them with the same few values. Parsing it to print it in another form would make all of these
// maps, which takes several times as long as moving their texts.

/** The place in a text that is read, and the short maps that were read before. */
interface Reader {
  readonly json: string;
  readonly form: JsonForm;
  readonly known: Map<string, { readonly indent: string; readonly printed: string }>;
  at: number;
}

/** The value of `json` in another form. Its lines after the first are indented. `json` is what JSON.stringify returns: it has no white space. */
export const reprinted = (json: string, form: JsonForm, indent: string): string =>
  readValue({ json, form, known: new Map(), at: 0 }, indent);

function readValue(reader: Reader, indent: string): string {
  const { json, at, form } = reader;
  switch (json[at]) {
    case "{":
      return readShort(reader, indent);
    case "[":
      return readList(reader, indent);
    case '"':
      return quoted(readString(reader), form);
    default:
      while (reader.at < json.length && !",]}".includes(json[reader.at] ?? "")) reader.at++;
      return json.slice(at, reader.at);
  }
}

/** A map without maps in it begins and ends with the first brackets. */
function readShort(reader: Reader, indent: string): string {
  const { json, at, known } = reader;
  const end = json.indexOf("}", at) + 1;
  if (end - at > longestShort) return readMap(reader, indent);
  const text = json.slice(at, end);
  const same = known.get(text);
  if (same?.indent === indent) {
    reader.at = end;
    return same.printed;
  }
  const printed = readMap(reader, indent);
  if (reader.at === end && known.size < mostKnown) known.set(text, { indent, printed });
  return printed;
}

const longestShort = 200;
const mostKnown = 1000;

function readMap(reader: Reader, indent: string): string {
  const { json, form } = reader;
  const inner = indent + form.space;
  const members = new Map<string, string>();
  reader.at++;
  while (json[reader.at] !== "}") {
    const key = readString(reader);
    // The colon.
    reader.at++;
    members.set(key, quoted(key, form) + colon(form) + readValue(reader, inner));
    if (json[reader.at] === ",") reader.at++;
  }
  reader.at++;
  const texts = form.inOrder([...members.keys()]).map((key) => members.get(key) ?? "");
  return texts.length === 0 ? "{}" : `{${lines(texts, form, inner)}${newLine(form, indent)}}`;
}

function readList(reader: Reader, indent: string): string {
  const { json, form } = reader;
  const inner = indent + form.space;
  const texts: string[] = [];
  reader.at++;
  while (json[reader.at] !== "]") {
    texts.push(readValue(reader, inner));
    if (json[reader.at] === ",") reader.at++;
  }
  reader.at++;
  return texts.length === 0 ? "[]" : `[${lines(texts, form, inner)}${newLine(form, indent)}]`;
}

function lines(texts: readonly string[], form: JsonForm, indent: string): string {
  const before = newLine(form, indent);
  return before + texts.join(`,${before}`);
}

/** The string at this place, without its escapes. */
function readString(reader: Reader): string {
  const { json, at } = reader;
  let end = json.indexOf('"', at + 1);
  while (isEscaped(json, end)) end = json.indexOf('"', end + 1);
  reader.at = end + 1;
  const text = json.slice(at + 1, end);
  return isPlain(text) ? text : (JSON.parse(json.slice(at, end + 1)) as string);
}

/** Whether an odd number of backslashes is before it. */
function isEscaped(json: string, at: number): boolean {
  let first = at;
  while (json[first - 1] === "\\") first--;
  return (at - first) % 2 === 1;
}
