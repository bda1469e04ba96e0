/** Environment variables, such as process.env. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What --allow-path sets: folders outside the project whose files it may name, separated as in PATH. */
export const allowPathVariable = "DIMSYNC_ALLOW_PATH";

/** Whether the process is in a CI job for a pull or merge request, whose author may be anybody who can push a branch. */
export const isPullRequestJob = ({ GITHUB_EVENT_NAME: event = "", CI_MERGE_REQUEST_IID: mergeRequest = "" }: Environment): boolean =>
  event.startsWith("pull_request") || mergeRequest !== "";

/** Whether an environment variable turns something on: it is set, and not to "", 0 or false (in any case). */
export function isEnabled(value: string | undefined): boolean {
  return value !== undefined && !["", "0", "false"].includes(value.toLowerCase());
}
