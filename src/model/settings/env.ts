/** Environment variables, such as process.env. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Whether an environment variable turns something on: it is set, and not to "", 0 or false (in any case). */
export function isEnabled(value: string | undefined): boolean {
  return value !== undefined && !["", "0", "false"].includes(value.toLowerCase());
}
