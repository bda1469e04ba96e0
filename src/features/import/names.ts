import { byText } from "../../core/model/address.ts";
import { freeName } from "../../core/text/free-name.ts";

const maxLength = 60;

/** Names are cut before they are changed, because they can be long: only the beginning is used. */
const readLength = 500;

/** Letters that Unicode does not decompose into one of a-z and a mark. */
const transliterated: Readonly<Record<string, string>> = { ß: "ss", æ: "ae", œ: "oe", ø: "o", đ: "d", ð: "d", ł: "l", þ: "th", ı: "i" };

/** A readable name in [a-z0-9._-] for a live name: `Orders (EU)` -> `orders-eu`. "" if no character is left. */
export function slugOf(text: string): string {
  return text
    .slice(0, readLength)
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/[ßæœøđðłþı]/gu, (letter) => transliterated[letter] ?? "")
    .replaceAll(/[^a-z0-9._]+/gu, "-")
    .slice(0, maxLength)
    .replaceAll(/^[-.]+|[-.]+$/gu, "");
}

/**
 * New manifest names, independent of the order of the list: the slug of the live name. If another
 * object or manifest has it too, the slug of the id follows; if that is taken too, a number.
 * `fallback` replaces an empty slug.
 */
export function nameAll(
  live: readonly { readonly id: string; readonly name: string }[],
  taken: ReadonlySet<string>,
  fallback: string,
): ReadonlyMap<string, string> {
  const wanted = new Map<string, number>();
  for (const { name } of live) wanted.set(slugOf(name), (wanted.get(slugOf(name)) ?? 0) + 1);
  const used = new Set(taken);
  const nameById = new Map<string, string>();
  const give = (id: string, candidate: string): void => {
    const name = freeName(candidate, (one) => used.has(one));
    used.add(name);
    nameById.set(id, name);
  };
  const sorted = [...live].sort((a, b) => byText(a.id, b.id));
  const isPlain = ({ name }: { readonly name: string }): boolean =>
    slugOf(name) !== "" && wanted.get(slugOf(name)) === 1 && !taken.has(slugOf(name));
  for (const one of sorted) if (isPlain(one)) give(one.id, slugOf(one.name));
  for (const one of sorted)
    if (!isPlain(one)) give(one.id, [slugOf(one.name) || fallback, slugOf(one.id)].filter((part) => part !== "").join("-"));
  return nameById;
}
