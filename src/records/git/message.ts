import { visible } from "../../text/control-characters.ts";
import type { Fact } from "../facts.ts";
import type { RecordsChange, RecordsState } from "../records.ts";
import { describeFacts } from "../shared/describe-change.ts";

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
  const lines = describeFacts(facts, before);
  const trailers = [`Run: ${visible(runId)}`, ...(runUrl === undefined ? [] : [`Run-URL: ${visible(runUrl)}`]), `Epoch: ${epoch}`];
  return [subject, ...(lines.length === 0 ? [] : [lines.join("\n")]), trailers.join("\n")].join("\n\n").concat("\n");
}

/** Reads a message that `commitMessage` made; of any other message, the first line is the subject. */
export function parseMessage(message: string): Pick<RecordsChange, "runId" | "runUrl" | "subject" | "changes"> {
  const [subject = "", ...parts] = message.trimEnd().split("\n\n");
  const trailers = parts.at(-1) ?? "";
  const trailer = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, "mu").exec(trailers)?.[1];
  const changes = parts.slice(0, -1).flatMap((part) => part.split("\n"));
  return { subject, changes, runId: trailer("Run") ?? "", runUrl: trailer("Run-URL") };
}
