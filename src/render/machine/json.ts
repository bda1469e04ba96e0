import { byText } from "../../model/address.ts";
import { emptyRecord, isObject } from "../../model/json.ts";
import { visible } from "../../text/control-characters.ts";
import type { Renderer } from "../document.ts";

// The most important members come first, in this order. All others follow by name.
const order = [
  "formatVersion id address kind action outcome liveId liveName dependsOn planId runId createdAt startedAt finishedAt tool name version",
  "target account git commit dirty manifestDigest complete executable calls read planned create update relate bind noop",
  "rule method path before after expected actual risk cause code severity message instruction reason file line column",
  "items manual blocked deferred held unmanaged unverifiable policy guards diagnostics protects exposes summary",
  "changes requests body observed bindings exit reasons",
].flatMap((line) => line.split(" "));
const rank: ReadonlyMap<string, number> = new Map(order.map((name, index) => [name, index]));

/**
 * The document as JSON: indented by two spaces, keys in a fixed order, control characters escaped.
 */
export const renderJson: Renderer = (document) => {
  const text = JSON.stringify(document, (_key, member: unknown) => (isObject(member) ? ordered(member) : member), 2);
  return `${text.split("\n").map(visible).join("\n")}\n`;
};

function ordered(object: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const result = emptyRecord<unknown>();
  for (const key of Object.keys(object).sort(byRank)) result[key] = object[key];
  return result;
}

function byRank(a: string, b: string): number {
  return (rank.get(a) ?? order.length) - (rank.get(b) ?? order.length) || byText(a, b);
}
