import { visible } from "../../text/control-characters.ts";
import { type Fact, withFacts } from "../facts.ts";
import type { RecordsState } from "../records.ts";

export interface MessageParts {
  readonly subject: string;
  readonly facts: readonly Fact[];
  /** The content before the facts, which has the addresses of the entries that they settle. */
  readonly before: RecordsState;
  readonly runId: string;
  readonly runUrl: string | undefined;
  readonly epoch: number;
}

/** The message of a commit: what changes, one line per object, then the run. `git log` of the ref is the audit trail. */
export function commitMessage({ subject, facts, before, runId, runUrl, epoch }: MessageParts): string {
  const addresses = new Map(
    withFacts(
      before,
      facts.filter(({ type }) => type === "intend"),
    ).open.map(({ entryId, address }) => [entryId, address]),
  );
  const lines = facts.map((fact) => visible(lineOf(fact, addresses)));
  const trailers = [`Run: ${visible(runId)}`, ...(runUrl === undefined ? [] : [`Run-URL: ${visible(runUrl)}`]), `Epoch: ${epoch}`];
  return [subject, ...(lines.length === 0 ? [] : [lines.join("\n")]), trailers.join("\n")].join("\n\n").concat("\n");
}

/** A summary of the facts, for the first line. */
export function subjectOf(facts: readonly Fact[], other: string): string {
  const intents = facts.filter(({ type }) => type === "intend").length;
  if (intents > 0) return `Begin ${intents === 1 ? "1 create" : `${intents} creates`}`;
  const settled = facts.filter(({ type }) => type === "settle").length;
  if (settled > 0) return `Record ${settled === 1 ? "1 outcome" : `${settled} outcomes`}`;
  const bound = facts.filter(({ type }) => type === "bind" || type === "unbind").length;
  return bound > 0 ? `Change ${bound === 1 ? "1 binding" : `${bound} bindings`}` : other;
}

function lineOf(fact: Fact, addresses: ReadonlyMap<string, string>): string {
  switch (fact.type) {
    case "intend":
      return `create ${fact.intent.address} (${fact.entryId})`;
    case "settle": {
      const { outcome, id, by } = fact.settlement;
      const what = addresses.get(fact.entryId) ?? fact.entryId;
      return `${outcome} ${what}${id === undefined ? "" : ` as ${id}`}${by === undefined ? "" : ` by ${by}`}`;
    }
    case "bind":
      return `bind ${fact.address}=${fact.binding.id}`;
    case "unbind":
      return `unbind ${fact.address}`;
    case "applied":
      return `apply the saved plan ${fact.plan.planId}`;
    case "lists":
      return `list lengths ${JSON.stringify(fact.seen)}`;
  }
}
