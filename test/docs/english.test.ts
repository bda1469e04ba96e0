// Our texts have no phrase that is always wrong.
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
}

const phrases: readonly Phrase[] = [
  { not: /\bsp(?:eaks?|oke|oken|eaking) of\b/iu, but: "matches, covers, applies to" },
  { not: /\b(?:is|are|was|were|be|been) told\b/iu, but: "is reported; dimsync reports" },
  {
    not: /(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b|more\b|less\b|different\b)\w+/iu,
    but: "must be a …, is not a …",
  },
  { not: /\bmend(?:s|ed|ing)?\b/iu, but: "fix" },
  { not: /\bin clear\b|-in-clear\b/iu, but: "unhashed, readable" },
  { not: /\bthe word of\b|\bon its word\b|\bno word of\b/iu, but: "based on, without a sign" },
  { not: /\bst(?:ands?|ood) (?:on|in|at) (?:an?|the|its?|this|that)\b/iu, but: "is in, was made from" },
  { not: /\bstands? in the way\b/iu, but: "prevents, blocks" },
  { not: /\bkn(?:ows?|ew) (?:no|nothing)\b/iu, but: "does not know" },
  { not: /\bsa(?:ys?|id) nothing (?:of|about|on)\b/iu, but: "does not mention" },
  { not: /\bis said of\b|\bsays? so of\b/iu, but: "settings for …" },
  { not: /\bt(?:ells?|old|elling) (?:of|no|so)\b/iu, but: "reports, shows, returns" },
  { not: /\bcan(?:'t|not) be had\b/iu, but: "is not available" },
  { not: /\b(?:is|are|was|were) let be\b|\blets? (?:it|them) be\b/iu, but: "ignores, leaves unchanged" },
  { not: /\banew\b/iu, but: "again" },
  { not: /\btime-outs?\b/iu, but: "timeout" },
  {
    not: /(?:^|[.:;] )Where (?:an?|the|it|its|there|nothing|nobody|no|one|both|this|that|something) [^.?|]*, /u,
    but: "If",
  },
  {
    not: /\bnobody's business\b|\btakes nothing back\b|\bless is more than nothing\b/iu,
    but: "say it literally",
  },
  { not: /\bTo be (?:awaited|called|read|used) /u, but: "Call it …, Await it …" },
  { not: /\bbehind (?:its|our|their) backs?\b/iu, but: "outside dimsync" },
  { not: /\b(?:product|interface|house),? §/iu, but: "docs/service-interface.md or another page of docs/" },
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
