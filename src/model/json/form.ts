import type { KeyOrder } from "./lazy.ts";

/** How JSON is printed. */
export interface JsonForm {
  /** The keys of a map in the order in which they are printed. */
  readonly inOrder: (keys: readonly string[]) => readonly string[];
  /** Whether `inOrder` sorts. */
  readonly order: KeyOrder;
  /** Two spaces, or "" for one line. */
  readonly space: "  " | "";
  /** A string with quotes; JSON.stringify if absent. Not called for printable ASCII without quotes and backslashes. */
  readonly quoted?: (text: string) => string;
}

export const newLine = ({ space }: JsonForm, indent: string): string => (space === "" ? "" : `\n${indent}`);
export const colon = ({ space }: JsonForm): string => (space === "" ? ":" : ": ");

/** Printable ASCII without quotes and backslashes. */
export const isPlain = (text: string): boolean => plainText.test(text);

const plainText = /^[ !#-[\]-~]*$/u;

export const quoted = (text: string, form: JsonForm): string => `"${inQuotes(text, form)}"`;

/** A string as it is printed, without its quotes. */
export const inQuotes = (text: string, form: JsonForm): string =>
  isPlain(text) ? text : (form.quoted ?? JSON.stringify)(text).slice(1, -1);
