import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { isObject, own } from "../../model/json/json.ts";
import { parseJson } from "../../model/json/parse.ts";
import { isAlive, type LocalProcess, pidSpace, thisProcess } from "../process-identity.ts";

/** Who holds a lock, as written into the lock file. */
export interface LockOwner extends LocalProcess {
  /** Different for any two acquisitions. */
  readonly token: string;
  readonly runId: string;
  /** ISO 8601 */
  readonly startedAt: string;
  /** ISO 8601, refreshed while the lock is held. */
  readonly heartbeat: string;
  /** The page of the CI job; "" if there is none. */
  readonly runUrl: string;
  /** Present if a user holds it for maintenance. Such a lock needs no heartbeat and no process. */
  readonly reason?: string;
  /** ISO 8601: when a lock for maintenance ends. */
  readonly until?: string;
}

/** The details of a new owner. */
export type OwnerDetails = Pick<LockOwner, "runId"> & Partial<Pick<LockOwner, "runUrl" | "reason" | "until">>;

/** This process as the owner of a new lock. */
export function newOwner(details: OwnerDetails): LockOwner {
  const now = new Date().toISOString();
  return {
    token: randomBytes(8).toString("hex"),
    ...thisProcess(),
    startedAt: now,
    heartbeat: now,
    runUrl: "",
    ...details,
  };
}

/** The owner in a lock file; undefined if the text is not one. */
export function parseOwner(text: string): LockOwner | undefined {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const pid = own(value, "pid");
  const member = (key: string): string | undefined => {
    const found = own(value, key);
    return typeof found === "string" ? found : undefined;
  };
  const [token, host, startedAt, heartbeat] = [member("token"), member("host"), member("startedAt"), member("heartbeat")];
  if (token === undefined || !/^[0-9a-f]+$/u.test(token) || host === undefined || startedAt === undefined || heartbeat === undefined)
    return undefined;
  if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid <= 0 || Number.isNaN(Date.parse(heartbeat))) return undefined;
  const [reason, until] = [member("reason"), member("until")];
  return {
    token,
    pid,
    host,
    startedAt,
    heartbeat,
    runId: member("runId") ?? "",
    runUrl: member("runUrl") ?? "",
    pidSpace: member("pidSpace") ?? "",
    processStart: member("processStart") ?? "",
    ...(reason === undefined ? {} : { reason }),
    ...(until === undefined ? {} : { until }),
  };
}

/** Why the owner cannot be running any more, as a clause for a message; undefined if it may be running. */
export function whyStale(owner: LockOwner, ttlMs: number): string | undefined {
  if (owner.reason !== undefined)
    return owner.until !== undefined && Date.parse(owner.until) <= Date.now() ? `ended at ${owner.until}` : undefined;
  if (owner.host === hostname() && owner.pidSpace === pidSpace() && !isAlive(owner)) return "has no process any more";
  const silentMs = Date.now() - Date.parse(owner.heartbeat);
  return silentMs > ttlMs ? `has written no heartbeat for ${Math.round(silentMs / 1000)} s` : undefined;
}
