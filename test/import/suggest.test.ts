import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { personalNames } from "../../src/import/personal-names.ts";
import { type Suggestion, suggestionYaml } from "../../src/import/suggest.ts";
import { runCommand } from "../support/command.ts";
import { filesIn, writeProject } from "../support/project-folder.ts";

const dimsyncYaml =
  "apiVersion: dimsync/v1\nkind: Config\nmanifests: [manifests]\ntargets: { demo: { baseUrl: 'embedded:.dimsync/account.json' } }\n";
const classification = (names: string): string =>
  `apiVersion: dimsync/v1\nkind: Classification\nmetadata: { name: known }\nspec: { labels: [{ label: pii, match: { column: ${names} } }] }\n`;

async function suggest(...names: readonly string[]): Promise<Suggestion> {
  const folder = writeProject({
    "dimsync.yaml": dimsyncYaml,
    "manifests/known.yaml": classification(JSON.stringify(["nothing", ...names])),
  });
  return JSON.parse((await runCommand(["import", "--suggest", "-o", "json", "-q"], folder)).stdout);
}

describe("import --suggest", () => {
  test("proposes patterns for columns whose names look personal", async () => {
    const { labels } = await suggest();
    expect(labels.map(({ about, column, columns }) => [about, column.join(" "), columns])).toEqual([
      ["contact", "*email* *phone*", 18],
      ["name", "*first_name* *last_name* *contact_name*", 7],
      ["address", "*street* !*mac_address*", 3],
      ["identity number", "*vat_number*", 1],
      ["payment", "*iban* *card_last*", 6],
    ]);
    expect(labels[0]?.examples[0]).toBe("billing.accounts.contact_email of Billing");
  });

  test("leaves out columns that have a label", async () => {
    const { labels } = await suggest("*email*", "*phone*");
    expect(labels.map(({ about }) => about)).not.toContain("contact");
  });

  test("prints a manifest of comments, which is valid once they are removed, and writes nothing", async () => {
    const folder = writeProject({ "dimsync.yaml": dimsyncYaml, "manifests/known.yaml": classification("nothing") });
    const before = [...filesIn(folder).keys()];
    const { stdout, code } = await runCommand(["import", "--suggest", "-q"], folder);
    expect(code).toBe(0);
    expect([...filesIn(folder).keys()].filter((file) => !file.startsWith(".dimsync/"))).toEqual(before);
    expect(stdout.split("\n").filter((line) => line !== "" && !line.startsWith("#"))).toEqual([]);
    const confirmed = stdout.slice(stdout.indexOf("# apiVersion")).replaceAll(/^# /gmu, "");
    const checked = writeProject({ "dimsync.yaml": dimsyncYaml, "manifests/personal.yaml": confirmed });
    expect(parseAllDocuments(confirmed)).toHaveLength(1);
    expect((await runCommand(["validate", "-q"], checked)).stdout).toContain("no problems found");
  });

  test("says so if there is nothing to propose", () => {
    expect(suggestionYaml({ kind: "Suggestion", target: "demo", labels: [] })).toBe(
      "# No column without a label has a name that looks personal.\n",
    );
  });

  test("is refused with flags that write", async () => {
    const folder = writeProject({ "dimsync.yaml": dimsyncYaml, "manifests/known.yaml": classification("nothing") });
    expect(await runCommand(["import", "--suggest", "--literal", "-q"], folder)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("writes nothing"),
    });
  });
});

test("docs/data-protection.md lists the names", () => {
  const docs = readFileSync("docs/data-protection.md", "utf8");
  for (const { about, column } of personalNames) expect(docs).toContain(`| ${about} | ${column.map((one) => `\`${one}\``).join(", ")} |`);
});
