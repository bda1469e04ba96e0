import type { LiveUser } from "../model/live.ts";
import type { UserRef } from "../model/resource.ts";

/** A person whom the manifest names by e-mail but the account does not have. */
export interface UnknownUser {
  readonly email: string;
}

const sameEmail = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

export const isEmail = (text: string): boolean => /^[^@\s]+@[^@\s]+$/u.test(text);

/** Whether finding the person takes the list of users. A plain string is written as it is. */
export const needsUsers = (person: UserRef | undefined): boolean => typeof person === "object";

/** The text to write for a person: the user's id unless another form is asked for. */
export function userToWrite(person: UserRef, users: readonly LiveUser[]): string | UnknownUser {
  if (typeof person === "string") return person;
  const user = users.find(({ email }) => sameEmail(email, person.user));
  if (user === undefined) return { email: person.user };
  return person.as === "email" ? user.email : person.as === "name" ? (user.name ?? user.email) : user.id;
}

/** Whether the live text means that person, in any form (id, e-mail or name). */
export function isUser(live: string | undefined, person: UserRef, users: readonly LiveUser[]): boolean {
  if (live === undefined) return false;
  if (typeof person === "string") return live === person;
  const user = users.find(({ email }) => sameEmail(email, person.user));
  return sameEmail(live, person.user) || (user !== undefined && (live === user.id || live === user.name));
}

/**
 * A user as a manifest names one: by e-mail address if exactly one user has the text as id, e-mail
 * address or name; else the text. Undefined for no text.
 */
export function userRefFor(text: string | undefined, users: readonly LiveUser[]): UserRef | undefined {
  if (text === undefined || text === "") return undefined;
  const named = users.filter(({ id, email, name }) => id === text || name === text || sameEmail(email, text));
  const emails = new Set(named.map(({ email }) => email));
  const [user] = named;
  if (user === undefined || emails.size > 1 || user.email === "") return text;
  const reference: UserRef = { user: user.email };
  return isUser(text, reference, users) ? reference : text;
}
