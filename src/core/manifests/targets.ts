import { type Address, toAddress } from "../base/model/address.ts";
import { isObject, memberAt } from "../base/model/json/json.ts";
import { toPointer } from "../base/model/json/pointer.ts";
import { type Locate, type Problem, placeText, problemAt, type SourceLocation } from "../base/model/problem.ts";
import { enumerate } from "../base/text/describe.ts";
import { targetList } from "../base/text/lists.ts";
import { didYouMean } from "../base/text/suggest.ts";

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
export function elsewhereText({ address, targets, place }: ElsewhereManifest, from: Address, locate: Locate): string {
  const { file, line } = locate({ ...place, pointer: "/metadata/targets" });
  return `${address}, which is only in ${targetList(targets)} (${placeText({ file, line })}). Add this target to its metadata.targets, or set metadata.targets: [${targets.join(", ")}] in ${from}, too.`;
}

/** Undefined if there is no such list, or if it has errors, which the schema reports. */
function listedTargets(document: unknown): readonly string[] | undefined {
  const targets = memberAt(document, "metadata", "targets");
  const isList = Array.isArray(targets) && targets.length > 0 && targets.every((name) => typeof name === "string");
  return isList ? (targets as readonly string[]) : undefined;
}
