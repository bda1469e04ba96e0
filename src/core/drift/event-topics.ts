import { parseAddress, schemasKind } from "../base/model/address.ts";

/** What a difference is about, as far as events distinguish it. */
export type Topic = "schema" | "paused" | "name" | "gone" | "relation-lost" | "relation-extra" | "fields";

/** The topic of a difference. `isRelate`: a declared relation does not exist. */
export function topicOf(address: string, path: string, isRelate: boolean): Topic {
  const parts = parseAddress(address);
  if (isRelate) return "relation-lost";
  // Also an integration that was renamed, whose schemas a selector covered.
  if (path === "/name") return "name";
  if (parts?.resource !== undefined) return "relation-extra";
  if (path === "") return "gone";
  if (parts?.kind === schemasKind) return "schema";
  return path === "/paused" ? "paused" : "fields";
}

// Events are free text, and the interface documents none (docs/service-interface.md). These words are in any plausible wording.
const topicWords: readonly (readonly [words: RegExp, topics: readonly Topic[]])[] = [
  [/\b(?:un-?)?paus\w*|\bresum\w*/u, ["paused"]],
  [/\b(?:detach|untag)\w*/u, ["relation-lost"]],
  [/\b(?:attach|tagged|relat)\w*/u, ["relation-extra"]],
  [/\b(?:delet|destroy)\w*/u, ["gone"]],
  [/\brenam\w*/u, ["name"]],
  [/\b(?:schema|table|column|(?:un-?)?hash)\w*/u, ["schema"]],
];
const readOnlyWords = /\b(?:viewed|listed|logged in|signed in|exported|downloaded)\b/u;

/** 2: the event is about the topic; 1: it may be; 0: it is about another topic, or changed nothing. `text` is lower case, without quoted names. */
export function fitOf(text: string, topic: Topic): 0 | 1 | 2 {
  const found = topicWords.filter(([words]) => words.test(text));
  if (found.some(([, topics]) => topics.includes(topic))) return 2;
  if (found.length > 0 || readOnlyWords.test(text)) return 0;
  // "updated" does not mean that an object or a relation was removed.
  if (topic === "gone" || topic === "relation-lost") return /\b(?:remov)\w*/u.test(text) ? 2 : 0;
  return 1;
}
