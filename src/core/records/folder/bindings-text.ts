import { type Address, type Binding, type Bindings, parseAddress } from "../../model/address.ts";
import { DimsyncError } from "../../model/errors.ts";
import { emptyRecord } from "../../model/json/json.ts";
import { DeepNesting } from "../../model/json/parse.ts";
import { lineAndColumn, lineStartsOf } from "../../text/lines.ts";
import { type PlainNode, plainNodes } from "../../yaml/fast/nodes.ts";
import { composeDocuments } from "../../yaml/parse.ts";
import { nodeOf } from "../../yaml/positions.ts";
import { sharedId } from "../facts.ts";
import { duplicateBinding } from "../store-errors.ts";

/** The text of a bindings file that was checked. */
export interface BindingsText {
  readonly text: string;
  /** For messages. */
  readonly file: string;
  /** The root of the file, with the positions of all values. */
  readonly root: PlainNode;
  /** By target. */
  readonly bindings: ReadonlyMap<string, Bindings>;
}

/** A file without any binding. */
export const emptyText = `# Written by dimsync; commit it. For each target: the live object of each manifest. Ids and digests, no values.
# One line per object, so that git can merge it. Change it with \`dimsync bind\` and \`dimsync unbind\`.

apiVersion: dimsync/v1
kind: Bindings
targets: {}
`;

/** Parses the text of the file `file`. Throws E_BINDINGS_FILE with the position of a problem, in any target. */
export function parseBindingsText(text: string, file: string): BindingsText {
  const conflict = /^(?:<{7}|={7}|>{7}|\|{7})(?=\s|$)/mu.exec(text);
  if (conflict !== null)
    throw broken(
      placeIn(text, file, conflict.index),
      "it has an unresolved merge conflict",
      "Keep the lines of both sides and delete the lines with the markers. If both sides bind the same address, keep the id that exists in the account.",
    );
  const fail: Fail = (offset, why, whatToDo) => broken(placeIn(text, file, offset), why, whatToDo);
  const root = rootOf(text, fail);
  return { text, file, root, bindings: readTargets(text, root, fail) };
}

/** The bindings of one target. Throws E_DUPLICATE_BINDING if two addresses of a kind have the same id. */
export function readTarget({ text, file, root, bindings }: BindingsText, target: string): Bindings {
  const found = bindings.get(target) ?? new Map<Address, Binding>();
  refuseDuplicates(found, (address) => {
    const lines = memberOf(memberOf(root, "targets")?.node, target)?.node;
    return placeIn(text, file, memberOf(lines, address)?.keyStart ?? 0);
  });
  return found;
}

/** Throws E_DUPLICATE_BINDING, at the place of the second of two addresses of a kind that have the same id. */
export function refuseDuplicates(bindings: Bindings, placeOf: (address: Address) => string): void {
  const found = sharedId(bindings);
  if (found !== undefined) throw duplicateBinding(found.address, found.other, found.id, placeOf(found.address));
}

/** A member of a map. */
export interface Member {
  readonly name: string;
  readonly keyStart: number;
  readonly node: PlainNode;
}

/** Empty for anything but a map. */
export const membersOf = ({ nodes, names, keyStarts }: PlainNode): readonly Member[] =>
  (nodes ?? []).flatMap((node, index) => {
    const name = names?.[index];
    return name === undefined ? [] : [{ name, node, keyStart: keyStarts[index] ?? 0 }];
  });

export function memberOf(map: PlainNode | undefined, name: string): Member | undefined {
  const index = map?.names?.indexOf(name) ?? -1;
  const node = map?.nodes?.[index];
  return node === undefined ? undefined : { name, node, keyStart: map?.keyStarts[index] ?? 0 };
}

type Fail = (offset: number, why: string, whatToDo: string) => DimsyncError;

const restore = "Restore it from git, or delete it and bind the objects again with `dimsync bind ADDRESS=ID`.";

const broken = (place: string, why: string, whatToDo: string): DimsyncError =>
  new DimsyncError("E_BINDINGS_FILE", `${place}: The bindings file cannot be used: ${why}. ${whatToDo}`);

function placeIn(text: string, file: string, offset: number): string {
  const { line, column } = lineAndColumn(lineStartsOf(text), offset);
  return `${file}:${line}:${column}`;
}

