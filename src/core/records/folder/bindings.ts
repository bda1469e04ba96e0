import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type Address, type Binding, type Bindings, byText, parseAddress } from "../../base/model/address.ts";
import { DimsyncError } from "../../base/model/errors.ts";
import { isObject, own, sameJson } from "../../base/model/json/json.ts";
import { toPointer } from "../../base/model/json/pointer.ts";
import { lineAndColumn } from "../../base/text/file-text.ts";
import { positionsIn } from "../../base/yaml/positions.ts";
import { doubleQuoted, keyYaml } from "../../base/yaml/print.ts";
import { read } from "../../base/yaml/read.ts";
import { sharedId } from "../facts.ts";
import { isErrno, reasonOf, writeAtomic } from "../files/atomic.ts";
import { withFileLock } from "../files/file-lock.ts";
import { ensureStateFolder } from "../state-folder.ts";
import { duplicateBinding } from "../store-errors.ts";

/** The bindings of one target in a file. */
export interface BindingsFile {
  /**
   * A missing file has none. Throws E_BINDINGS_FILE with FILE:LINE:COLUMN if the file is not valid (then it is
   * never written to), and E_DUPLICATE_BINDING.
   */
  readonly read: () => Promise<Bindings>;
  /** Changes the bindings of these addresses in the file as it is now, and writes it whole; undefined removes one. Throws as `read` does, and what Node's calls throw. */
  readonly write: (changes: ReadonlyMap<Address, Binding | undefined>) => Promise<void>;
}

/** A file that is parsed again only if its text has changed. */
export function openBindings(file: string, target: string): BindingsFile {
  let known: BindingsText | undefined;
  const read = async (): Promise<Bindings> => {
    known = await load(file, known);
    return known === undefined ? new Map() : readTarget(known, target);
  };
  return {
    read,
    async write(changes) {
      if (changes.size === 0) return;
      const folder = await ensureStateFolder(dirname(file));
      // Another project may have the same file.
      await withFileLock(join(folder, `${basename(file)}.lock`), async () => {
        const bindings = new Map(await read());
        if ([...changes].every(([address, binding]) => sameJson(bindings.get(address), binding))) return;
        for (const [address, binding] of changes) {
          if (binding === undefined) bindings.delete(address);
          else bindings.set(address, binding);
        }
        refuseDuplicates(bindings, () => file);
        const all = new Map(known?.bindings).set(target, bindings);
        const text = printBindings(all);
        await writeAtomic(file, text, { newMode: 0o600, tempFolder: folder });
        known = { text, file, bindings: all };
      });
    },
  };
}

/** The bindings of each target in the file; empty if there is no file. Throws E_BINDINGS_FILE. */
export const readAllBindings = async (file: string): Promise<readonly Bindings[]> => [
  ...((await load(file, undefined))?.bindings.values() ?? []),
];

/** Reads the file, and parses it if its text is not the `known` one. Undefined if the file does not exist. */
async function load(file: string, known: BindingsText | undefined): Promise<BindingsText | undefined> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if (isErrno(error, "ENOENT")) return undefined;
    throw new DimsyncError(
      "E_BINDINGS_FILE",
      `${file}: The bindings file can't be read: ${reasonOf(error)}. Make it readable, or set \`bindings\` in dimsync.yaml to another file.`,
      {
        cause: error,
      },
    );
  }
  return text === known?.text ? known : parseBindingsText(text, file);
}

// The file is a table: one line per object, sorted, so that git can merge two branches that bound different objects. It is read and written whole.

/** The text of a bindings file that was checked. */
interface BindingsText {
  readonly text: string;
  /** For messages. */
  readonly file: string;
  /** By target. */
  readonly bindings: ReadonlyMap<string, Bindings>;
}

const head = `# Written by dimsync, whole: comments of your own are not kept. Commit it. For each target: the live object of each manifest.
# One line per object, so that git can merge it. Change it with \`dimsync bind\` and \`dimsync unbind\`. Ids and digests, no values.

apiVersion: dimsync/v1
kind: Bindings
`;

/** The text of a file with these bindings, by target. */
export function printBindings(bindings: ReadonlyMap<string, Bindings>): string {
  const lines = sorted(bindings).flatMap(([target, all]) =>
    all.size === 0
      ? []
      : [keyYaml(target, 2), ...sorted(all).map(([address, binding]) => `${keyYaml(address, 4)} ${bindingText(binding)}`)],
  );
  return `${head}${lines.length === 0 ? "targets: {}" : ["targets:", ...lines].join("\n")}\n`;
}

const sorted = <T>(map: Iterable<readonly [string, T]>): readonly (readonly [string, T])[] => [...map].sort(([a], [b]) => byText(a, b));

function bindingText({ id, secretVersion, sent }: Binding): string {
  const digests = sorted(Object.entries(sent ?? {})).map(([pointer, digest]) => `${doubleQuoted(pointer)}: ${doubleQuoted(digest)}`);
  const members = [
    `id: ${doubleQuoted(id)}`,
    ...(secretVersion === undefined ? [] : [`secretVersion: ${secretVersion}`]),
    ...(sent === undefined ? [] : [`sent: ${digests.length === 0 ? "{}" : `{ ${digests.join(", ")} }`}`]),
  ];
  return `{ ${members.join(", ")} }`;
}

const restore = "Restore it from git, or delete it and bind the objects again with `dimsync bind ADDRESS=ID`.";

/** Throws E_BINDINGS_FILE for what is wrong at a path, or at an offset of the text. */
type Fail = (at: Path | number, why: string, whatToDo: string, on?: "key") => never;
type Path = readonly string[];

