import { Document, isMap, isScalar, type Pair, Scalar, visit, YAMLMap } from "yaml";
import { type Address, type Binding, type Bindings, byText, parseAddress } from "../model/address.ts";
import { DimsyncError } from "../model/errors.ts";
import { emptyRecord } from "../model/json/json.ts";
import { DeepNesting } from "../model/json/parse.ts";
import { lineAndColumn, lineStartsOf } from "../text/lines.ts";
import { isPlainScalar } from "../text/plain-scalar.ts";
import { composeDocuments } from "../yaml/parse.ts";

// The syntax tree is changed and printed, not rebuilt from values: comments, other targets and members
// of later versions stay. Each object is one line, and lines are sorted, so that git can merge two
// branches that bound different objects.

/** The bindings file as a checked syntax tree. */
export interface BindingsText {
  readonly tree: Document;
  /** "FILE:LINE:COLUMN" of a node. */
  readonly placeOf: (node: unknown) => string;
}

const header =
  " Written by dimsync; commit it. For each target: the live object of each manifest. Ids and digests, no values.\n" +
  " One line per object, so that git can merge it. Change it with `dimsync bind` and `dimsync unbind`.";

/** A file without any binding. */
export function emptyBindingsText(): BindingsText {
  const tree = new Document({ apiVersion: "dimsync/v1", kind: "Bindings", targets: {} });
  tree.commentBefore = header;
  return { tree, placeOf: () => "" };
}

/** Parses the text of the file `file`. Throws E_BINDINGS_FILE with the position of a problem, in any target. */
export function parseBindingsText(text: string, file: string): BindingsText {
  const conflict = /^(?:<{7}|={7}|>{7}|\|{7})(?=\s|$)/mu.exec(text);
  if (conflict !== null) {
    const line = text.slice(0, conflict.index).split("\n").length;
    throw broken(
      `${file}:${line}:1`,
      "it has an unresolved merge conflict",
      "Keep the lines of both sides and delete the lines with the markers. If both sides bind the same address, keep the id that exists in the account.",
    );
  }
  const lineStarts = lineStartsOf(text);
  const placeAt = (offset: number): string => {
    const { line, column } = lineAndColumn(lineStarts, offset);
    return `${file}:${line}:${column}`;
  };
  const placeOf = (node: unknown): string => {
    const range = typeof node === "object" && node !== null && "range" in node ? node.range : undefined;
    return placeAt(Array.isArray(range) && typeof range[0] === "number" ? range[0] : 0);
  };
  const [tree = new Document(), second] = compose(text, placeAt);
  if (second !== undefined) throw broken(placeAt(second.range[0]), "it has multiple documents", restore);
  const [error] = tree.errors;
  if (error !== undefined) throw broken(placeAt(error.pos[0]), `it is not valid YAML: ${error.message}`, restore);
  visit(tree, {
    Alias(_key, node) {
      throw broken(placeOf(node), "it uses an alias, and dimsync sorts and rewrites the lines", "Write the value out.");
    },
  });
  check(tree, placeOf);
  return { tree, placeOf };
}

/** The bindings of one target. Throws E_DUPLICATE_BINDING if two addresses of a kind have the same id. */
export function readTarget({ tree, placeOf }: BindingsText, target: string): Map<Address, Binding> {
  const lines = targetMap(tree, target)?.items ?? [];
  const bindings = new Map(lines.map((pair) => [keyOf(pair), toBinding(pair.value, placeOf)]));
  refuseDuplicates(bindings, (address) => placeOf(lines.find((pair) => keyOf(pair) === address)?.key));
  return bindings;
}

/** Throws E_DUPLICATE_BINDING at the place of the second of two addresses of a kind that have the same id. */
export function refuseDuplicates(bindings: Bindings, placeOf: (address: Address) => string): void {
  const addressById = new Map<string, Address>();
  for (const [address, { id }] of bindings) {
    const key = JSON.stringify([parseAddress(address)?.kind, id]);
    const other = addressById.get(key);
    if (other !== undefined) throw duplicateBinding(address, other, id, placeOf(address));
    addressById.set(key, address);
  }
}

