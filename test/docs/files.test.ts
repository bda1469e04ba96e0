// Every file and code that a document names exists.
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { expect, test } from "vitest";

const pages = ["docs", ".github"].flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".md"))
    .map((name) => `${folder}/${name}`),
);

/** Paths such as `src/core/plan/plan.ts` or `test/faults/matrix-*.test.ts` in a text that lead to no file. NAME is a placeholder. */
function missingFiles(text: string): readonly string[] {
  const named = text.match(/\b(?:bench|build|docs|examples|schema|src|test)\/[\w./*-]*\.(?:json|mjs|md|ts|yml)\b/gu) ?? [];
  return [...new Set(named)].filter((path) => {
    if (path.includes("NAME")) return false;
    const pattern = new RegExp(`^${basename(path).replaceAll(".", "\\.").replaceAll("*", ".*")}$`, "u");
    return !namesIn(dirname(path)).some((name) => pattern.test(name));
  });
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The text of everything in src/. */
const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => readFileSync(`src/${file}`, "utf8"))
  .join("\n");

test("every file that a comment in src names exists", () => {
  const comments = sources.match(/^\s*(?:\/\/|\/?\*).*$/gmu) ?? [];
  const folders = comments.join("\n").match(/\bsrc\/[\w/-]+(?![\w./*-])/gu) ?? [];
  expect([...missingFiles(comments.join("\n")), ...folders.filter((folder) => namesIn(folder).length === 0)]).toEqual([]);
});

test.each(["README.md", ...pages])("every file that %s names exists", (page) => {
  expect(missingFiles(readFileSync(page, "utf8"))).toEqual([]);
});

/** What looks like a diagnostic code. */
const codesIn = (text: string): readonly string[] => [...new Set(text.match(/\b[EWI]_[A-Z]+(?:_[A-Z]+)*\b/gu) ?? [])];
const known = new Set(codesIn(sources));

test.each(["README.md", ...pages])("every diagnostic code that %s names exists", (page) => {
  expect(codesIn(readFileSync(page, "utf8")).filter((code) => !known.has(code))).toEqual([]);
});
