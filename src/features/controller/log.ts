import { printableJson, visible } from "../../core/base/text/control-characters.ts";

export type Log = (message: string, fields?: { readonly level?: "info" | "warn" | "error"; readonly account?: string }) => void;

/** Writes one line for each message: text for people, or an object for a log collector. */
export const makeLog =
  (format: "text" | "json", write: (line: string) => void): Log =>
  (message, { level = "info", account } = {}) => {
    const time = new Date().toISOString();
    const text = `${time} ${account === undefined ? "" : `${visible(account)}: `}${visible(message)}`;
    write(`${format === "text" ? text : printableJson(JSON.stringify({ time, level, message, account }))}\n`);
  };
