import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * The licences of the shipped packages: name, version and the text of the licence. Throws if a
 * package has none.
 */
export async function thirdPartyLicenses(root, packages) {
  const sections = await Promise.all(
    packages.map(async ({ name, version, license, folder }) => {
      const text = await licenseText(join(root, folder));
      if (text === undefined) throw new Error(`The package ${name} is bundled and has no licence file.`);
      return `${name} ${version} (${license})\n\n${text}\n`;
    }),
  );
  return `dimsync contains code of these packages.\n\n${sections.join(`\n${"-".repeat(80)}\n\n`)}`;
}

/** The licence file, or the section of the README that contains it. */
async function licenseText(folder) {
  const entries = await readdir(folder);
  const file = entries.find((entry) => /^(?:licen[cs]e|copying)(?:[.-].*)?$/i.test(entry));
  if (file !== undefined) return (await readFile(join(folder, file), "utf8")).trim();
  const readme = entries.find((entry) => /^readme\.md$/i.test(entry));
  if (readme === undefined) return undefined;
  return /^#+ licen[cs]e\s*\n([\s\S]*copyright[\s\S]*)$/im.exec(await readFile(join(folder, readme), "utf8"))?.[1]?.trim();
}
