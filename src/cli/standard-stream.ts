/** stdout or stderr of this process. */
interface StandardStream {
  readonly write: (text: string) => void;
  readonly isTty: () => boolean;
  /** Of the terminal; undefined without one, and if it does not know its size, as in some containers. */
  readonly columns: () => number | undefined;
  /** Resolves when it can take more, or failed. */
  readonly drained: () => Promise<void>;
}

/**
 * Text that cannot be written is lost: a run with writes in flight must not end because its log is on a full disk. `onFailed` gets the
 * error, unless a reader closed the pipe (`| head`).
 */
export function standardStream(fd: 1 | 2, onFailed: (error: Error) => void = () => {}): StandardStream {
  const stream = (fd === 1 ? process.stdout : process.stderr).on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") onFailed(error);
  });
  return {
    write: (text) => void stream.write(text),
    isTty: () => stream.isTTY === true,
    columns: () => stream.columns || undefined,
    drained: () => drained(stream),
  };
}

/** The standard output of this process. If it cannot be written, says so once on stderr, and the process exits with 1 instead of 0. */
export function standardOutput(stderr: StandardStream): StandardStream {
  let hasFailed = false;
  return standardStream(1, ({ message }) => {
    if (hasFailed) return;
    hasFailed = true;
    stderr.write(
      `dimsync: E_OUTPUT: stdout could not be written: ${message.replace(/, write$/u, "")}. The output is incomplete. Write to a file on another disk.\n`,
    );
    process.once("exit", (code) => {
      process.exitCode = code === 0 ? 1 : code;
    });
  });
}

function drained(stream: NodeJS.WriteStream): Promise<void> {
  if (!stream.writableNeedDrain || stream.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      for (const event of ["drain", "close", "error"]) stream.off(event, end);
      resolve();
    };
    for (const event of ["drain", "close", "error"]) stream.on(event, end);
  });
}
