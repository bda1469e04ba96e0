import { visible } from "../../text/control-characters.ts";
import type { RecordsChange } from "../records.ts";
import type { Next } from "../shared/store.ts";

/** The message of a commit: what changes, one line per object, then the run. `git log` of the ref is the audit trail. */
export function commitMessage({ subject, changes, runId, runUrl, content }: Next): string {
  const trailers = [`Run: ${visible(runId)}`, ...(runUrl === undefined ? [] : [`Run-URL: ${visible(runUrl)}`]), `Epoch: ${content.epoch}`];
  return [subject, ...(changes.length === 0 ? [] : [changes.join("\n")]), trailers.join("\n")].join("\n\n").concat("\n");
}

/** Reads a message that `commitMessage` made; of any other message, the first line is the subject. */
export function parseMessage(message: string): Pick<RecordsChange, "runId" | "runUrl" | "subject" | "changes"> {
  const [subject = "", ...parts] = message.trimEnd().split("\n\n");
  const trailers = parts.at(-1) ?? "";
  const trailer = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, "mu").exec(trailers)?.[1];
  const changes = parts.slice(0, -1).flatMap((part) => part.split("\n"));
  return { subject, changes, runId: trailer("Run") ?? "", runUrl: trailer("Run-URL") };
}
