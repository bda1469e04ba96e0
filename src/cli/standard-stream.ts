import { fstatSync, writeSync } from "node:fs";

/** stdout or stderr of this process. */
interface StandardStream {
  readonly write: (text: string) => void;
  readonly isTty: () => boolean;
  /** Of the terminal; undefined without one, and if it does not know its size, as in some containers. */
  readonly columns: () => number | undefined;
  /** Resolves when it can take more, or failed. */
  readonly drained: () => Promise<void>;
}

/** A pipe has room for 64 KiB, so that this much never waits for its reader. */
const directBytes = 16_384;

/**
 * Writes the first few kilobytes to a file or a pipe without Node's streams, whose code takes 5 ms to load. `validate` takes 45 million
 * instructions less of 180 million. Text that cannot be written is lost: a run with writes in flight must not end because its log is on a full disk.
 * `onFailed` gets the error, unless a reader closed the pipe (`| head`).
 */
export function standardStream(fd: 1 | 2, onFailed: (error: Error) => void = () => {}): StandardStream {
  const isDevice = fstatSync(fd).isCharacterDevice();
  let directlyLeft = isDevice || process.platform === "win32" ? 0 : directBytes;
  let opened: NodeJS.WriteStream | undefined;
  const stream = (): NodeJS.WriteStream => {
    opened ??= (fd === 1 ? process.stdout : process.stderr).on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") onFailed(error);
    });
    return opened;
  };
  return {
    write(text) {
      const bytes = directlyLeft > 0 ? Buffer.from(text) : undefined;
      directlyLeft -= bytes?.length ?? 0;
      if (bytes === undefined || directlyLeft < 0) stream().write(text);
      else writeDirectly(fd, bytes, (rest) => stream().write(rest));
    },
    isTty: () => isDevice && stream().isTTY === true,
    columns: () => (isDevice ? stream().columns || undefined : undefined),
    drained: () => (opened === undefined ? Promise.resolve() : drained(opened)),
  };
}

/** `refused` gets what the system did not take at once, because the pipe is full. */
function writeDirectly(fd: number, bytes: Buffer, refused: (rest: Buffer) => void): void {
  let done = 0;
  try {
    while (done < bytes.length) done += writeSync(fd, bytes, done);
  } catch {
    // Its stream handles a full pipe, and reports what failed.
    refused(bytes.subarray(done));
  }
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
