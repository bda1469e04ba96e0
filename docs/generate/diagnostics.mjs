import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { cell, code, table } from "./markdown.mjs";

const severities = { E: "Errors", W: "Warnings", I: "Notes" };

/** A page with every code and its title (`titles`, src/core/base/model/titles.ts), and what diagnostics.yaml adds to its message. */
export async function diagnosticsPage(titles) {
  const notes = parse(await readFile(fileURLToPath(new URL("diagnostics.yaml", import.meta.url)), "utf8"));
  const unknown = Object.keys(notes).filter((name) => !Object.hasOwn(titles, name));
  if (unknown.length > 0) throw new Error(`docs/generate/diagnostics.yaml has codes that do not exist: ${unknown.join(", ")}`);
  const sections = Object.entries(severities).map(([letter, heading]) => {
    const rows = Object.entries(titles)
      .filter(([name]) => name.startsWith(letter))
      .map(([name, title]) => [code(name), cell(title), notes[name] ?? ""]);
    return `## ${heading}\n\n${table(["code", "title", "more"], rows)}`;
  });
  return `# Diagnostics\n\n${intro}\n\n${sections.join("\n\n")}\n`;
}

const intro = `The codes of messages. A message says what is wrong, where, and what to do; this page adds what it does not say. Errors end the command with
an exit code other than 0, or keep an object from being changed.`;
