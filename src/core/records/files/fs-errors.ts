/** Whether it is a failed system call with one of the codes ("ENOENT"), or with any code. */
export function isErrno(error: unknown, ...codes: readonly string[]): error is NodeJS.ErrnoException {
  return error instanceof Error && "code" in error && typeof error.code === "string" && (codes.length === 0 || codes.includes(error.code));
}

/**
 * The reason of a failed system call for a message: "ENOSPC: no space left on device", without the
 * call and its path.
 */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(/, [a-z]+(?: .*)?$/su, "") : "unknown reason";
}

/** For a rejection: undefined if the file does not exist. Throws any other error. */
export function unlessMissing(error: unknown): undefined {
  if (!isErrno(error, "ENOENT")) throw error;
}