/** Parses the text of the file `file`. Throws E_BINDINGS_FILE with the position of a problem, in any target. */
export function parseBindingsText(text: string, file: string): BindingsText {
  const fail: Fail = (at, why, whatToDo, on) => {
    const pointer = typeof at === "number" ? `@${at}` : toPointer(at);
    throw new DimsyncError("E_BINDINGS_FILE", `${placeIn(text, file, pointer, on)}: The bindings file cannot be used: ${why}. ${whatToDo}`);
  };
  const conflict = /^(?:<{7}|={7}|>{7}|\|{7})(?=\s|$)/mu.exec(text);
  if (conflict !== null)
    fail(
      conflict.index,
      "it has an unresolved merge conflict",
      "Keep the lines of both sides and delete the lines with the markers. If both sides bind the same address, keep the id that exists in the account.",
    );
  return { text, file, bindings: targetsIn(rootOf(text, fail), fail) };
}

/** The bindings of one target. Throws E_DUPLICATE_BINDING, with the place of the second of two addresses of a kind that have the same id. */
export function readTarget({ text, file, bindings }: BindingsText, target: string): Bindings {
  const found = bindings.get(target) ?? new Map<Address, Binding>();
  refuseDuplicates(found, (address) => placeIn(text, file, toPointer(["targets", target, address]), "key"));
  return found;
}

/** Throws E_DUPLICATE_BINDING, at the place of the second of two addresses of a kind that have the same id. */
function refuseDuplicates(bindings: Bindings, placeOf: (address: Address) => string): void {
  const found = sharedId(bindings);
  if (found !== undefined) throw duplicateBinding(found.address, found.other, found.id, placeOf(found.address));
}

function placeIn(text: string, file: string, pointer: string, on: "key" | "value" = "value"): string {
  const { lineStarts, offsetOf } = positionsIn(text);
  const { line, column } = lineAndColumn(lineStarts, offsetOf({ document: 0, pointer, on }) ?? 0);
  return `${file}:${line}:${column}`;
}

function rootOf(text: string, fail: Fail): unknown {
  const { documents, problems } = read(text);
  const [problem] = problems;
  if (problem !== undefined) fail(problem.offset, `it is not valid YAML: ${problem.message.replace(/\.$/u, "")}`, restore);
  const [document, second] = documents;
  // An empty file is not "no bindings": a truncated file must not make objects look as if they were never created.
  if (document === undefined) return fail(0, "it is empty", restore);
  if (second !== undefined || document.index > 0) fail(0, "it has multiple documents", restore);
  return document.value;
}

function targetsIn(root: unknown, fail: Fail): ReadonlyMap<string, Bindings> {
  const { apiVersion, kind, targets } = membersOf(root, [], { known: ["apiVersion", "kind", "targets"], fail });
  if (apiVersion !== "dimsync/v1") fail(["apiVersion"], "its apiVersion is not dimsync/v1", "Use the version of dimsync that wrote it.");
  if (kind !== "Bindings") fail(["kind"], "its kind is not Bindings", restore);
  if (targets === undefined || targets === null) return new Map();
  if (!isObject(targets)) return fail(["targets"], "`targets` must be a map", restore);
  return new Map(Object.entries(targets).map(([target, lines]) => [target, bindingsIn(lines, ["targets", target], fail)]));
}

function bindingsIn(lines: unknown, path: Path, fail: Fail): Bindings {
  if (lines === null) return new Map();
  if (!isObject(lines)) return fail(path, "a target must be a map of addresses", restore);
  return new Map(Object.entries(lines).map(([address, binding]) => [address, bindingIn(binding, [...path, address], fail)]));
}

function bindingIn(line: unknown, path: Path, fail: Fail): Binding {
  if (parseAddress(path.at(-1) ?? "") === undefined)
    fail(path, "this is not an address such as Integration/orders", "Correct or delete the line.", "key");
  if (!isObject(line)) return fail(path, "an address must have a map with an id", 'Write { id: "…" } after it, or delete the line.');
  const { id, secretVersion, sent } = membersOf(line, path, { known: ["id", "secretVersion", "sent"], fail });
  if (typeof id !== "string" || id === "") return fail([...path, "id"], "an id is missing or not a string", "Put the id in quotes.");
  if (secretVersion !== undefined && !isInteger(secretVersion))
    return fail([...path, "secretVersion"], "a secretVersion must be an integer", restore);
  return {
    id,
    ...(secretVersion === undefined ? {} : { secretVersion }),
    ...(sent === undefined ? {} : { sent: digestsIn(sent, [...path, "sent"], fail) }),
  };
}

const isInteger = (value: unknown): value is number => Number.isSafeInteger(value);

function digestsIn(sent: unknown, path: Path, fail: Fail): Readonly<Record<string, string>> {
  if (!isObject(sent)) return fail(path, "`sent` must be a map of digests", restore);
  for (const [pointer, digest] of Object.entries(sent))
    if (typeof digest !== "string") fail([...path, pointer], "a digest must be a string", restore);
  return sent as Readonly<Record<string, string>>; // each member was checked
}

/** The members of a map. One that is not known would be lost when the file is written, so it is refused. */
function membersOf(
  map: unknown,
  path: Path,
  { known, fail }: { readonly known: readonly string[]; readonly fail: Fail },
): Readonly<Record<string, unknown>> {
  if (!isObject(map)) return fail(path, "it must be a map", restore);
  for (const name of Object.keys(map))
    if (!known.includes(name))
      fail([...path, name], "this key is not known here", `The keys here are ${known.join(", ")}. Delete the others.`, "key");
  return Object.fromEntries(known.map((name) => [name, own(map, name)]));
}
