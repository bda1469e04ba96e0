import { printableJson, visible } from "../../core/text/control-characters.ts";

interface LogFields {
  /** Default: info. */
  readonly level?: "info" | "warn" | "error";
  readonly account?: string;
}

export type Log = (message: string, fields?: LogFields) => void;

export const logFormats = ["text", "json"] as const;

/** Writes one line for each message: text for people, or an object for a log collector. */
export const makeLog =
  (format: (typeof logFormats)[number], write: (line: string) => void): Log =>
  (message, fields = {}) => {
    const time = new Date().toISOString();
    const { level = "info", account } = fields;
    write(
      format === "json"
        ? `${printableJson(JSON.stringify({ time, level, message, account }))}\n`
        : `${time} ${account === undefined ? "" : `${visible(account)}: `}${visible(message)}\n`,
    );
  };
