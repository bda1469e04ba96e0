import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

// The style of our texts is in .github/CONTRIBUTING.md, and is reviewed. This table only holds phrases that are
// always wrong in them.

/** The files that are checked, by path. */
const checked: readonly RegExp[] = [
  /^(?:README|CHANGELOG)\.md$/u,
  /^docs\/[^/]+\.md$/u,
  /^docs\/(?:generate\.mjs|generate\/.+|reference\/.+)$/u,
  /^\.github\/[^/]+\.md$/u,
  /^examples\/.+\.(?:md|mjs|ya?ml)$/u,
  /^schema\/.+\.json$/u,
  /^src\/.+(?<!\.generated(?:\.d)?)\.ts$/u,
  /^(?:bench|build)\/.+\.(?:[cm]js|sh|go)$/u,
  /^build\.mjs$/u,
  /^test\/(?!docs\/english).+\.(?:ts|mjs|md)$/u,
];

interface Phrase {
  readonly not: RegExp;
  /** What to write instead. */
  readonly but: string;
  /** A text in which the phrase is found. */
  readonly example: string;
}

const phrases: readonly Phrase[] = [
  { not: /\bsp(?:eaks?|oke|oken|eaking) of\b/iu, but: "matches, covers, applies to", example: "No rule speaks of it." },
  { not: /\b(?:is|are|was|were|be|been) told\b/iu, but: "is reported; dimsync reports", example: "The rest is told at the end." },
  {
    not: /(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|more\b|less\b|different\b)\w+/iu,
    but: "must be a …, is not a …",
    example: "It is no text.",
  },
  { not: /\bmend(?:s|ed|ing)?\b/iu, but: "fix", example: "Mend this first." },
  { not: /\bin clear\b|-in-clear\b/iu, but: "unhashed, readable", example: "copied in clear" },
  { not: /\bthe word of\b|\bon its word\b|\bno word of\b/iu, but: "based on, without a sign", example: "on the word of that list" },
  { not: /\bst(?:ands?|ood) (?:on|in|at) (?:an?|the|its?|this|that)\b/iu, but: "is in, was made from", example: "It stands in the file." },
  { not: /\bstands? in the way\b/iu, but: "prevents, blocks", example: "Nothing stands in the way." },
  { not: /\bkn(?:ows?|ew) (?:no|nothing)\b/iu, but: "does not know", example: "It knows no tags." },
  { not: /\bsa(?:ys?|id) nothing (?:of|about|on)\b/iu, but: "does not mention", example: "It says nothing of columns." },
  { not: /\bis said of\b|\bsays? so of\b/iu, but: "settings for …", example: "what is said of its columns" },
  { not: /\bt(?:ells?|old|elling) (?:of|no|so)\b/iu, but: "reports, shows, returns", example: "It tells of drift." },
  { not: /\bcan(?:'t|not) be had\b/iu, but: "is not available", example: "It cannot be had." },
  { not: /\b(?:is|are|was|were) let be\b|\blets? (?:it|them) be\b/iu, but: "ignores, leaves unchanged", example: "They are let be." },
  { not: /\banew\b/iu, but: "again", example: "looked up anew" },
  { not: /\btime-outs?\b/iu, but: "timeout", example: "after a time-out" },
  {
    not: /(?:^|[.:;] )Where (?:an?|the|it|its|there|nothing|nobody|no|one|both|this|that|something) [^.?|]*, /u,
    but: "If",
    example: "Where an id is missing, ask.",
  },
  {
    not: /\bnobody's business\b|\btakes nothing back\b|\bless is more than nothing\b/iu,
    but: "say it literally",
    example: "It takes nothing back.",
  },
  { not: /\bTo be (?:awaited|called|read|used) /u, but: "Call it …, Await it …", example: "To be called once." },
  { not: /\bbehind (?:its|our|their) backs?\b/iu, but: "outside dimsync", example: "renamed behind our back" },
  { not: /\b(?:product|interface|house),? §/iu, but: "docs/service-interface.md or another page of docs/", example: "see product §3.1" },
];

/** Finds what any of the phrases finds, and perhaps more. Without the flag u it takes a fortieth of the time. */
const anyPhrase = new RegExp(phrases.map(({ not }) => `(?:${not.source})`).join("|"), "i");

const fence = /^ *```(\w*)/u;
const outputLanguages = ["", "text", "console"];

/** The lines of a file in which phrases count: in Markdown without code in backticks, and without blocks that show output. */
function linesOf(path: string, text: string): readonly string[] {
  const lines = text.split("\n");
  if (!path.endsWith(".md")) return lines;
  let language: string | undefined;
  return lines.map((line) => {
    const opened = fence.exec(line)?.[1];
    if (opened !== undefined) language = language === undefined ? opened : undefined;
    if (language !== undefined) return outputLanguages.includes(language) ? "" : line;
    return line.replaceAll(/`[^`]*`/gu, "`…`");
  });
}

/** "file:line: phrase (write: …)" for each phrase in the text. Phrases that run over two lines are found at the first. */
function dialectIn(path: string, text: string): readonly string[] {
  const lines = linesOf(path, text);
  return lines.flatMap((line, index) => {
    const next = lines[index + 1]?.trim().replace(/^(?:\/\/|\*|#) /u, "") ?? "";
    const both = `${line.trimEnd()} ${next}`;
    if (!anyPhrase.test(line) && !anyPhrase.test(both)) return [];
    return phrases.flatMap(({ not, but }) => {
      const found = not.exec(line) ?? not.exec(both);
      const isOfNext = found !== null && !not.test(line) && not.test(next);
      return found === null || isOfNext ? [] : [`${path}:${index + 1}: "${found[0].trim()}" (write: ${but})`];
    });
  });
}

const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "-z"], { encoding: "utf8" })
  .split("\0")
  .filter((path) => checked.some((pattern) => pattern.test(path)) && existsSync(path));

describe("our texts", () => {
  test("there are files to check", () => {
    expect(files).toEqual(expect.arrayContaining(["README.md", "docs/manifests.md", "examples/pii/manifests/policies.yaml"]));
  });

  test("use plain English", () => {
    expect(files.flatMap((path) => dialectIn(path, readFileSync(path, "utf8")))).toEqual([]);
  });
});

describe("the table of phrases", () => {
  test.each(phrases)("$not finds its example", ({ example }) => {
    expect(dialectIn("a.md", example)).not.toEqual([]);
  });

  test("a phrase that runs over two lines is reported once, with its first line", () => {
    expect(dialectIn("a.md", "one\nA rule speaks\nof it.\n")).toEqual(['a.md:2: "speaks of" (write: matches, covers, applies to)']);
  });

  test("code in backticks and output are not checked, comments in other blocks are", () => {
    expect(dialectIn("a.md", "`in clear`\n```text\nin clear\n```\n")).toEqual([]);
    expect(dialectIn("a.md", "```yaml\na: 1 # in clear\n```\n")).toEqual(['a.md:2: "in clear" (write: unhashed, readable)']);
  });
});
