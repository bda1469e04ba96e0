import type { Queries, Rows, TransactionalDatabase } from "./connection.ts";

// PostgreSQL stores neither NUL nor lone surrogates, and jsonb refuses their escapes. Names of an account can contain both, so
// they are stored as U+FDD0, which is never a character, and the four hexadecimal digits of the code unit.
const marker = "\ufdd0";
const unstorable = /[\0\ufdd0\ud800-\udfff]/gu;
const escapes = /\ufdd0([0-9a-f]{4})/gu;

/** The text as the database stores it. For parameters, `withStoredText` does it. */
export const toStored = (text: string): string =>
  text.replace(unstorable, (character) => marker + character.charCodeAt(0).toString(16).padStart(4, "0"));

const fromStored = (text: string): string =>
  text.includes(marker) ? text.replace(escapes, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16))) : text;

/** A value as a parameter of type json or jsonb; its strings and keys are stored like other texts. */
export const jsonParameter = (value: unknown): string =>
  // As an escape of JSON, so that `withStoredText` does not escape it again.
  JSON.stringify(mapped(value, toStored)).replaceAll(marker, "\\ufdd0");

/** The database for any text: what is stored comes back as it was. */
export const withStoredText = <D extends TransactionalDatabase>(database: D): D => ({
  ...database,
  query: queryOn(database),
  transaction: (work) => database.transaction((queries) => work({ query: queryOn(queries) })),
  script: async (text) => (await database.script(text)).map(fromRows),
});

const queryOn =
  (queries: Queries): Queries["query"] =>
  async (text, values) =>
    fromRows(await queries.query(text, values.map(toParameter)));

const toParameter = (value: unknown): unknown => (typeof value === "string" || Array.isArray(value) ? mapped(value, toStored) : value);

const fromRows = ({ rows, rowCount }: Rows): Rows => ({ rows: rows.map((row) => mapped(row, fromStored)), rowCount });

/** The value with each string in it replaced, keys included. */
function mapped(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === "string") return replace(value);
  if (Array.isArray(value)) return value.map((element: unknown) => mapped(element, replace));
  if (typeof value !== "object" || value === null || value instanceof Date || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [replace(key), mapped(member, replace)] as const));
}
