import { cachedReads } from "../../core/engine/reads/cached-reads.ts";
import { readAccount, readAhead } from "../../core/engine/reads/read-account.ts";
import { labelsOfColumn, type Question, readSchemas, scan } from "../../core/kinds/schemas.ts";
import { integrationsByName, labelScopes, nameInAddresses } from "../../core/kinds/select.ts";
import type { Project } from "../../core/manifests/project.ts";
import { byText } from "../../core/model/address.ts";
import { getOrAdd } from "../../core/model/maps.ts";
import { systemClock } from "../../core/model/runtime/clock.ts";
import { withPauses } from "../../core/model/runtime/event-loop.ts";
import { readRecords } from "../../core/operations/open-records.ts";
import type { RunEnvironment } from "../../core/operations/session.ts";
import { withReads } from "../../core/operations/session.ts";
import { visible } from "../../core/text/control-characters.ts";
import { counted } from "../../core/text/counts.ts";
import { andMore } from "../../core/text/lists.ts";
import { nodeText } from "../../core/text/paths.ts";
import { patternsOf } from "./schemas/escape-glob.ts";

/** Columns without a label whose names look personal. What `import --suggest -o json` prints. */
export interface Suggestion {
  readonly kind: "Suggestion";
  readonly target: string;
  readonly labels: readonly SuggestedLabel[];
}

interface SuggestedLabel {
  /** What columns of such names usually contain. */
  readonly about: string;
  /** The names of the columns, as patterns. */
  readonly column: readonly string[];
  readonly columns: number;
  /** The first ones: "public.customers.email of orders". */
  readonly examples: readonly string[];
}

const mostExamples = 5;

interface Found {
  readonly names: Set<string>;
  readonly examples: string[];
  columns: number;
}

/** Adds the columns of an integration that no Classification labels, by topic. */
const unlabelled = (all: Map<string, Found>, integration: string): Question => ({
  column(column) {
    const [, , name] = column.path;
    if (labelsOfColumn(column).length > 0) return;
    for (const about of personalTopics(name)) {
      const found = getOrAdd(all, about, () => ({ names: new Set<string>(), examples: [], columns: 0 }));
      found.columns++;
      found.names.add(name);
      if (found.examples.length < mostExamples) found.examples.push(`${nodeText(column.path)} of ${integration}`);
    }
  },
});

/** The suggestion as a manifest in which every line is a comment, so that it has no effect until someone confirms it. */
export function suggestionYaml({ labels }: Suggestion): string {
  const total = labels.reduce((sum, { columns }) => sum + columns, 0);
  if (total === 0) return "# No column without a label has a name that looks personal.\n";
  const lines = [
    `${counted(total, "column")} without a label ${total === 1 ? "has a name that looks" : "have names that look"} personal. Nothing in this file has an effect.`,
    "Check each label, delete what is wrong, and remove the first `# ` of the lines from apiVersion on. Names prove nothing:",
    "columns with other names can be personal too.",
    "",
    "apiVersion: dimsync/v1",
    "kind: Classification",
    "metadata: { name: personal }",
    "spec:",
    "  labels:",
    ...labels.flatMap(({ about, column, columns, examples }) => [
      `    # ${about}: ${andMore(examples.map(visible), "column", { shown: mostExamples, total: columns })}`,
      `    - { label: pii, match: { column: [${column.map((one) => JSON.stringify(one)).join(", ")}] } }`,
    ]),
  ];
  return `${lines.map((line) => `# ${line}`.trimEnd()).join("\n")}\n`;
}

/** Words that names of personal columns have, by what such columns usually contain. docs/data-protection.md lists the groups. */
const phrases: readonly { readonly about: string; readonly phrases: string }[] = [
  {
    about: "contact",
    phrases: "email, mail address, e mail, phone, telephone, tel, mobile, cell phone, fax, contact value, emergency contact",
  },
  {
    about: "name",
    phrases:
      "first name, last name, middle name, full name, given name, family name, legal name, preferred name, birth name, maiden name, nick name, nickname, " +
      "middle initial, surname, forename, maiden, last first, user name, username, name suffix, name prefix, person name, student name, pupil name, teacher name, patient name, " +
      "employee name, parent name, guardian name, contact name, customer name, owner name, emergency name, pickup name, alias",
  },
  {
    about: "address",
    phrases:
      "address, addr, street, city, town, suburb, zip, zip code, post code, postal code, postal, unit number, residence, home county, resident, mail state, mail district, mail country, care of",
  },
  {
    about: "birth and person",
    phrases:
      "birth, dob, birthday, birthdate, gender, sex, race, ethnic, ethnicity, hispanic, nationality, citizenship, marital, religion, religious, native language, home language, " +
      "primary language, homeless, migrant, pronouns",
  },
  {
    about: "identity number",
    phrases:
      "national id, national insurance, nino, passport, ssn, social security, tax id, driver license, driver licence, drivers license, vat number, person id, student id, student number, " +
      "student identifier, education identifier, pupil number, patient id, patient number, employee id, employee number, staff id, staff number, contact id, parent id, fte id, profile id, badge number",
  },
  {
    about: "payment",
    phrases: "iban, card number, card last, account number, bank account, credit card, sort code, routing number, reduced meals",
  },
  {
    about: "device and place",
    phrases: "ip, ip address, remote addr, remote ip, device id, user agent, latitude, longitude, lat, lng, lon, geolocation",
  },
  {
    about: "health and pay",
    phrases:
      "diagnosis, diagnoses, medical, disability, disabled, disabilities, salary, wage, wages, doctor, dentist, screening, allergy, allergies",
  },
  { about: "credential", phrases: "password, passcode" },
  { about: "free text", phrases: "comment, comments, note message" },
];

