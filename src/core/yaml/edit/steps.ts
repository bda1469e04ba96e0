import { type Alias, type Document, isAlias, isMap, isScalar, isSeq, type Node, visit } from "yaml";
import { emptyRecord, type JsonValue } from "../../model/json/json.ts";
import { getOrAdd } from "../../model/maps.ts";
import { applyEdits, type Edit, type Path } from "../diff.ts";
import { childOf, nodeAt } from "../nodes.ts";
import { escapeReferences, referenceIn } from "../references.ts";

/** An edit that is not possible, and the reason: the end of a sentence. */
export interface Refusal {
  readonly edit: Edit;
  readonly why: string;
}

/** An edit as it is made in the file, and the caller's edits that it makes. */
export interface Step {
  readonly edit: Edit;
  readonly origins: readonly Edit[];
}

/**
 * Turns edits into steps on what is written in the document: new paths become added members, values
 * behind aliases are written out.
 */
export function planSteps(
  edits: readonly Edit[],
  document: Document.Parsed,
): { readonly steps: readonly Step[]; readonly refused: readonly Refusal[] } {
  const refused: Refusal[] = [];
  const steps: Step[] = [];
  const created: Created[] = [];
  const aliases = aliasesIn(document);
  const shared = sharedAnchors(edits, document, aliases);
  for (const edit of edits) {
    const found = follow(edit.path, document, shared);
    if ("why" in found) refused.push({ edit, why: found.why });
    else if (found.missing.length === 0) steps.push({ edit: escaped({ ...edit, path: found.path }), origins: [edit] });
    else if (edit.type === "set") created.push({ ...found, value: escapeReferences(edit.value), origin: edit });
    else refused.push({ edit, why: "there is no such value in the file" });
  }
  // Where an inner and an outer collection end at the same place, the inner one gets its members
  // first.
  const all = [...steps, ...creations(created)].sort((a, b) => b.edit.path.length - a.edit.path.length);
  return { steps: aliases.length === 0 ? all : writeOutAliases(all, document), refused };
}

function escaped(edit: Edit): Edit {
  if (edit.type === "set") return { ...edit, value: escapeReferences(edit.value) };
  if (edit.type === "members") return { ...edit, added: new Map([...edit.added].map(([key, value]) => [key, escapeReferences(value)])) };
  return { ...edit, inserted: new Map([...edit.inserted].map(([at, items]) => [at, items.map(escapeReferences)])) };
}

/**
 * A path as far as it exists, with numbers for positions in lists, and the keys that are missing
 * after it.
 */
interface Followed {
  readonly path: Path;
  readonly missing: Path;
  /** The value at `path` is null or not written. */
  readonly isEmpty: boolean;
}

function follow(path: Path, document: Document.Parsed, shared: ReadonlySet<string>): Followed | { readonly why: string } {
  let node: Node | null = document.contents;
  let isCopy = false;
  const done: (string | number)[] = [];
  for (let depth = 0; ; depth++) {
    const why = obstacleAt(node, isCopy ? none : shared);
    if (why !== undefined) return { why };
    const key = path[depth];
    const isEmpty = node === null || (isScalar(node) && node.value === null);
    if (key === undefined || isEmpty) return { path: done, missing: path.slice(depth), isEmpty };
    if (isAlias(node)) {
      isCopy = true;
      node = node.resolve(document) ?? null;
    }
    if (!isMap(node) && !isSeq(node)) return { why: "the file has a plain value where a map is needed" };
    const child = childOf(node, key);
    if (child === undefined && isSeq(node)) return { why: "the list has no such item" };
    if (child === undefined) return { path: done, missing: path.slice(depth), isEmpty };
    done.push(isSeq(node) ? Number(key) : String(key));
    node = child;
  }
}

const none: ReadonlySet<string> = new Set();

/** Why nothing at or below the node can be edited, if so. */
function obstacleAt(node: Node | null, shared: ReadonlySet<string>): string | undefined {
  if (node !== null && "anchor" in node && node.anchor !== undefined && shared.has(node.anchor))
    return `it is shared by the anchor &${node.anchor}, so other places would change, too`;
  const variable = isScalar(node) && typeof node.value === "string" ? referenceIn(node.value) : undefined;
  return variable === undefined ? undefined : `its value comes from ${variable}; change the variable instead`;
}

