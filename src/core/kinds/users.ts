import type { Pointer } from "../base/model/json/pointer.ts";
import type { LiveUser } from "../base/model/live.ts";
import { locationIn, type Manifest, problemIn, type UserRef } from "../base/model/manifest.ts";
import { addAll } from "../base/model/maps.ts";
import { type Problem, problemAt, type SourceLocation } from "../base/model/problem.ts";
import { nearest, suggestion } from "../base/text/suggest.ts";
import { candidateTexts } from "./identity.ts";

/** An e-mail address of a manifest that does not belong to exactly one user of the account. */
interface UnclearUser {
  readonly email: string;
  readonly found: readonly LiveUser[];
}

/** The user whom a manifest gives by e-mail address does not exist, or there are several. */
export function unclearUserProblem(
  manifest: Manifest,
  pointer: Pointer,
  { email, found }: UnclearUser,
  users: readonly LiveUser[],
): Problem {
  if (found.length > 1) {
    const message = `${found.length} users have the e-mail address ${email}: ${candidateTexts(found)}. Write the id of the right one as plain text instead of { user: ${email} }.`;
    return problemIn(manifest, pointer, { code: "E_AMBIGUOUS", message });
  }
  const message = `The account has no user with the e-mail address ${email}.${similarAddress(email, users)} Correct the address, write the user's id as plain text, or add the user to the account.`;
  return problemIn(manifest, pointer, { code: "E_UNKNOWN_REFERENCE", message });
}

/** " Did you mean X?" or nothing. Addresses of one company differ only before the @. */
function similarAddress(email: string, users: readonly LiveUser[]): string {
  const [local = "", domain] = email.trim().toLowerCase().split("@");
  const locals = users.flatMap((user) => {
    const [name = "", of] = user.email.trim().toLowerCase().split("@");
    return of === domain ? [[name, user.email] as const] : [];
  });
  const near = nearest(local, new Map(locals).keys());
  return near === undefined ? "" : suggestion(email, new Map(locals).get(near) ?? "");
}

const sameEmail = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase();

const isEmail = (text: string): boolean => /^[^@\s]+@[^@\s]+$/u.test(text);

const withEmail = (email: string, users: readonly LiveUser[]): readonly LiveUser[] => users.filter((user) => sameEmail(user.email, email));

/** Whether the list of users is needed to find the user, who is given by e-mail address. */
export const needsUsers = (ref: UserRef | undefined): boolean => typeof ref === "object" || (ref !== undefined && isEmail(ref));

/** The text to write for a user: a plain string as it is, else the id unless another form is asked for. */
export function userToWrite(ref: UserRef, users: readonly LiveUser[]): string | UnclearUser {
  if (typeof ref === "string") return ref;
  const found = withEmail(ref.user, users);
  const [user] = found;
  if (user === undefined || found.length > 1) return { email: ref.user, found };
  return ref.as === "email" ? user.email : ref.as === "name" ? (user.name ?? user.email) : user.id;
}

/**
 * The id of a user, for fields that accept only ids. A plain string that is not an e-mail address
 * is an id.
 */
export function userIdOf(ref: UserRef, users: readonly LiveUser[]): string | UnclearUser {
  if (typeof ref === "string" && !isEmail(ref)) return ref;
  return userToWrite({ user: typeof ref === "string" ? ref : ref.user }, users);
}

/** Owners that are given by e-mail address become user ids. Errors for those whose id is unknown, else warnings. `pointer` is that of the list. */
export function ownersToWrite(
  manifest: Manifest,
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
    else unknown.push(unclearUserProblem(manifest, place, text, known));
    addAll(warnings, plainEmailWarning(owner, known, locationIn(manifest, place)));
  }
  return { owners: written, problems: unknown.length > 0 ? unknown : warnings };
}

/** Whether the live text is that user, or one of several with that e-mail address, in any form (id, e-mail address or name). */
export function isUser(live: string | undefined, ref: UserRef, users: readonly LiveUser[]): boolean {
  if (live === undefined) return false;
  if (typeof ref === "string") return live === ref;
  return sameEmail(live, ref.user) || withEmail(ref.user, users).some(({ id, name }) => live === id || live === name);
}

/** A plain string is compared as text, so the e-mail address of a user is probably a mistake. */
export function plainEmailWarning(ref: UserRef | undefined, users: readonly LiveUser[], place: SourceLocation): readonly Problem[] {
  if (typeof ref !== "string" || !isEmail(ref) || withEmail(ref, users).length === 0) return [];
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
  if (user === undefined || emails.size > 1 || user.email === "" || withEmail(user.email, users).length > 1) return text;
  const reference: UserRef = { user: user.email };
  return isUser(text, reference, users) ? reference : text;
}
