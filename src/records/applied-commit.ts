import { isObject, own } from "../model/json/json.ts";

/** The commit whose manifests the account matched when an apply ended: nothing failed, waited or was left out. */
export interface AppliedCommit {
  /** Its full id. */
  readonly commit: string;
  /** Of the manifests with the variables of that run. */
  readonly manifestDigest: string;
  readonly runId: string;
  /** ISO 8601 */
  readonly at: string;
}

/** The commit in a value from a store; undefined if it has another form. Without it, a plan does not know what changed in the account. */
export function parseAppliedCommit(value: unknown): AppliedCommit | undefined {
  if (!isObject(value)) return undefined;
  const [commit, manifestDigest, runId, at] = [own(value, "commit"), own(value, "manifestDigest"), own(value, "runId"), own(value, "at")];
  // It becomes an argument of git.
  if (typeof commit !== "string" || !/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/u.test(commit)) return undefined;
  return typeof manifestDigest === "string" && typeof runId === "string" && typeof at === "string"
    ? { commit, manifestDigest, runId, at }
    : undefined;
}
