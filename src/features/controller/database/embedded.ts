import { existsSync } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import type { Socket } from "node:net";
import { join } from "node:path";
import { Duplex } from "node:stream";
import type { PGlite } from "@electric-sql/pglite";
import pLimit from "p-limit";
import { Client } from "pg";
import { DimsyncError } from "../../../core/model/errors.ts";
import type { Rows, TransactionalDatabase } from "../../../core/records/postgres/connection.ts";
import { withStoredText } from "../../../core/records/postgres/stored-text.ts";

/**
 * PostgreSQL in this process, kept in a folder. It has one connection, and only one process may open the
 * folder. `log` gets what takes long. Throws E_CONTROLLER_DATABASE if the package is not installed.
 */
export async function openEmbeddedDatabase(folder: string, log: (text: string) => void = () => {}): Promise<TransactionalDatabase> {
  const { PGlite: Embedded } = await loadPglite();
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const dataDir = join(folder, "postgres");
  if (await isNew(dataDir)) log(`Creating the embedded database in ${dataDir}. This takes some seconds, only the first time.`);
  const db = await Embedded.create({ dataDir }).catch((error: unknown) => {
    throw damaged(dataDir, "it does not start", error);
  });
  // Results and errors have the same types as those of a server, and statements can be prepared.
  const client = new Client({ stream: () => connectionTo(db), user: "postgres", database: "postgres", password: "" });
  // The query in progress reports it.
  client.on("error", () => {});
  await client.connect();
  // A script that fails must be rolled back before anyone else uses the connection.
  const alone = pLimit(1);
  const nameOf = statementNames();
  let statements = 0;
  const query = (text: string, values: readonly unknown[]): Promise<Rows> => client.query({ ...nameOf(text), text, values: [...values] });
  return withStoredText({
    query: (text, values) =>
      alone(async () => {
        if (++statements % vacuumEvery === 0) await client.query("vacuum analyze");
        return query(text, values);
      }),
    transaction: (work) =>
      alone(async () => {
        await client.query("begin");
        try {
          const result = await work({ query });
          await client.query("commit");
          return result;
        } catch (error) {
          await client.query("rollback").catch(() => undefined);
          throw error;
        }
      }),
    script: (text) => alone(() => runScript(client, text)),
    processIds: async () => ({ given: process.pid, actual: process.pid }),
    close: () => alone(() => db.close()),
  });
}

/** Whether there is no database yet. PGlite would create a new one over what is left of an old one: throws E_CONTROLLER_DATABASE. */
async function isNew(dataDir: string): Promise<boolean> {
  if ((await readdir(dataDir).catch(() => [])).length === 0) return true;
  for (const name of ["PG_VERSION", "global/pg_control", "base", "pg_wal"])
    if (!existsSync(join(dataDir, name))) throw damaged(dataDir, `${name} is missing`);
  return false;
}

const damaged = (dataDir: string, what: string, cause?: unknown): DimsyncError =>
  new DimsyncError(
    "E_CONTROLLER_DATABASE",
    `The embedded database in ${dataDir} is damaged: ${what}. It holds the history and the records of the accounts, so dimsync does not create a new one over it. Restore the folder from a backup. If there is none, move it away; the accounts then need their records again ("dimsync records restore").`,
    { cause },
  );

/**
 * Nothing else vacuums: without it, the rows that each check updates make indexes grow for ever, and
 * prepared statements keep plans that were made for empty tables. It takes about 0.2 s.
 */
const vacuumEvery = 5_000;

/** Statements beyond them are planned each time: the controller and its queue have a few dozen. */
const maxPrepared = 200;

/**
 * Names for prepared statements, which PostgreSQL parses once and plans a few times: a third of the
 * processor time of the same statement without a name.
 */
function statementNames(): (text: string) => { readonly name?: string } {
  const names = new Map<string, string>();
  return (text) => {
    if (!names.has(text) && names.size < maxPrepared) names.set(text, `dimsync_${names.size}`);
    const name = names.get(text);
    return name === undefined ? {} : { name };
  };
}

/** A connection of pg whose server is the database in this process. */
function connectionTo(db: PGlite): Socket {
  const stream = new Duplex({
    read() {},
    writev(chunks: readonly { readonly chunk: Buffer }[], done) {
      const message = Buffer.concat(chunks.map(({ chunk }) => chunk));
      // The next call overwrites the data.
      const push = (data: Uint8Array): boolean => data.length === 0 || stream.push(Buffer.from(data));
      // Only the answer to the message that starts the session is returned. PGlite keeps the messages of
      // other answers that it returns for ever.
      const sent = message[0] === 0 ? db.execProtocolRaw(message).then(push) : db.execProtocolRawStream(message, { onRawData: push });
      sent.then(() => done(), done);
    },
  });
  const self = () => stream;
  // What pg uses of a socket.
  const socket = {
    connect: () => process.nextTick(() => stream.emit("connect")),
    setNoDelay: self,
    setKeepAlive: self,
    ref: self,
    unref: self,
  };
  return Object.assign(stream, socket) as unknown as Socket;
}

async function loadPglite(): Promise<typeof import("@electric-sql/pglite")> {
  try {
    return await import("@electric-sql/pglite");
  } catch (error) {
    throw new DimsyncError(
      "E_CONTROLLER_DATABASE",
      "The embedded database is not installed. Set --database or DIMSYNC_DATABASE_URL to use PostgreSQL, or install it next to dimsync:",
      { cause: error, command: "npm install @electric-sql/pglite@0.5.16" },
    );
  }
}

async function runScript(client: Client, text: string): Promise<readonly Rows[]> {
  try {
    return [await client.query(text)].flat();
  } catch (error) {
    await client.query("rollback").catch(() => undefined);
    throw error;
  }
}
