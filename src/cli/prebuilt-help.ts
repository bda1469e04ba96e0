import { fstatSync, readFileSync } from "node:fs";
import { standardOutput, standardStream } from "./standard-stream.ts";

declare const DIMSYNC_VERSION: string | undefined;

/**
 * Prints `--version`, `--help` and a command's `--help` from texts that the build generates
 * (dist/help/). Returns whether it did. `--help` takes 26 ms of CPU time, and 63 if the command line
 * is loaded to print it; `node -e 0` takes 23 (minimum of 13 runs in turn). Everything else, and terminals narrower than the texts, is left to the
 * command line, which prints the same words.
 */
export function printPrebuilt(argv: readonly string[]): boolean {
  const text = prebuiltText(argv);
  if (text === undefined) return false;
  standardOutput(standardStream(2)).write(text);
  return true;
}

/** The widest line of the texts: the width of the command line's help without a terminal. */
const textColumns = 100;

function prebuiltText(argv: readonly string[]): string | undefined {
  const [first = "", second = ""] = argv;
  if (argv.length === 0 || argv.length > 2 || typeof DIMSYNC_VERSION !== "string") return undefined;
  const isAlone = argv.length === 1;
  if (isAlone && (first === "--version" || first === "-V" || first === "version")) return `${DIMSYNC_VERSION}\n`;
  const asks = (word: string): boolean => word === "--help" || word === "-h";
  const topic = isAlone && (asks(first) || first === "help") ? "dimsync" : asks(second) ? first : first === "help" ? second : "";
  if (!/^[a-z-]+$/u.test(topic) || topic.startsWith("-") || !isWide()) return undefined;
  try {
    return readFileSync(new URL(`./help/${topic}.txt`, import.meta.url), "utf8");
  } catch {
    return undefined;
  }
}

/**
 * Whether the texts fit. Uses process.stdout only if it may be a terminal, since setting it up
 * takes milliseconds.
 */
function isWide(): boolean {
  return !fstatSync(1).isCharacterDevice() || (process.stdout.columns ?? textColumns) >= textColumns;
}
