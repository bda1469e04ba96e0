import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import type { AccountState } from "./account.ts";
import { isObject, own } from "./own.ts";

/** Keeps the account in memory, or in memory and a file. */
export interface Store {
  readonly account: AccountState;
  /** Writes the file (temporary file, fsync, rename) and returns when it is on disk. Does nothing in memory. */
  readonly save: () => void;
}

/** Opens the file, or creates it from `initial`. Throws an Error if the file is not an account. */
export function openStore(file: string | undefined, initial: () => AccountState): Store {
  if (file === undefined) return { account: initial(), save: () => undefined };
  const exists = existsSync(file);
  const account = exists ? readAccount(file) : initial();
  // One instance of the service writes a file, so the process id is enough to keep the temporary name apart.
  const save = (): void => {
    const temporary = `${file}.${process.pid}.tmp`;
    // Connections hold passwords.
    const handle = openSync(temporary, "w", 0o600);
    try {
      writeFileSync(handle, JSON.stringify(account, null, 1));
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(temporary, file);
  };
  if (!exists) save();
  return { account, save };
}

const members: Readonly<Record<string, (value: unknown) => boolean>> = {
  ...Object.fromEntries(["users", "assets", "integrations", "tags", "auditLogs"].map((list) => [list, Array.isArray])),
  catalogue: isObject,
  sequence: Number.isSafeInteger,
  nextIntegrationNumber: (value) => /^\d+$/.test(String(value)),
};

function readAccount(file: string): AccountState {
  let account: unknown;
  try {
    account = JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw notAnAccount(file, "it is not JSON", cause);
  }
  if (!isObject(account)) throw notAnAccount(file, "it is not a JSON object");
  const wrong = Object.keys(members).find((name) => members[name]?.(own(account, name)) !== true);
  if (wrong !== undefined) throw notAnAccount(file, `its member ${wrong} is missing or has another type`);
  // The service wrote the file, so the entries of the lists are not checked.
  return account as unknown as AccountState;
}

function notAnAccount(file: string, why: string, cause?: unknown): Error {
  return new Error(
    `${file} is not an account of the embedded service: ${why}. Use another file, or delete this one to start with the seed.`,
    { cause },
  );
}
