import type { AuditEntry } from "../model/live.ts";
import { timeOf } from "./audit.ts";
import { type Called, hear, mentionOf } from "./mentions.ts";
import { fitOf } from "./topics.ts";

/** Entries that speak of an integration and may be about its schemas, the newest first, at most so many. */
export function eventsAbout(entries: readonly AuditEntry[], integration: Called, most: number): readonly AuditEntry[] {
  return [...entries]
    .sort((a, b) => timeOf(b) - timeOf(a))
    .map(hear)
    .filter((heard) => mentionOf(heard, integration) !== undefined && fitOf(heard, "schema") > 0)
    .slice(0, most)
    .map(({ entry }) => entry);
}
