import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { titles } from "../../src/core/model/titles.ts";

const folder = "docs/generate/diagnostics";
type Entry = Readonly<Record<"cause" | "why" | "fix", string>>;
const titleOf = (code: string): string => new Map<string, string>(Object.entries(titles)).get(code) ?? "";

const sections: readonly { readonly section: string; readonly about: string; readonly codes: Readonly<Record<string, Entry>> }[] =
  readdirSync(folder).map((file) => parse(readFileSync(join(folder, file), "utf8")));
const entries = sections.flatMap(({ codes }) => Object.entries(codes));

/** Every code in the sources. Comments count too: a code that only a comment names is out of date. */
function codesInSources(): ReadonlySet<string> {
  const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith(".ts") && !name.includes(".generated.") && name !== join("model", "titles.ts"),
  );
  return new Set(files.flatMap((file) => readFileSync(join("src", file), "utf8").match(/\b[EWI]_[A-Z][A-Z0-9_]+\b/gu) ?? []));
}

test("every code in the sources has an entry, and every entry has a code", () => {
  expect(entries.map(([code]) => code).sort()).toEqual([...codesInSources()].sort());
});

test("each section is sorted by code: errors, warnings, notes", () => {
  const key = (code: string): string => "EWI".indexOf(code.slice(0, 1)) + code.replaceAll("_", " ");
  for (const { codes } of sections) {
    const found = Object.keys(codes);
    expect(found).toEqual(found.toSorted((a, b) => (key(a) < key(b) ? -1 : 1)));
  }
});

test("every code of the sources has a title, and every title a code", () => {
  expect(Object.keys(titles).sort()).toEqual([...codesInSources()].sort());
});

describe.each(entries)("%s", (code, entry) => {
  test("says what it means, why it matters and what to do, in whole sentences", () => {
    expect(Object.keys(entry)).toEqual(["cause", "why", "fix"]);
    expect(titleOf(code)).toMatch(/^[A-Z](?:[^.]|\.(?! |$)){3,60}$/u);
    for (const part of ["cause", "why", "fix"] as const) expect(entry[part].trim()).toMatch(/^(?:[A-Z`]|dimsync ).*\.$/su);
  });
});

test("the page has every title", () => {
  const page = readFileSync("docs/reference/diagnostics.md", "utf8");
  for (const [code] of entries) {
    expect(page).toContain(`### ${code}\n`);
    expect(page).toContain(`**${titleOf(code)}.**`);
  }
});