/** One live object cannot have two manifests. `place` is "FILE:LINE:COLUMN" or the file. */
export const duplicateBinding = (address: Address, other: Address, id: string, place: string): DimsyncError =>
  new DimsyncError(
    "E_DUPLICATE_BINDING",
    `${place}: ${address} and ${other} are both bound to the id ${id}, but one live object cannot have two manifests. Unbind the wrong one.`,
  );

/** Puts the changes into the tree: undefined removes the line. Members that this version does not know stay. */
export function changeTarget({ tree }: BindingsText, target: string, changes: ReadonlyMap<Address, Binding | undefined>): void {
  let lines = targetMap(tree, target);
  for (const [address, binding] of changes) {
    const index = lines?.items.findIndex((pair) => keyOf(pair) === address) ?? -1;
    if (binding === undefined) {
      if (index >= 0) lines?.items.splice(index, 1);
      continue;
    }
    lines ??= addTarget(tree, target);
    const pair = lines.items[index];
    const entry = pair !== undefined && isMap(pair.value) ? pair.value : new YAMLMap<unknown, unknown>(tree.schema);
    entry.flow = true;
    put(tree, entry, "id", text(binding.id));
    put(tree, entry, "secretVersion", binding.secretVersion);
    put(tree, entry, "sent", binding.sent === undefined ? undefined : sentMap(tree, binding.sent));
    if (pair === undefined) lines.items.push(tree.createPair(keyNode(address), entry));
  }
  if (lines !== undefined) sortLines(lines);
  // A map in braces is always one line.
  for (const outer of [tree.contents, tree.get("targets"), lines]) if (isMap(outer)) outer.flow = outer.items.length === 0;
}

/** The text to write. */
export function printBindingsText({ tree }: BindingsText): string {
  return tree.toString({ lineWidth: 0, doubleQuotedMinMultiLineLength: Number.MAX_SAFE_INTEGER, verifyAliasOrder: false });
}

const restore = "Restore it from git, or delete it and bind the objects again with `dimsync bind ADDRESS=ID`.";

function compose(text: string, placeAt: (offset: number) => string): readonly Document.Parsed[] {
  try {
    return composeDocuments(text, { uniqueKeys: true, intAsBigInt: true });
  } catch (error) {
    if (error instanceof DeepNesting) throw broken(placeAt(error.offset), `it ${error.message}`, restore);
    throw error;
  }
}

const broken = (place: string, why: string, whatToDo: string): DimsyncError =>
  new DimsyncError("E_BINDINGS_FILE", `${place}: The bindings file cannot be used: ${why}. ${whatToDo}`);

function check(tree: Document, placeOf: (node: unknown) => string): void {
  const root = tree.contents;
  // An empty file is not "no bindings": a truncated file must not make objects look as if they were never created.
  if (root === null) throw broken(placeOf(undefined), "it is empty", restore);
  if (!isMap(root)) throw broken(placeOf(root), "it must be a map", restore);
  const apiVersion = root.get("apiVersion");
  if (apiVersion !== "dimsync/v1")
    throw broken(placeOf(root.get("apiVersion", true)), "its apiVersion is not dimsync/v1", "Use the version of dimsync that wrote it.");
  if (root.get("kind") !== "Bindings") throw broken(placeOf(root.get("kind", true)), "its kind is not Bindings", restore);
  const targets = root.get("targets", true) ?? undefined;
  if (targets === undefined || isNull(targets)) return;
  if (!isMap(targets)) throw broken(placeOf(targets), "`targets` must be a map", restore);
  for (const { key: targetKey, value: lines } of targets.items) {
    if (isNull(lines)) continue;
    if (!isMap(lines)) throw broken(placeOf(lines ?? targetKey), "a target must be a map of addresses", restore);
    for (const pair of lines.items) {
      if (parseAddress(keyOf(pair)) === undefined)
        throw broken(placeOf(pair.key), "this is not an address such as Integration/orders", "Correct or delete the line.");
      toBinding(pair.value ?? pair.key, placeOf);
    }
  }
}

