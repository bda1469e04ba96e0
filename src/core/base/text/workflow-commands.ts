/**
 * Writes text to stdout or stderr. In a step of GitHub Actions, the runner executes workflow commands in the log, so they are
 * broken in all text; `commands` writes those of dimsync itself.
 */
export interface Write {
  (text: string): void;
  readonly commands?: (text: string) => void;
}

/** A writer for a step of GitHub Actions. */
export const guarded = (write: (text: string) => void): Write =>
  Object.assign((text: string) => write(withoutCommands(text)), { commands: write });

/** Writes text with workflow commands of dimsync itself, in which names are escaped. */
export const writeCommands = (write: Write, text: string): void => (write.commands ?? write)(text);

/**
 * Text without workflow commands, which the runner finds by `::` at the beginning of a line, after any white space, and by
 * `##[` anywhere (ActionCommand.cs of actions/runner).
 */
export function withoutCommands(text: string): string {
  return text.replace(/^([\s\u0085]*):(?=:)/gmu, "$1: ").replaceAll("##[", "## [");
}

/** `::name key=value,key=value::message` on one line, escaped as in GitHub's toolkit. */
export function workflowCommand(name: string, properties: readonly (readonly [string, string])[], message: string): string {
  const list = properties.map(([key, value]) => `${key}=${escapedProperty(value)}`).join(",");
  return `::${name}${list === "" ? "" : ` ${list}`}::${escapedData(message)}`;
}

function escapedData(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapedProperty(text: string): string {
  return escapedData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
