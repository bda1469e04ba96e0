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

/** What --allow-code sets. */
export const allowCodeVariable = "DIMSYNC_ALLOW_CODE";

/** Whether the code of a project may run: the commands of secrets. Only the operator decides, never a file of the project. */
export const allowsCode = (env: Environment): boolean => isEnabled(env[allowCodeVariable]);

/** The end of the message of E_CODE_NOT_ALLOWED. */
export const howToAllowCode =
  "Whoever can change the project could run any program with your API key, so code of a project does not run by default. Review it, then use --allow-code or set DIMSYNC_ALLOW_CODE=1.";
