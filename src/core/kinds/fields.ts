import { idOf, memberOf, type ResponsePart, shownText, textOf } from "../base/model/decode.ts";
import { defined, isObject, type JsonObject } from "../base/model/json/json.ts";
import type { Pointer } from "../base/model/json/pointer.ts";
import { isSecretName, isSecretValue } from "../base/model/settings/secret.ts";
import type { LiveView } from "./kind.ts";

// A kind lists the fields of its live objects once. What is read, compared, written, shown and verified follows from the rows.

/** The forms of a member in responses, and how each is decoded. */
const forms = {
  id: idOf,
  text: textOf,
  optional: shownText,
  /** An absent text is empty; anything but a text is unknown. */
  textOrEmpty: (part: ResponsePart) => shownText(part) ?? (part.value === undefined || part.value === null ? "" : undefined),
  /** An empty text counts as absent. */
  filled: (part: ResponsePart) => shownText(part) || undefined,
  /** An id or another text, also of an object with an id or an e-mail address. */
  user: ({ value }: ResponsePart): string | undefined => userIn(value),
  /** Ids or e-mail addresses, also of objects with an id. Anything else counts as absent. */
  users: ({ value }: ResponsePart): readonly string[] | undefined => {
    const found = Array.isArray(value) ? value.map(userIn) : [undefined];
    return found.every((one) => one !== undefined) ? found : undefined;
  },
  open: ({ value }: ResponsePart): JsonObject | undefined => (isObject(value) ? withoutSecrets(value as JsonObject) : undefined), // a response is JSON
} as const;

function userIn(one: unknown): string | undefined {
  const [id] = isObject(one) ? [one["_id"], one["id"], one["email"]].filter((part) => part !== undefined) : [one];
  return typeof id === "string" ? id : undefined;
}

const withoutSecrets = (members: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(members)
      .filter(([name, value]) => !isSecretName(name) && !(typeof value === "string" && isSecretValue(value)))
      .map(([name, value]) => [name, isObject(value) ? withoutSecrets(value as JsonObject) : value]),
  );

/** One member of a live object. */
interface LiveField {
  readonly as: keyof typeof forms;
  /** Whether a request can write it. */
  readonly isWritten?: true;
  /** Why a manifest can't set it: what to write instead, as a sentence. */
  readonly instead?: string;
  /** Whether `get` prints it in its table. */
  readonly isColumn?: true;
}

export type Fields = Readonly<Record<string, LiveField>>;

/** A live object with these fields. */
export type LiveOf<F extends Fields> = { readonly [Name in keyof F]: ReturnType<(typeof forms)[F[Name]["as"]]> };

/** @throws ServiceError E_MALFORMED_ANSWER */
export const decodeFields = <F extends Fields>(fields: F, part: ResponsePart): LiveOf<F> =>
  Object.fromEntries(Object.entries(fields).map(([name, { as }]) => [name, forms[as](memberOf(part, name))])) as LiveOf<F>; // by the forms

export const columnsOf = (fields: Fields): LiveView["columns"] => namesOf(fields, "isColumn");

/** The names of the fields that a request can write. */
export const writtenIn = <F extends Fields>(fields: F): readonly WrittenName<F>[] =>
  namesOf(fields, "isWritten") as readonly WrittenName<F>[]; // the rows with isWritten

export type WrittenName<F extends Fields> = { [Name in keyof F & string]: F[Name]["isWritten"] extends true ? Name : never }[keyof F &
  string];

const namesOf = (fields: Fields, flag: "isColumn" | "isWritten"): readonly string[] =>
  Object.entries(fields).flatMap(([name, field]) => (field[flag] === true ? [name] : []));

/** The message for a field that only the service sets, in a manifest; undefined for other keys. */
export function readOnlyMessage(fields: Fields, key: string): string | undefined {
  const instead = Object.hasOwn(fields, key) ? fields[key]?.instead : undefined;
  return instead === undefined ? undefined : `The service sets \`${key}\` itself, and dimsync has no request that changes it. ${instead}`;
}

/** The written fields of a live object as the JSON document that request bodies point into. */
export const writtenDocument = <F extends Fields>(fields: F, live: LiveOf<F>): JsonObject =>
  defined(Object.fromEntries(writtenIn(fields).map((name) => [name, live[name]]))) as JsonObject; // forms decode to JSON, and defined() removes undefined

/** The fields that differ between two readings and are not in the body of the request between them; times change with each write. */
export const unintendedIn = <F extends Fields>(
  fields: F,
  { before, after }: { readonly before: LiveOf<F>; readonly after: LiveOf<F> },
  body: JsonObject,
): readonly Pointer[] =>
  Object.keys(fields)
    .filter((name) => !name.endsWith("At") && !Object.hasOwn(body, name) && before[name] !== after[name])
    .map((name): Pointer => `/${name}`);

/** Why a value is unseen that dimsync does not send. */
export const unshown = "the service does not show the value";
