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

/** What `personalTopics` can return. */
export const personalGroups: readonly string[] = groups.map(({ about }) => about);

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
