import { printableJson, visible } from "../../core/base/text/control-characters.ts";

export type Log = (message: string, fields?: { readonly level?: "info" | "warn" | "error"; readonly account?: string }) => void;

/**
 * Writes one line for each message: text for people, or an object for a log collector. The same warning or error is written once a minute: a database
 * that is down fails many statements a second.
 */
export function makeLog(format: "text" | "json", write: (line: string) => void, now: () => number = Date.now): Log {
  const written = new Map<string, number>();
  return (message, { level = "info", account } = {}) => {
    const key = `${account}: ${message}`;
    if (level !== "info" && now() - (written.get(key) ?? Number.NEGATIVE_INFINITY) < 60_000) return;
    if (written.size > 1000) written.clear();
    written.set(key, now());
    const time = new Date(now()).toISOString();
    const text = `${time} ${account === undefined ? "" : `${visible(account)}: `}${visible(message)}`;
    write(`${format === "text" ? text : printableJson(JSON.stringify({ time, level, message, account }))}\n`);
  };
}