function toBinding(node: unknown, placeOf: (node: unknown) => string): Binding {
  if (!isMap(node)) throw broken(placeOf(node), "an address must have a map with an id", 'Write { id: "…" } after it, or delete the line.');
  const id = node.get("id");
  if (typeof id !== "string" || id === "")
    throw broken(placeOf(node.get("id", true) ?? node), "an id is missing or not a string", "Put the id in quotes.");
  const version = node.get("secretVersion");
  const secretVersion = typeof version === "bigint" ? Number(version) : version;
  if (secretVersion !== undefined && !Number.isSafeInteger(secretVersion))
    throw broken(placeOf(node.get("secretVersion", true)), "a secretVersion must be an integer", restore);
  const sent = node.get("sent", true) as unknown;
  return {
    id,
    ...(typeof secretVersion === "number" ? { secretVersion } : {}),
    ...(sent === undefined ? {} : { sent: toDigests(sent, placeOf) }),
  };
}

function toDigests(node: unknown, placeOf: (node: unknown) => string): Readonly<Record<string, string>> {
  if (!isMap(node)) throw broken(placeOf(node), "`sent` must be a map of digests", restore);
  const digests = emptyRecord<string>();
  for (const pair of node.items) {
    const digest = isScalar(pair.value) ? pair.value.value : undefined;
    if (typeof digest !== "string") throw broken(placeOf(pair.value ?? pair.key), "a digest must be a string", restore);
    digests[keyOf(pair)] = digest;
  }
  return digests;
}

function targetMap(tree: Document, target: string): YAMLMap | undefined {
  const targets = tree.get("targets");
  const pair = isMap(targets) ? targets.items.find((candidate) => keyOf(candidate) === target) : undefined;
  return pair !== undefined && isMap(pair.value) ? pair.value : undefined;
}

function addTarget(tree: Document, target: string): YAMLMap {
  const found = tree.get("targets");
  const targets = isMap(found) ? found : new YAMLMap(tree.schema);
  if (targets !== found) tree.set("targets", targets);
  const lines = new YAMLMap(tree.schema);
  const pair = targets.items.find((candidate) => keyOf(candidate) === target);
  if (pair === undefined) targets.items.push(tree.createPair(keyNode(target), lines));
  else pair.value = lines;
  sortLines(targets);
  return lines;
}

function sortLines(map: YAMLMap): void {
  // The parser attaches a comment above the first line to the map. It must move with its line.
  const first = map.items[0]?.key;
  if (map.commentBefore && isScalar(first)) {
    first.commentBefore = map.commentBefore;
    map.commentBefore = null;
  }
  map.items.sort((a, b) => byText(keyOf(a), keyOf(b)));
}

function put(tree: Document, entry: YAMLMap, key: string, value: unknown): void {
  if (value === undefined) entry.delete(key);
  else entry.set(key, typeof value === "object" ? value : tree.createNode(value));
}

function sentMap(tree: Document, sent: Readonly<Record<string, string>>): YAMLMap {
  const map = new YAMLMap(tree.schema);
  map.flow = true;
  for (const pointer of Object.keys(sent).sort()) map.items.push(tree.createPair(text(pointer), text(sent[pointer] ?? "")));
  return map;
}

/** Unquoted if every reader takes it for a string. */
const keyNode = (key: string): Scalar<string> => (isPlainScalar(key) ? new Scalar(key) : text(key));

function text(value: string): Scalar<string> {
  const scalar = new Scalar(value);
  scalar.type = Scalar.QUOTE_DOUBLE;
  return scalar;
}

const isNull = (node: unknown): boolean => node === null || (isScalar(node) && node.value === null);

const keyOf = (pair: Pair<unknown, unknown>): string => (isScalar(pair.key) ? String(pair.key.value) : String(pair.key));
