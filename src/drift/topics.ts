import { parseAddress } from "../model/address.ts";
import type { Heard } from "./mentions.ts";

/** What a difference is about, as far as an event could speak of the same. */
export type Topic = "schema" | "paused" | "name" | "gone" | "relation-lost" | "relation-extra" | "fields";

/** The topic of a difference at an address; `isRelate` for a relation that is declared and not there. */
export function topicOf(address: string, path: string, isRelate: boolean): Topic {
  const parts = parseAddress(address);
  if (isRelate) return "relation-lost";
  if (parts?.resource !== undefined) return "relation-extra";
  if (path === "") return "gone";
  if (parts?.kind === "SchemaConfig") return "schema";
  return path === "/paused" ? "paused" : path === "/name" ? "name" : "fields";
}

// The interface describes events as text (§2.7) and lists none: these are words that no wording of such an event could well do without.
const matters: readonly (readonly [topic: RegExp, fits: readonly Topic[]])[] = [
  [/\b(?:un-?)?paus\w*|\bresum\w*/u, ["paused"]],
  [/\b(?:detach|untag)\w*/u, ["relation-lost"]],
  [/\b(?:attach|tagged|relat)\w*/u, ["relation-extra"]],
  [/\b(?:delet|destroy)\w*/u, ["gone"]],
  [/\brenam\w*/u, ["name"]],
  [/\b(?:schema|table|column|(?:un-?)?hash)\w*/u, ["schema"]],
];
const onlyLooked = /\b(?:viewed|listed|logged in|signed in|exported|downloaded)\b/u;

/** 2: the event is about the same; 1: it says nothing against it; 0: it is about something else, or nothing was changed. */
export function fitOf({ unquoted }: Heard, topic: Topic): 0 | 1 | 2 {
  const found = matters.filter(([words]) => words.test(unquoted));
  if (found.some(([, fits]) => fits.includes(topic))) return 2;
  if (found.length > 0 || onlyLooked.test(unquoted)) return 0;
  // An object that is gone, and a relation that is, have been removed by someone: "updated" does not tell of it.
  if (topic === "gone" || topic === "relation-lost") return /\b(?:remov)\w*/u.test(unquoted) ? 2 : 0;
  return 1;
}
