import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

const folder = fileURLToPath(new URL("diagnostics", import.meta.url));

/**
 * The sections of diagnostics/*.yaml, in the order of their files: { section, about, codes }. Each code has what
 * causes it, why it matters and what to do, and its title from `titles` (src/core/model/titles.ts).
 * test/docs/diagnostics.test.ts compares the codes with the sources.
 */
export async function diagnosticSections(titles) {
  const files = (await readdir(folder)).sort();
  const sections = await Promise.all(files.map(async (file) => parse(await readFile(join(folder, file), "utf8"))));
  return sections.map(({ codes, ...section }) => ({
    ...section,
    codes: Object.fromEntries(Object.entries(codes).map(([code, entry]) => [code, { title: titles[code], ...entry }])),
  }));
}

/** A page with every code that dimsync reports: an index by section, then what each code means and what to do. */
export function diagnosticsPage(sections) {
  const parts = sections.map(({ section, about, codes }) => {
    const entries = Object.entries(codes).map(([code, entry]) => entryText(code, entry));
    return [`## ${section}`, about, index(codes), ...entries].map((text) => text.trim()).join("\n\n");
  });
  return `# Diagnostics\n\n${intro}\n\n${parts.join("\n\n")}\n`;
}

const intro = `What each code means, and what to do. Codes that begin with E are errors: they end the command with an exit code other than 0, or keep an
object from being changed. Codes that begin with W are warnings, those with I are notes. The message of a problem names the file, the
object and the values.`;

const index = (codes) =>
  Object.keys(codes)
    .map((code) => `[${code}](#${code.toLowerCase()})`)
    .join(", ");

const entryText = (code, { title, cause, why, fix }) =>
  `### ${code}\n\n**${title}.** ${cause.trim()} ${why.trim()}\n\n**Fix:** ${fix.trim()}`;
