import { type Address, toAddress } from "../base/model/address.ts";
import { isObject, memberAt } from "../base/model/json/json.ts";
import { toPointer } from "../base/model/json/pointer.ts";
import { type Manifest, problemIn } from "../base/model/manifest.ts";
import { getOrAdd } from "../base/model/maps.ts";
import { type Locate, type Problem, placeText, problemAt, type SourceLocation } from "../base/model/problem.ts";
import { enumerate } from "../base/text/describe.ts";
import { targetList } from "../base/text/lists.ts";
import { didYouMean, nearest } from "../base/text/suggest.ts";
import { manifestKindNamed } from "../kinds/index.ts";
import type { ReadManifest } from "./manifest.ts";

/**
 * Manifests with the same kind and name: reported at each one after the first, with the location of
 * the first.
 */
export function duplicateProblems(manifests: readonly ReadManifest[], locate: Locate): readonly Problem[] {
  const firstByAddress = new Map<string, ReadManifest>();
  return manifests.flatMap((manifest): readonly Problem[] => {
    const { kind, name, place } = manifest;
    if (kind === undefined || name === undefined) return [];
    const address = toAddress(kind, name);
    const first = firstByAddress.get(address);
    if (first === undefined) {
      firstByAddress.set(address, manifest);
      return [];
    }
    const { file, line } = locate({ ...first.place, pointer: "/metadata/name" });
    const message = `${address} is already declared in ${placeText({ file, line })}. Names must be unique per kind. Rename one of the manifests, or remove it.`;
    return [problemAt({ ...place, pointer: "/metadata/name" }, { code: "E_DUPLICATE_NAME", message, address })];
  });
}

/** Whether a manifest with this name may exist. */
export type MayDeclare = (kind: string, name: string) => boolean;

/**
 * Whether a manifest that was not loaded may declare a name. Its own mistake is reported, and uses of its name are not. If its
 * kind or name is unknown too, any word in its file may be the name. `unread`: the texts of these files.
 */
export function mayDeclare(manifests: readonly ReadManifest[], unread: readonly string[]): MayDeclare {
  const declared = new Set(
    manifests.flatMap(({ kind, name }) => (kind === undefined || name === undefined ? [] : [toAddress(kind, name)])),
  );
  const words = new Set(unread.flatMap((text) => text.match(/[\w.-]+/gu) ?? []));
  return (kind, name) => declared.has(toAddress(kind, name)) || words.has(name);
}

/**
 * References to names that no manifest has. A name that the account may have is reported only if a
 * similar one is declared.
 */
export function referenceProblems(
  manifests: readonly Manifest[],
  written: readonly ReadManifest[],
  {
    isDeclared,
    elsewhere,
    locate,
  }: { readonly isDeclared: MayDeclare; readonly elsewhere: readonly ElsewhereManifest[]; readonly locate: Locate },
): readonly Problem[] {
  const others = new Map(elsewhere.map((one) => [one.address, one]));
  const namesByKind = new Map<string, Set<string>>();
  for (const { kind, name } of written) {
    if (kind === undefined || name === undefined) continue;
    getOrAdd(namesByKind, kind, () => new Set()).add(name);
  }
  return manifests.flatMap((manifest) =>
    (manifestKindNamed(manifest.kind)?.references(manifest) ?? []).flatMap((reference): readonly Problem[] => {
      const names = namesByKind.get(reference.kind) ?? new Set();
      if (isDeclared(reference.kind, reference.name)) return [];
      const wanted = toAddress(reference.kind, reference.name);
      const other = others.get(wanted);
      if (other !== undefined) {
        if (reference.isOneOfMany === true) return [];
        const message = `${manifest.address} refers to ${elsewhereText(other, manifest.address, locate)}`;
        return [problemIn(manifest, reference.pointer, { code: "E_UNKNOWN_REFERENCE", message })];
      }
      const similar = nearest(reference.name, names);
      const hint = similar === undefined ? "" : ` Did you mean ${toAddress(reference.kind, similar)}?`;
      if (!reference.orLive) {
        const message = `${manifest.address} refers to ${wanted}, but no manifest has that name.${hint}`;
        return [problemIn(manifest, reference.pointer, { code: "E_UNKNOWN_REFERENCE", message })];
      }
      if (similar === undefined) return [];
      const message = `${manifest.address} refers to ${wanted}. No manifest has that name, but the account may have it.${hint}`;
      return [problemIn(manifest, reference.pointer, { code: "W_REFERENCE_NOT_DECLARED", severity: "warning", message })];
    }),
  );
}

// A manifest with metadata.targets does not exist in other targets: there, only what a reference to it must know is read of it.

/** A manifest of other targets only. */
export interface ElsewhereManifest {
  readonly kind: string;
  readonly name: string;
  readonly address: Address;
  readonly targets: readonly string[];
  readonly place: SourceLocation;
  /** metadata.labels */
  readonly labels: Readonly<Record<string, unknown>>;
  /** The RuleSets that it uses. */
  readonly uses: readonly string[];
}

/** What a document says if it belongs to other targets only. */
export function elsewhereManifest(document: unknown, place: SourceLocation, target: string): ElsewhereManifest | undefined {
  const targets = listedTargets(document);
  const name = memberAt(document, "metadata", "name");
  const kind = memberAt(document, "kind");
  if (targets === undefined || targets.includes(target) || typeof kind !== "string" || typeof name !== "string") return undefined;
  const labels = memberAt(document, "metadata", "labels");
  return { kind, name, address: toAddress(kind, name), targets, place, labels: isObject(labels) ? labels : {}, uses: usedIn(document) };
}

function usedIn(document: unknown): readonly string[] {
  const rules = memberAt(document, "spec", "rules");
  return (Array.isArray(rules) ? rules : []).flatMap((rule: unknown) => {
    const use = memberAt(rule, "use");
    return typeof use === "string" ? [use] : [];
  });
}

/** Names of targets in the metadata that the config does not have: the manifest would silently be in no target. */
export function unknownTargets(document: unknown, place: SourceLocation, all: readonly string[]): readonly Problem[] {
  const id = memberAt(document, "metadata", "id");
  const named = [
    ...(listedTargets(document) ?? []).map((name, index) => ({
      name,
      pointer: toPointer(["metadata", "targets", String(index)]),
      on: "value" as const,
    })),
    ...Object.keys(isObject(id) ? id : {}).map((name) => ({ name, pointer: toPointer(["metadata", "id", name]), on: "key" as const })),
  ];
  return named.flatMap(({ name, pointer, on }) => {
    if (all.includes(name)) return [];
    const message = `There is no target ${JSON.stringify(name)}, so the manifest would not be in it. The targets are ${enumerate(all, "and")}.${didYouMean(name, all)}`;
    return [problemAt({ ...place, pointer, on }, { code: "E_UNKNOWN_TARGET", message })];
  });
}

/** The manifest that a reference names, where it is, and what to do. */
function elsewhereText({ address, targets, place }: ElsewhereManifest, from: Address, locate: Locate): string {
  const { file, line } = locate({ ...place, pointer: "/metadata/targets" });
  return `${address}, which is only in ${targetList(targets)} (${placeText({ file, line })}). Add this target to its metadata.targets, or set metadata.targets: [${targets.join(", ")}] in ${from}, too.`;
}

/** Undefined if there is no such list, or if it has errors, which the schema reports. */
function listedTargets(document: unknown): readonly string[] | undefined {
  const targets = memberAt(document, "metadata", "targets");
  const isList = Array.isArray(targets) && targets.length > 0 && targets.every((name) => typeof name === "string");
  return isList ? (targets as readonly string[]) : undefined;
}
