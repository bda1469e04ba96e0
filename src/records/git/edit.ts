import { changeTarget } from "../bindings-edit.ts";
import { emptyText, parseBindingsText } from "../bindings-text.ts";
import { bindingChanges, type Fact, journalEntries, withFacts } from "../facts.ts";
import type { AppliedPlan, Lease } from "../records.ts";
import type { Draft } from "../shared/store.ts";
import type { GitContent } from "./content.ts";
import { appendJournal } from "./segments.ts";
import type { Files } from "./tree.ts";

/** The changes of one commit. */
export type Edit = Pick<Draft, "facts" | "lease" | "unlocked">;

const keptApplied = 1_000;
const keptUnlocked = 50;

/** The files and the content with the edit. */
export function withEdit(
  before: { readonly files: Files; readonly content: GitContent },
  edit: Edit,
  target: string,
): { readonly files: Files; readonly content: GitContent } {
  const files = new Map(before.files);
  let content = withStateFacts(before.content, edit.facts);
  editJournal(files, edit.facts, content, target);
  editBindings(files, edit.facts, target);
  const plans = edit.facts.flatMap((fact) => (fact.type === "applied" ? [fact.plan] : []));
  if (plans.length > 0) content = { ...content, applied: editApplied(files, before.content.applied, plans) };
  if (edit.facts.some(({ type }) => type === "lists")) files.set("lists.json", pretty(content.state.longestSeen));
  const columns = edit.facts.findLast((fact) => fact.type === "columns");
  if (columns !== undefined) files.set("columns.json", `${JSON.stringify(columns.seen)}\n`);
  const commit = edit.facts.findLast((fact) => fact.type === "commit");
  if (commit !== undefined) files.set("commit.json", pretty(commit.applied));
  if (edit.unlocked !== undefined) {
    const unlocked = [...content.state.unlocked, edit.unlocked].slice(-keptUnlocked);
    files.set("unlocked.json", pretty(unlocked));
    content = { ...content, state: { ...content.state, unlocked } };
  }
  return { files, content: edit.lease === undefined ? content : editLease(files, content, edit.lease) };
}

const withStateFacts = (content: GitContent, facts: readonly Fact[]): GitContent => ({
  ...content,
  state: withFacts(content.state, facts),
});

function editJournal(files: Map<string, string>, facts: readonly Fact[], { state }: GitContent, target: string): void {
  const lines = journalEntries(facts, target);
  if (lines.length > 0) appendJournal(files, lines, new Set(state.open.map(({ entryId }) => entryId)));
}

function editBindings(files: Map<string, string>, facts: readonly Fact[], target: string): void {
  const changes = bindingChanges(facts);
  if (changes.size === 0) return;
  const before = parseBindingsText(files.get("bindings.yaml") ?? emptyText, "bindings.yaml");
  files.set("bindings.yaml", changeTarget(before, target, changes).text);
}

function editApplied(
  files: Map<string, string>,
  before: ReadonlyMap<string, AppliedPlan>,
  plans: readonly AppliedPlan[],
): ReadonlyMap<string, AppliedPlan> {
  const kept = [...before.values(), ...plans].slice(-keptApplied);
  files.set("applied.ndjson", kept.map(({ planId, runId, at }) => `${JSON.stringify({ planId, runId, at })}\n`).join(""));
  return new Map(kept.map((plan) => [plan.planId, plan]));
}

function editLease(files: Map<string, string>, content: GitContent, lease: Lease | "free"): GitContent {
  if (lease === "free") {
    files.delete("lease.json");
    return { ...content, lease: undefined };
  }
  const { holder: _, ...written } = lease;
  files.set("lease.json", pretty(written));
  files.set("epoch", `${lease.epoch}\n`);
  return { ...content, lease, epoch: lease.epoch };
}

const pretty = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;
