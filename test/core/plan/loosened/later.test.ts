// What manifests give up of columns that no account has yet is found among many other rules, or the review says that it asked about fewer.
import { expect, test } from "vitest";
import { loadProject } from "../../../../src/core/manifests/project.ts";
import { loosenedInFiles } from "../../../../src/core/plan/loosened/files.ts";
import { configText, keyVariable, writeProject } from "../../../support/project-folder.ts";

const rule = (id: string, column: string, hashed = true): string =>
  `    - { id: ${id}, match: { column: ${JSON.stringify(column)} }, set: { hashed: ${hashed} }, minMatches: 0 }\n`;
/** Only columns of these tables can be readable. */
const enabled = "    - { match: { table: users }, set: { enabled: true }, minMatches: 0 }\n";
const configOf = (rules: readonly string[]): string =>
  `apiVersion: dimsync/v1\nkind: SchemaConfig\nmetadata: { name: fleet }\nspec:\n  integrations: { names: ["*"] }\n${rules.includes(enabled) ? "  unmatched: { tables: disable }\n" : ""}  rules:\n${rules.join("")}`;
const many = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => rule(`r${index}`, `*w${index.toString(36).padStart(3, "q")}*`));
async function found(before: readonly string[], now: readonly string[]): Promise<readonly string[]> {
  const load = (rules: readonly string[]) =>
    loadProject({
      cwd: writeProject({ "dimsync.yaml": configText("http://127.0.0.1:1"), "manifests/fleet.yaml": configOf(rules) }),
      env: { [keyVariable]: "key" },
    });
  const findings = await loosenedInFiles({ base: { ...(await load(before)), unread: [] }, head: await load(now), today: "2026-11-30" });
  return findings.map((one) => `${one.rule} ${one.address}`);
}

const [mail, address] = [rule("mail", "*email*"), rule("address", "*_address", false)];
const inFull = mail.replace('*email*"', '*email*", where: { syncMode: fullTable }');
const [lost, unknown] = ["protection-lost-later rule mail", "unknown later columns"];

test.each<readonly [what: string, before: readonly string[], now: readonly string[], expected: readonly string[]]>([
  ["two of 100 rules change their order", [...many(100), address, mail], [...many(100), mail, address], [lost]],
  ["one of 100 rules is gone", [...many(100), mail], many(100), [lost]],
  ["one is added that hashes more", [...many(100), mail], [...many(100), mail, rule("zip", "zip")], []],
  [
    "one of 20 alternatives is gone",
    [rule("mail", `{${"abcdefghijklmnopqrst".split("")}}_id`)],
    [rule("mail", `{${"abcdefghijklmnopqrs".split("")}}_id`)],
    [lost],
  ],
  ["one letter of a class is gone", [rule("mail", "[a-m]_id")], [rule("mail", "[a-km]_id")], [lost]],
  ["one letter more is excluded", [rule("mail", "[!0-8]_id")], [rule("mail", "[!0-9]_id")], [lost]],
  [
    "a rule exposes columns of two patterns in the tables that are replicated",
    [enabled, mail],
    [enabled, mail, rule("raw", "*_raw", false)],
    [lost],
  ],
  ["a rule hashes only what is replicated", [mail], [mail.replace('*email*"', '*email*", where: { enabled: true }')], [lost]],
  ["a rule for one sync mode matches less", [inFull], [inFull.replace("*email*", "email")], [lost]],
  ["100 rules are added that hash more", [mail], [mail, ...many(100)], []],
  ["the order changes of more rules than dimsync can ask about", [...many(90), mail], [mail, ...many(90).toReversed()], [unknown]],
])("%s", async (_, before, now, expected) => {
  expect(await found(before, now)).toEqual(expected);
});