/** The only document of the text. The library, which is slow, reads what the fast path does not support, and finds the errors. */
function rootOf(text: string, fail: Fail): PlainNode {
  const root = /^(?:---|\.\.\.|%)/mu.test(text) ? undefined : plainNodes(text)?.get(0);
  if (root !== undefined) return root;
  const [document, second] = compose(text, fail);
  if (second !== undefined) throw fail(second.range[0], "it has multiple documents", restore);
  const [error] = document?.errors ?? [];
  if (error !== undefined) throw fail(error.pos[0], `it is not valid YAML: ${error.message}`, restore);
  // An empty file is not "no bindings": a truncated file must not make objects look as if they were never created.
  if (!document?.contents) throw fail(0, "it is empty", restore);
  const found = nodeOf(document.contents, document);
  checkNode(found, fail);
  return found;
}

function compose(text: string, fail: Fail): ReturnType<typeof composeDocuments> {
  try {
    return composeDocuments(text);
  } catch (error) {
    if (error instanceof DeepNesting) throw fail(error.offset, `it ${error.message}`, restore);
    throw error;
  }
}

/** What the fast path does not support and the library accepts. */
function checkNode(node: PlainNode, fail: Fail): void {
  if (node.target !== undefined)
    throw fail(node.start ?? 0, "it uses an alias, and dimsync sorts and rewrites the lines", "Write the value out.");
  const names = new Set<string>();
  for (const { name, keyStart } of membersOf(node)) {
    if (names.has(name)) throw fail(keyStart, "it is not valid YAML: Map keys must be unique", restore);
    names.add(name);
  }
  for (const child of node.nodes ?? []) checkNode(child, fail);
}

function readTargets(text: string, root: PlainNode, fail: Fail): ReadonlyMap<string, Bindings> {
  if (root.names === undefined) throw fail(root.start ?? 0, "it must be a map", restore);
  const [apiVersion, kind, targets] = ["apiVersion", "kind", "targets"].map((name) => memberOf(root, name));
  if (apiVersion?.node.literal !== "dimsync/v1")
    throw fail(startOf(apiVersion), "its apiVersion is not dimsync/v1", "Use the version of dimsync that wrote it.");
  if (kind?.node.literal !== "Bindings") throw fail(startOf(kind), "its kind is not Bindings", restore);
  if (targets === undefined || isNull(text, targets.node)) return new Map();
  if (targets.node.names === undefined) throw fail(startOf(targets), "`targets` must be a map", restore);
  return new Map(
    membersOf(targets.node).map((target) => {
      if (target.node.names === undefined && !isNull(text, target.node))
        throw fail(startOf(target), "a target must be a map of addresses", restore);
      return [target.name, new Map(membersOf(target.node).map((line) => [line.name, toBinding(line, fail)] as const))] as const;
    }),
  );
}

function toBinding(line: Member, fail: Fail): Binding {
  if (parseAddress(line.name) === undefined)
    throw fail(line.keyStart, "this is not an address such as Integration/orders", "Correct or delete the line.");
  if (line.node.names === undefined)
    throw fail(startOf(line), "an address must have a map with an id", 'Write { id: "…" } after it, or delete the line.');
  const [id, version, sent] = ["id", "secretVersion", "sent"].map((name) => memberOf(line.node, name));
  const [idText, secretVersion] = [id?.node.literal, version?.node.literal];
  if (typeof idText !== "string" || idText === "")
    throw fail(startOf(id ?? line), "an id is missing or not a string", "Put the id in quotes.");
  if (version !== undefined && !(typeof secretVersion === "number" && Number.isSafeInteger(secretVersion)))
    throw fail(startOf(version), "a secretVersion must be an integer", restore);
  return {
    id: idText,
    ...(typeof secretVersion === "number" ? { secretVersion } : {}),
    ...(sent === undefined ? {} : { sent: toDigests(sent, fail) }),
  };
}

function toDigests(sent: Member, fail: Fail): Readonly<Record<string, string>> {
  if (sent.node.names === undefined) throw fail(startOf(sent), "`sent` must be a map of digests", restore);
  const digests = emptyRecord<string>();
  for (const digest of membersOf(sent.node)) {
    if (typeof digest.node.literal !== "string") throw fail(startOf(digest), "a digest must be a string", restore);
    digests[digest.name] = digest.node.literal;
  }
  return digests;
}

/** Where the value of a member is, or should be. */
const startOf = (member: Member | undefined): number =>
  member === undefined ? 0 : (member.node.start ?? member.keyStart + member.name.length + 1);

const isNull = (text: string, { start, end, literal, nodes }: PlainNode): boolean =>
  start === undefined || (literal === undefined && nodes === undefined && /^(?:~|null|Null|NULL)$/u.test(text.slice(start, end)));
