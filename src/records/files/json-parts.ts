import { isObject, own } from "../../model/json/json.ts";

// A plan of a fleet can be longer than a string can be (512 MB), and its objects take several times the memory of its text. So the elements of `items` are
// parsed one at a time. Bytes are enough to find where they end: what JSON is made of is ASCII, and UTF-8 has no ASCII inside other characters.

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openMap, closeMap, openList, closeList] = [0x7b, 0x7d, 0x5b, 0x5d];

/**
 * What JSON.parse returns for the bytes, but `keep` is called with each element of the member `items` (of the document, or of each document of a list) and
 * returns what stands for it. Throws as JSON.parse does, and RangeError for an element that is longer than a string can be.
 */
export async function parseParts(chunks: AsyncIterable<Buffer>, keep: (element: unknown) => unknown): Promise<unknown> {
  const kept: unknown[] = [];
  const splitter = newSplitter((element) => kept.push(keep(JSON.parse(element))) - 1);
  for await (const chunk of chunks) splitter.push(chunk);
  // Each list of items has the positions of its elements now.
  const value: unknown = JSON.parse(splitter.rest());
  for (const document of Array.isArray(value) ? (value as readonly unknown[]) : [value])
    if (hasItems(document)) document.items = document.items.map((position) => kept[Number(position)]);
  return value;
}

const hasItems = (value: unknown): value is { items: unknown[] } => isObject(value) && Array.isArray(own(value, "items"));

interface Splitter {
  readonly push: (chunk: Buffer) => void;
  /** The JSON, with what `take` returned in place of each element. */
  readonly rest: () => string;
}

/** Text from parts of several chunks. */
function newText() {
  let parts: Buffer[] = [];
  return {
    add: (part: Buffer) => {
      // A copy: a part would keep its whole chunk in memory.
      if (part.length > 0) parts.push(Buffer.from(part));
    },
    take: (): string => {
      const text = Buffer.concat(parts).toString();
      parts = [];
      return text;
    },
  };
}

function newSplitter(take: (element: string) => number): Splitter {
  const rest = newText();
  const element = newText();
  const state = newState();
  const endElement = (): void => {
    const text = element.take();
    if (text.trim() !== "") rest.add(Buffer.from(String(take(text))));
  };
  return {
    push(chunk) {
      let from = 0;
      let isInItems = state.itemsDepth !== undefined;
      for (let at = 0; at < chunk.length; at++) {
        const event = step(state, chunk[at] ?? 0);
        if (event === undefined) continue;
        // The bracket that opens the list is outside; what ends an element is, too.
        const to = event === "opened" ? at + 1 : at;
        (isInItems ? element : rest).add(chunk.subarray(from, to));
        if (isInItems) endElement();
        [from, isInItems] = [to, event === "opened"];
        if (event !== "next") continue;
        rest.add(chunk.subarray(at, at + 1));
        [from, isInItems] = [at + 1, true];
      }
      (isInItems ? element : rest).add(chunk.subarray(from));
    },
    rest: () => {
      // The file ends inside an element.
      if (state.itemsDepth !== undefined) endElement();
      return rest.take();
    },
  };
}

/** The place of the next byte. */
interface State {
  isInString: boolean;
  isEscaped: boolean;
  depth: number;
  isListOfDocuments: boolean;
  /** The depth of the elements inside `items`. */
  itemsDepth: number | undefined;
  /** The last string outside, as far as it can be a key. */
  key: number[];
  /** Whether the next value is that of `items`. */
  isItems: boolean;
}

const newState = (): State => ({
  ...{ isInString: false, isEscaped: false, depth: 0, isListOfDocuments: false },
  ...{ itemsDepth: undefined, key: [], isItems: false },
});

/** What a byte does to `items`: its list begins, an element ends and another follows, or the list ends. */
type Event = "opened" | "next" | "closed";

function step(state: State, byte: number): Event | undefined {
  if (state.isInString) {
    stepInString(state, byte);
    return undefined;
  }
  switch (byte) {
    case quote:
      state.isInString = true;
      if (state.itemsDepth === undefined) [state.key, state.isItems] = [[], false];
      return undefined;
    case colon:
      state.isItems = state.itemsDepth === undefined && state.depth === (state.isListOfDocuments ? 2 : 1) && isKeyOfItems(state.key);
      return undefined;
    case openMap:
    case openList:
      return open(state, byte);
    case comma:
      return state.depth === state.itemsDepth ? "next" : undefined;
    case closeMap:
    case closeList: {
      const isEnd = state.depth === state.itemsDepth;
      if (isEnd) state.itemsDepth = undefined;
      state.depth--;
      return isEnd ? "closed" : undefined;
    }
    default:
      return undefined;
  }
}

function stepInString(state: State, byte: number): void {
  if (state.isEscaped) state.isEscaped = false;
  else if (byte === backslash) state.isEscaped = true;
  else if (byte === quote) state.isInString = false;
  if (state.isInString && state.itemsDepth === undefined && state.key.length < longestKey) state.key.push(byte);
}

function open(state: State, byte: number): Event | undefined {
  if (state.depth === 0) state.isListOfDocuments = byte === openList;
  state.depth++;
  const isList = state.isItems && byte === openList;
  if (isList) state.itemsDepth = state.depth;
  state.isItems = false;
  return isList ? "opened" : undefined;
}

const longestKey = 40;

/** Whether a key is "items", however it is written: "\u0069tems". */
const isKeyOfItems = (bytes: readonly number[]): boolean => {
  try {
    return JSON.parse(`"${Buffer.from(bytes).toString()}"`) === "items";
  } catch {
    return false;
  }
};
