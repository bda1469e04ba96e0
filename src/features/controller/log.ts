import { printableJson, visible } from "../../core/text/control-characters.ts";

/** What a line of the controller's log is about. */
interface LogFields {
  /** Default: info. */
  readonly level?: "info" | "warn" | "error";
  readonly account?: string;
  readonly run?: string;
  readonly code?: string;
}

export type Log = (message: string, fields?: LogFields) => void;

export const logFormats = ["text", "json"] as const;

/** Writes one line for each message: text for people, or an object for a log collector. */
export function makeLog(
  format: (typeof logFormats)[number],
  { worker, write }: { readonly worker: string; readonly write: (line: string) => void },
): Log {
  return (message, fields = {}) => {
    const time = new Date().toISOString();
    if (format === "json") write(`${printableJson(JSON.stringify({ time, level: "info", message, worker, ...fields }))}\n`);
    else write(`${time} ${visible(fields.account === undefined ? message : `${fields.account}: ${message}`)}\n`);
  };
}