/** A name with one of these is not about a person, whatever else it contains. */
const exceptions = "mac address, opt out, effective date, affix code, subdivision level, email template, import key";

/** Words that stand before others without a sign between them, as in `homephone`. */
const joined =
  "home, work, mobile, cell, day, time, daytime, office, school, mother, father, parent, guardian, principal, student, pupil, teacher, contact, customer, billing, shipping, mailing, user, primary, secondary, " +
  "emergency, number, code, date, of, is, id, ext, name, first, last, middle, full, given, family, address, type, priority, order";

const list = (text: string): readonly string[] => text.split(", ");
const split = (text: string): readonly (readonly string[])[] => list(text).map((phrase) => phrase.split(" "));
const groups = phrases.map((group) => ({ about: group.about, phrases: split(group.phrases) }));
const except = split(exceptions);
const vocabulary = new Set([...groups.flatMap((group) => group.phrases.flat()), ...list(joined)].filter((word) => word.length > 1));

/** What a column of this name probably contains, if its words say that it is personal. */
export function personalTopics(name: string): readonly string[] {
  const words = wordsOf(name);
  if (except.some((phrase) => contains(words, phrase))) return [];
  return groups.filter((group) => group.phrases.some((phrase) => contains(words, phrase))).map(({ about }) => about);
}

const contains = (words: readonly string[], phrase: readonly string[]): boolean =>
  words.some((_word, start) => phrase.every((word, index) => words[start + index] === word));

/** `contact_1PhoneHome` and `homephone` as words, in lower case and without numbers. */
function wordsOf(name: string): readonly string[] {
  const spaced = name.replace(/([\p{Ll}\d])(\p{Lu})/gu, "$1 $2").replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2");
  return spaced
    .toLowerCase()
    .split(/[^\p{L}]+/u)
    .filter((word) => word !== "")
    .flatMap((word) => (vocabulary.has(word) ? [word] : (parted(word) ?? [word])));
}

/** A word that consists of words of the vocabulary, the longest first. */
function parted(word: string): readonly string[] | undefined {
  if (word === "") return [];
  for (let end = word.length; end > 1; end--) {
    const rest = vocabulary.has(word.slice(0, end)) ? parted(word.slice(end)) : undefined;
    if (rest !== undefined) return [word.slice(0, end), ...rest];
  }
  return undefined;
}

/** Columns of the account whose names look personal and that have no label, and a Classification for them. Sends GET only, and writes nothing. Throws ServiceError. */
export async function suggestClassification(
  project: Project,
  run: RunEnvironment,
): Promise<{ readonly suggestion: Suggestion; readonly yaml: string }> {
  return withReads(project, run, async (uncached) => {
    const reads = cachedReads(uncached);
    const records = await readRecords(project.settings, run);
    const { account } = await readAccount(project, records, { reads, today: systemClock.now().toISOString().slice(0, 10) });
    const labelsOf = labelScopes(account);
    const all = new Map<string, Found>();
    const sorted = integrationsByName(account);
    let done = 0;
    for await (const { item, read } of readAhead(sorted, ({ id }) => readSchemas(reads, id))) {
      run.onProgress?.({ type: "step", phase: "read", done: ++done, total: sorted.length, label: item.name });
      const question = unlabelled(all, nameInAddresses(item.id, account));
      if (read !== undefined) await withPauses(scan(read, [question], { labels: labelsOf?.(item.id), order: "by-name" }));
    }
    const labels = [...all]
      .sort(([a], [b]) => byText(a, b))
      .map(([about, { names, columns, examples }]) => ({ about, columns, examples, column: patternsOf([...names].sort()) }));
    const suggestion: Suggestion = { kind: "Suggestion", target: project.settings.target, labels };
    return { suggestion, yaml: suggestionYaml(suggestion) };
  });
}
