import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { cell } from "./markdown.mjs";

/**
 * A page with every code that dimsync reports, and its messages, which contain the cause and the
 * fix. The texts come from the sources; values that are filled in are shown as …
 */
export async function diagnosticsPage(folder) {
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".ts")).sort();
  const texts = new Map();
  for (const file of files) {
    // Comments contain codes too; they are replaced by blanks.
    const source = (await readFile(join(folder, file), "utf8")).replaceAll(/^\s*(?:\/\*\*|\*|\/\/).*$/gm, "");
    for (const found of source.matchAll(/"([EW]_[A-Z][A-Z_]*)"/g)) {
      const entry = texts.get(found[1]) ?? { messages: new Set(), files: new Set() };
      entry.files.add(relative(folder, join(folder, file)));
      const message = sentencesAfter(source, found.index + found[0].length);
      if (message !== "") entry.messages.add(message);
      texts.set(found[1], entry);
    }
  }
  const sections = [...texts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([code, { messages, files: where }]) => {
      const list = [...messages].map((message) => `- ${cell(message)}`);
      const at = `In ${[...where].map((file) => `[${file}](../../src/${file})`).join(", ")}.`;
      return `## ${code}\n\n${list.length === 0 ? "" : `${list.join("\n")}\n\n`}${at}`;
    });
  return `# Diagnostics\n\nCodes that begin with E are errors, those with W warnings. Each message says what is wrong, why, and what to do.\n\n${sections.join("\n\n")}\n`;
}

/** The sentences in the string literals of the same call or object: up to the end of the statement, and no further than the next code. */
function sentencesAfter(source, from) {
  const parts = [];
  let depth = 0;
  for (let at = from; at < source.length && at < from + 900; at += 1) {
    const character = source[at];
    if (character === '"' || character === "`" || character === "'") {
      const { text, end } = literal(source, at);
      if (/^[EW]_[A-Z_]+$/.test(text)) break;
      if (/ /.test(text) && text.length > 8) parts.push(text);
      at = end;
    } else if ("([{".includes(character)) depth += 1;
    else if (")]}".includes(character)) {
      depth -= 1;
      if (depth < 0) break;
    } else if (character === ";" && depth <= 0) break;
    else if (character === "=" && source[at + 1] === ">" && depth === 0) break;
  }
  return parts.join(" ").replaceAll(/\s+/g, " ").trim();
}

/** The literal that begins at `start`, with … for values that are filled in. */
function literal(source, start) {
  const quote = source[start];
  let text = "";
  let at = start + 1;
  for (; at < source.length && source[at] !== quote; at += 1) {
    if (source[at] === "\\") {
      at += 1;
      text += source[at] === "n" ? " " : source[at];
    } else if (quote === "`" && source.startsWith("${", at)) {
      at = endOfExpression(source, at + 2);
      text += "…";
    } else text += source[at];
  }
  return { text, end: at };
}

function endOfExpression(source, from) {
  let depth = 1;
  for (let at = from; at < source.length; at += 1) {
    if ("\"'`".includes(source[at])) at = literal(source, at).end;
    else if (source[at] === "{") depth += 1;
    else if (source[at] === "}") {
      depth -= 1;
      if (depth === 0) return at;
    }
  }
  return source.length;
}
