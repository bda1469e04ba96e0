import { changeTarget } from "../bindings-edit.ts";
import { emptyText, parseBindingsText } from "../bindings-text.ts";
import { bindingChanges, journalEntries } from "../facts.ts";
import type { Content, Draft } from "../shared/store.ts";
import { appendJournal } from "./segments.ts";
import type { Files } from "./tree.ts";

const keptApplied = 1_000;
const keptUnlocked = 50;

/** The files of the next commit. `content`: what they are to contain. */
export function filesAfter(before: Files, content: Content, { facts, lease, unlocked }: Draft, target: string): Files {
  const files = new Map(before);
  const { state, applied } = content;
  const has = (...types: readonly string[]): boolean => facts.some(({ type }) => types.includes(type));
  const lines = journalEntries(facts, target);
  if (lines.length > 0) appendJournal(files, lines, new Set(state.open.map(({ entryId }) => entryId)));
  if (has("bind", "unbind")) {
    const bindings = parseBindingsText(files.get("bindings.yaml") ?? emptyText, "bindings.yaml");
    files.set("bindings.yaml", changeTarget(bindings, target, bindingChanges(facts)).text);
  }
  if (has("applied")) {
    const plans = [...applied.values()].slice(-keptApplied);
    files.set("applied.ndjson", plans.map(({ planId, runId, at }) => `${JSON.stringify({ planId, runId, at })}\n`).join(""));
  }
  if (has("lists")) files.set("lists.json", pretty(state.longestSeen));
  if (has("columns")) files.set("columns.json", `${JSON.stringify(state.columnsSeen)}\n`);
  if (has("commit")) files.set("commit.json", pretty(state.appliedCommit));
  if (unlocked !== undefined) files.set("unlocked.json", pretty(state.unlocked.slice(-keptUnlocked)));
  if (lease === "free") files.delete("lease.json");
  else if (lease !== undefined) {
    const { holder: _, ...written } = lease;
    files.set("lease.json", pretty(written));
    files.set("epoch", `${lease.epoch}\n`);
  }
  return files;
}

const pretty = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;
