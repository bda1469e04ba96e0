import { readFile } from "node:fs/promises";
import { join } from "node:path";
import picomatch from "picomatch";
import { endingInTime } from "../../core/manifests/schema/time-limit.ts";

/** The owners of a file, as CODEOWNERS names them: "@example/data", "dana@example.com". */
interface FileOwners {
  /** From the root of the repository. */
  readonly file: string;
  readonly names: readonly string[];
}

const places = [".github/CODEOWNERS", ".gitlab/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"];

/** The owners of the files in the first CODEOWNERS of the repository; files without owners are left out. */
export async function ownersOf(root: string, files: readonly string[]): Promise<readonly FileOwners[]> {
  for (const place of places) {
    const text = await readFile(join(root, place), "utf8").catch(() => undefined);
    if (text !== undefined) return codeOwners(text, files);
  }
  return [];
}

interface OwnerRule {
  readonly matches: (file: string) => boolean;
  /** `!pattern` of GitLab: no later line of the section includes the file again. */
  readonly excludes: boolean;
  readonly names: readonly string[];
}

/** The last line that matches counts; on GitLab, the last line of each section. Other text than names of owners is ignored. */
export function codeOwners(text: string, files: readonly string[]): readonly FileOwners[] {
  const sections: OwnerRule[][] = [[]];
  let inherited: readonly string[] = [];
  for (const line of text.split(/\r?\n/u)) {
    const written = line.replace(/(?:^|\s)#.*$/u, "").trim();
    const section = /^\^?\[[^\]]+\](?:\[\d+\])?(.*)$/u.exec(written);
    if (section !== null) {
      inherited = namesIn(section[1] ?? "");
      sections.push([]);
      continue;
    }
    const [, excluded, pattern, rest = ""] = /^(!?)((?:\\.|\S)+)(.*)$/u.exec(written) ?? [];
    if (pattern === undefined) continue;
    const names = namesIn(rest);
    sections.at(-1)?.push({ matches: matcherOf(pattern), excludes: excluded === "!", names: names.length === 0 ? inherited : names });
  }
  return files.flatMap((file) => {
    const names = [...new Set(sections.flatMap((rules) => ownersIn(rules, file)))];
    return names.length === 0 ? [] : [{ file, names }];
  });
}

function ownersIn(rules: readonly OwnerRule[], file: string): readonly string[] {
  const matching = rules.filter(({ matches }) => matches(file));
  return matching.some(({ excludes }) => excludes) ? [] : (matching.at(-1)?.names ?? []);
}

const namesIn = (text: string): readonly string[] => text.split(/\s+/u).filter((word) => /^@[\w./@-]+$|^[^@\s<>]+@[^@\s<>]+$/u.test(word));

/**
 * As in .gitignore: without a slash inside, a pattern matches at any depth, and a pattern that matches a folder matches what is
 * in it. Only a name of its own at the end, `docs/*`, does not.
 */
function matcherOf(written: string): (file: string) => boolean {
  const isAnchored = written.slice(0, -1).includes("/");
  const path = written.replace(/^\//u, "").replace(/\/$/u, "");
  const anchored = isAnchored ? path : `**/${path}`;
  const isFolder = written.endsWith("/");
  const isShallow = isAnchored && path.endsWith("/*");
  const globs = [...(isFolder ? [] : [anchored]), ...(isFolder || !isShallow ? [`${anchored}/**`] : [])];
  const matches = picomatch(globs, { dot: true, nobrace: true, noextglob: true, nonegate: true });
  return (file) => endingInTime(() => matches(file)) === true;
}
