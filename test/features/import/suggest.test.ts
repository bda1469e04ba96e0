import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { personalTopics, type Suggestion, suggestionYaml } from "../../../src/features/import/suggest.ts";
import { runCommand } from "../../support/command.ts";
import { filesIn, writeProject } from "../../support/project-folder.ts";

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
  test("proposes the names of columns that look personal", async () => {
    const { labels } = await suggest();
    expect(labels.map(({ about, column, columns }) => [about, column.join(" "), columns])).toEqual([
      ["address", "city street", 6],
      ["contact", "actor_email billing_email contact_email contact_phone email phone", 18],
      ["credential", "password_hash", 3],
      ["identity number", "vat_number", 1],
      ["name", "contact_name first_name last_name", 7],
      ["payment", "card_last_four iban", 6],
    ]);
    expect(labels[1]?.examples[0]).toBe("billing.accounts.contact_email of Billing");
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

const personal =
  "given_name, family_name, middle_name, nickname, preferred_name, city, zip, PostalCode, sex, race, religious_reference, national_insurance_number, bank_account, sort_code, " +
  "routing_number, remote_addr, lat, lng, student_number, StudentID, state_studentnumber, dob, birthdate, lastfirst, address2, home_phone, HomePhone, phone_mobile, contact_1_phone_home, " +
  "emergency_3_name, emailaddress, guardianemail, principalphone, ssn, web_password, country_of_birth, primary_language_spoken_in_home, homeless_student, person__religion_code__code_value, E-Mail, ip";
const ordinary =
  "BusinessName, sewage, Caliban, mac_address, capacity, velocity, description, name, status, product_name, page_name, shipment, email_opt_out, race_code__effective_date, " +
  "created_at, explosion, statement, mobility, zipline_speed, faxineering, racetrack, phonetic, ipsum, latency, longest, cityscape, addressable";

test("names mean people by their words, not by parts of words", () => {
  const missed = personal.split(", ").filter((name) => personalTopics(name).length === 0);
  const wrong = ordinary.split(", ").filter((name) => personalTopics(name).length > 0);
  expect({ missed, wrong }).toEqual({ missed: [], wrong: [] });
});