function aliasesIn(document: Document.Parsed): readonly Alias[] {
  const aliases: Alias[] = [];
  visit(document, {
    Alias: (_key, alias) => {
      aliases.push(alias);
    },
  });
  return aliases;
}

/** Names of anchors with aliases that the edits leave in place. */
function sharedAnchors(edits: readonly Edit[], document: Document.Parsed, aliases: readonly Alias[]): ReadonlySet<string> {
  if (aliases.length === 0) return none;
  const replaced = new Set(edits.map(({ path }) => nodeAt(document, upToAlias(path, document))));
  return new Set(aliases.flatMap((alias) => (replaced.has(alias) ? [] : [alias.source])));
}

/** The path as far as the first alias on it, or all of it. */
function upToAlias(path: Path, document: Document.Parsed): Path {
  const depth = path.findIndex((_, index) => isAlias(nodeAt(document, path.slice(0, index))));
  return depth === -1 ? path : path.slice(0, depth);
}

interface Created extends Followed {
  readonly value: JsonValue;
  readonly origin: Edit;
}

interface CreatedMembers {
  readonly path: Path;
  readonly isEmpty: boolean;
  readonly origins: Edit[];
  readonly members: Members;
}

/** New values as one step per map that gets members; a map without a value is set. */
function creations(created: readonly Created[]): readonly Step[] {
  const groups = new Map<string, CreatedMembers>();
  for (const { path, missing, isEmpty, value, origin } of created) {
    const group = getOrAdd(groups, JSON.stringify(path), () => ({ path, isEmpty, origins: [], members: new Map() }));
    group.origins.push(origin);
    addMember(group.members, missing, value);
  }
  return [...groups.values()].map(({ path, isEmpty, origins, members }) => ({
    edit: isEmpty
      ? { type: "set", path, value: toJson(members) }
      : {
          type: "members",
          path,
          removed: none,
          before: new Map(),
          added: new Map([...members].map(([key, member]) => [key, toJson(member)])),
        },
    origins,
  }));
}

/** A Map, because any text can be a key. */
type Members = Map<string, Members | { readonly value: JsonValue }>;

function addMember(members: Members, path: Path, value: JsonValue): void {
  const key = String(path[0]);
  if (path.length === 1) members.set(key, { value });
  else {
    const known = members.get(key);
    const inner: Members = known instanceof Map ? known : new Map();
    members.set(key, inner);
    addMember(inner, path.slice(1), value);
  }
}

function toJson(members: Members | { readonly value: JsonValue }): JsonValue {
  if (!(members instanceof Map)) return members.value;
  const map = emptyRecord<JsonValue>();
  for (const [key, member] of members) map[key] = toJson(member);
  return map;
}

/**
 * An edit below an alias would change every place that uses the anchor. The alias is replaced by
 * its value with the edits made.
 */
function writeOutAliases(steps: readonly Step[], document: Document.Parsed): readonly Step[] {
  const groups = new Map<string, { readonly path: Path; readonly alias: Alias; readonly steps: Step[] }>();
  const direct: Step[] = [];
  for (const step of steps) {
    const path = upToAlias(step.edit.path, document);
    const alias = nodeAt(document, path);
    if (!isAlias(alias) || (step.edit.type === "set" && path.length === step.edit.path.length)) {
      direct.push(step);
      continue;
    }
    const group = getOrAdd(groups, JSON.stringify(path), () => ({ path, alias, steps: [] }));
    group.steps.push({ ...step, edit: { ...step.edit, path: step.edit.path.slice(path.length) } });
  }
  const expanded = [...groups.values()].map(({ path, alias, steps: inner }): Step => {
    const value = (alias.resolve(document)?.toJS(document) ?? null) as JsonValue; // YAML's core schema gives JSON
    const edits = inner.map(({ edit }) => edit);
    return { edit: { type: "set", path, value: applyEdits(value, edits) }, origins: inner.flatMap(({ origins }) => origins) };
  });
  return [...direct, ...expanded];
}
