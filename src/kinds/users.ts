import type { LiveUser } from "../model/live.ts";
import { type Problem, problemAt, type SourceLocation } from "../model/problem.ts";
import { locationIn, problemIn, type Resource, type UserRef } from "../model/resource.ts";

/** A user that the manifest gives by e-mail address and that is not in the account. */
export interface UnknownUser {
  readonly email: string;
}

const sameEmail = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

const isEmail = (text: string): boolean => /^[^@\s]+@[^@\s]+$/u.test(text);

const withEmail = (email: string, users: readonly LiveUser[]): LiveUser | undefined => users.find((user) => sameEmail(user.email, email));

/** Whether the list of users is needed to find the user, who is given by e-mail address. */
export const needsUsers = (ref: UserRef | undefined): boolean => typeof ref === "object" || (ref !== undefined && isEmail(ref));

/** The text to write for a user: a plain string as it is, else the id unless another form is asked for. */
export function userToWrite(ref: UserRef, users: readonly LiveUser[]): string | UnknownUser {
  if (typeof ref === "string") return ref;
  const user = withEmail(ref.user, users);
  if (user === undefined) return { email: ref.user };
  return ref.as === "email" ? user.email : ref.as === "name" ? (user.name ?? user.email) : user.id;
}

/**
 * The id of a user, for fields that accept only ids. A plain string that is not an e-mail address
 * is an id.
 */
export function userIdOf(ref: UserRef, users: readonly LiveUser[]): string | UnknownUser {
  if (typeof ref === "string" && !isEmail(ref)) return ref;
  return userToWrite({ user: typeof ref === "string" ? ref : ref.user }, users);
}

/** Owners that are given by e-mail address become user ids. Errors for those whose id is unknown, else warnings. `pointer` is that of the list. */
export function ownersToWrite(
  resource: Resource,
  owners: readonly UserRef[],
  { pointer, known }: { readonly pointer: string; readonly known: readonly LiveUser[] },
): { readonly owners: readonly string[]; readonly problems: readonly Problem[] } {
  const written: string[] = [];
  const unknown: Problem[] = [];
  const warnings: Problem[] = [];
  for (const [index, owner] of owners.entries()) {
    const place = `${pointer}/${index}`;
    const text = userToWrite(owner, known);
    if (typeof text === "string") written.push(text);
    else unknown.push(unknownOwner(resource, text.email, place));
    warnings.push(...plainEmailWarning(owner, known, locationIn(resource, place)));
  }
  return { owners: written, problems: unknown.length > 0 ? unknown : warnings };
}

const unknownOwner = (resource: Resource, email: string, pointer: string): Problem =>
  problemIn(resource, pointer, {
    code: "E_UNKNOWN_USER",
    message: `The account has no user with the e-mail address ${email}, so the id of the owner is unknown. Correct the address, or add the user to the account.`,
  });

/** Whether the live text is that user, in any form (id, e-mail address or name). */
export function isUser(live: string | undefined, ref: UserRef, users: readonly LiveUser[]): boolean {
  if (live === undefined) return false;
  if (typeof ref === "string") return live === ref;
  const user = withEmail(ref.user, users);
  return sameEmail(live, ref.user) || (user !== undefined && (live === user.id || live === user.name));
}

/** A plain string is compared as text, so the e-mail address of a user is probably a mistake. */
export function plainEmailWarning(ref: UserRef | undefined, users: readonly LiveUser[], place: SourceLocation): readonly Problem[] {
  if (typeof ref !== "string" || !isEmail(ref) || withEmail(ref, users) === undefined) return [];
  const message = `${ref} is the e-mail address of a user in the account, but as a plain string it is written and compared as text. If the service shows the user in another form, every plan has a difference. Write { user: ${ref} } instead.`;
  return [problemAt(place, { code: "W_PLAIN_EMAIL", severity: "warning", message })];
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
