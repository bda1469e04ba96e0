import { isPerson } from "../kinds/people.ts";
import type { LiveUser } from "../model/live.ts";
import type { Person } from "../model/resource.ts";

/** A person as a manifest names one: by e-mail where exactly one user has the text as id, e-mail or name; else the text. Undefined for no text. */
export function personFor(text: string | undefined, users: readonly LiveUser[]): Person | undefined {
  if (text === undefined || text === "") return undefined;
  const named = users.filter(({ id, email, name }) => id === text || name === text || email.toLowerCase() === text.toLowerCase());
  const emails = new Set(named.map(({ email }) => email));
  const [user] = named;
  if (user === undefined || emails.size > 1 || user.email === "") return text;
  const person: Person = { user: user.email };
  return isPerson(text, person, users) ? person : text;
}
