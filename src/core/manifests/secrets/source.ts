import { execFile } from "node:child_process";
import { open } from "node:fs/promises";
import { delimiter, resolve } from "node:path";
import { errorCode } from "../../model/errors.ts";
import { own } from "../../model/json/json.ts";
import { allowPathVariable, allowsCode, howToAllowCode, isPullRequestJob } from "../../model/settings/env.ts";
import type { SecretSource } from "../../model/settings/secret.ts";
import type { Code } from "../../model/titles.ts";
import { boundaryOf, outsideMessage } from "../boundary.ts";

export interface SecretOptions {
  /** Absolute path of the folder of dimsync.yaml: paths are relative to it, and commands run in it. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal?: AbortSignal | undefined;
  /** Of one command; default: 30 s. */
  readonly timeoutMs?: number | undefined;
}

/** Why a secret has no value, without the value. */
export interface SecretFault {
  readonly code: Code;
  readonly message: string;
}

const maxBytes = 1024 * 1024;

/** The text of an environment variable, a file or a command's output. Throws the signal's reason when aborted. */
export async function readSecretText(source: SecretSource, options: SecretOptions): Promise<{ readonly text: string } | SecretFault> {
  if (source.env !== undefined) return fromEnvironment(source.env, options);
  if (source.file !== undefined) return fromFile(source.file, options);
  if (source.exec !== undefined) return fromCommand(source.exec, options);
  return fault("E_SECRET_SOURCE", "The reference has none of env, file and exec. Add exactly one.");
}

function fromEnvironment(name: string, { env }: SecretOptions): { readonly text: string } | SecretFault {
  const text = own(env, name);
  if (text !== undefined && text !== "") return { text };
  const state = text === undefined ? "is not set" : "is empty, which counts as missing";
  return fault("E_SECRET_MISSING", `The environment variable ${name} ${state}. Set it where dimsync runs.`);
}

/** Whoever opens a pull request could otherwise have any file of the machine read. The operator's own files are in folders for secrets. */
function whyOutside(file: string, { folder, env }: SecretOptions): string | undefined {
  if (!isPullRequestJob(env)) return undefined;
  const ofOperator = ["/run/secrets", env["DIMSYNC_SECRETS_DIR"], env["DIMSYNC_API_KEY_FILE"], env[allowPathVariable]];
  const allowed = ofOperator.filter((path) => path !== undefined && path !== "").join(delimiter);
  const { leadsOutside, top } = boundaryOf(folder, { cwd: process.cwd(), env: { [allowPathVariable]: allowed } });
  const target = leadsOutside(resolve(folder, file));
  if (target === undefined) return undefined;
  return `${outsideMessage(file, target, top)} In a pull request, secrets can also be in /run/secrets and DIMSYNC_SECRETS_DIR.`;
}

async function fromFile(file: string, options: SecretOptions): Promise<{ readonly text: string } | SecretFault> {
  const { folder, signal } = options;
  const path = resolve(folder, file);
  signal?.throwIfAborted();
  const outside = whyOutside(file, options);
  if (outside !== undefined) return fault("E_PATH_OUTSIDE", outside);
  let bytes: Buffer;
  try {
    bytes = await readUpToLimit(path);
  } catch (error) {
    const reason = errorCode(error);
    return reason === "ENOENT"
      ? fault("E_SECRET_MISSING", `The file ${path} does not exist. Its path is relative to the folder of dimsync.yaml.`)
      : fault("E_SECRET_UNREADABLE", `The file ${path} can't be read (${reason}). Check its permissions.`);
  }
  return decode(bytes, "The file");
}

/** Reads at most one byte more than the limit: the path may be a device. */
async function readUpToLimit(path: string): Promise<Buffer> {
  const file = await open(path, "r");
  try {
    const buffer = Buffer.alloc(maxBytes + 1);
    let length = 0;
    while (length <= maxBytes) {
      const { bytesRead } = await file.read(buffer, length, buffer.length - length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return buffer.subarray(0, length);
  } finally {
    await file.close();
  }
}

function fromCommand([command, ...args]: readonly string[], options: SecretOptions): Promise<{ readonly text: string } | SecretFault> {
  const { folder, env, signal, timeoutMs = 30_000 } = options;
  if (command === undefined) return Promise.resolve(fault("E_SECRET_SOURCE", "`exec` is an empty list. Add a command."));
  if (!allowsCode(env))
    return Promise.resolve(fault("E_CODE_NOT_ALLOWED", `The secret is the output of a command of the project. ${howToAllowCode}`));
  return new Promise((settle, reject) => {
    // SIGKILL, because a command that handles SIGTERM would block the run.
    const how = {
      cwd: folder,
      env: { ...env },
      timeout: timeoutMs,
      maxBuffer: maxBytes,
      killSignal: "SIGKILL",
      encoding: "buffer",
      windowsHide: true,
    } as const;
    const failed = (why: string) => settle(fault("E_SECRET_COMMAND", `${why} Its output is not shown, because it may contain the secret.`));
    try {
      const child = execFile(command, args, { ...how, ...(signal === undefined ? {} : { signal }) }, (error, stdout) => {
        if (signal?.aborted) reject(signal.reason);
        else if (error === null) settle(decode(stdout, "The command's output"));
        else failed(whyFailed(error, timeoutMs));
      });
      // A command that reads standard input gets an empty one; it may have closed it already.
      child.stdin?.on("error", () => {});
      child.stdin?.end();
    } catch {
      // Node refuses arguments with a NUL character, and its message quotes them.
      failed("The command or an argument contains a NUL character, which a command line cannot contain.");
    }
  });
}

function whyFailed(
  error: Error & { readonly code?: unknown; readonly killed?: boolean; readonly signal?: unknown },
  timeoutMs: number,
): string {
  if (error.code === "ENOENT")
    return "The command was not found, or the folder of dimsync.yaml does not exist. A relative path of a command is relative to that folder.";
  if (error.code === "EACCES") return "The command is not executable. Check its permissions.";
  if (error.code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER") return "The command printed more than 1 MiB.";
  if (error.killed === true) return `The command did not end within ${timeoutMs / 1000} s.`;
  if (typeof error.code === "number") return `The command ended with exit code ${error.code}. Run it by hand to see why.`;
  return `The command ended abnormally (${typeof error.code === "string" ? error.code : String(error.signal ?? "unknown")}).`;
}

/** UTF-8 text without one newline at the end, which editors and `echo` add. */
function decode(bytes: Buffer, what: string): { readonly text: string } | SecretFault {
  if (bytes.length > maxBytes) return fault("E_SECRET_UNREADABLE", `${what} is longer than 1 MiB.`);
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes).replace(/\r?\n$/u, "");
    return text === "" ? fault("E_SECRET_MISSING", `${what} is empty.`) : { text };
  } catch {
    return fault("E_SECRET_UNREADABLE", `${what} is not UTF-8 text.`);
  }
}

export const fault = (code: Code, message: string): SecretFault => ({ code, message });
