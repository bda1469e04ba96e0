// Every code has a title, and the page has every code.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { titles } from "../../src/core/base/model/titles.ts";

const codes = Object.keys(titles);

/** Every code in the sources. Comments count too: a code that only a comment names is out of date. */
function codesInSources(): ReadonlySet<string> {
  const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith(".ts") && !name.includes(".generated.") && name !== join("core", "model", "titles.ts"),
  );
  return new Set(files.flatMap((file) => readFileSync(join("src", file), "utf8").match(/\b[EWI]_[A-Z][A-Z0-9_]+\b/gu) ?? []));
}

test("every code of the sources has a title, and every title a code", () => {
  expect(codes.toSorted()).toEqual([...codesInSources()].sort());
});

test("the titles are sorted: errors, warnings, notes", () => {
  const key = (code: string): string => "EWI".indexOf(code.slice(0, 1)) + code;
  expect(codes).toEqual(codes.toSorted((a, b) => (key(a) < key(b) ? -1 : 1)));
});

test.each(Object.entries(titles))("the title of %s is one line without a full stop", (_, title) => {
  expect(title).toMatch(/^[A-Z](?:[^.]|\.(?! |$)){3,60}$/u);
});

test("what the page adds is in whole sentences", () => {
  const notes: Readonly<Record<string, string>> = parse(readFileSync("docs/generate/diagnostics.yaml", "utf8"));
  for (const [code, note] of Object.entries(notes)) expect(`${code}: ${note}`).toMatch(/^\w+: (?:[A-Z`]|dimsync ).*\.$/su);
});
