import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { isObject, own } from "../base/model/json/json.ts";
import { isErrno } from "./files/atomic.ts";

/** A process among those of all machines. */
export interface HolderProcess {
  readonly pid: number;
  readonly host: string;
  /** Identifies the PID namespace: two containers may share a host name, but not the pids. "" if unknown. */
  readonly pidSpace: string;
  /** When the process was started, in the kernel's ticks, to detect a pid that is used again. "" if unknown. */
  readonly processStart: string;
  /** Identifies the machine since its last start. "" if unknown. */
  readonly bootId: string;
}

export const thisHolder = (): HolderProcess => ({
  pid: process.pid,
  host: hostname(),
  pidSpace: pidSpace(),
  processStart: processStat(process.pid)?.start ?? "",
  bootId: bootId(),
});

/** "process 812 on runner-3"; "" if nothing is known. */
export const holderText = (holder: HolderProcess | undefined): string =>
  holder === undefined ? "" : `process ${holder.pid} on ${holder.host}`;

/** What was read, if it is a process. */
export function toHolder(value: unknown): HolderProcess | undefined {
  if (!isObject(value)) return undefined;
  const text = (key: string): string => {
    const found = own(value, key);
    return typeof found === "string" ? found : "";
  };
  const pid = own(value, "pid");
  if (typeof pid !== "number" || !Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return { pid, host: text("host"), pidSpace: text("pidSpace"), processStart: text("processStart"), bootId: text("bootId") };
}

/**
 * Whether the process is certainly no longer running: it ran on this machine since its last start, in
 * this PID namespace. A process of another machine is never known to be gone.
 */
export function isGone(holder: HolderProcess): boolean {
  if (holder.bootId === "" || holder.pidSpace === "" || holder.processStart === "") return false;
  return holder.bootId === bootId() && holder.pidSpace === pidSpace() && !isAlive(holder);
}

/** The same of a process in a file of this host, which may have been started again since. */
export const hasEnded = (holder: HolderProcess): boolean => isHere(holder) && !isAlive(holder);

/** Whether the process is certainly running: its pid is not that of a later one. */
export const isRunning = (holder: HolderProcess): boolean => holder.processStart !== "" && isHere(holder) && isAlive(holder);

const isHere = ({ host, pidSpace: space }: HolderProcess): boolean => host === hostname() && space === pidSpace();

function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "";
  }
}

/** Whether the process is running. Ask only in its own PID namespace. */
function isAlive(owner: HolderProcess): boolean {
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    // EPERM: alive, but another user's.
    return !isErrno(error, "ESRCH");
  }
  const found = processStat(owner.pid);
  if (found === undefined) return true;
  // A killed process that nobody has waited for still receives signals.
  if (found.state === "Z" || found.state === "X") return false;
  return owner.processStart === "" || found.start === owner.processStart;
}

/** Identifies the PID namespace of this process; "" if unknown. */
function pidSpace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return "";
  }
}

function processStat(pid: number): { readonly state: string; readonly start: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // proc(5): the second field, the command in parentheses, may contain anything; state is the 3rd field, start time the 22nd.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { state: fields[0] ?? "", start: fields[19] ?? "" };
  } catch {
    return undefined;
  }
}
