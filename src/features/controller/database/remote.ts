import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, readFile, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { DatabaseError } from "pg";
import { DimsyncError } from "../../../core/model/errors.ts";
import { isObject, own } from "../../../core/model/json/json.ts";
import { writeAtomic } from "../../../core/records/files/atomic.ts";
import type { Database, Rows } from "../../../core/records/postgres/connection.ts";
import { isEqual, type RefuseToken, refuseTokens } from "../page/session.ts";

// Only one process can open the embedded database. Other commands send their statements to it: over
// loopback, with a token that only the owner of the state folder can read. The status page is another
// server, which only reads.

const controlFile = (folder: string): string => join(folder, "control.json");

/** Serves the database of this process to commands of the same user. `close` removes the file that names the port. */
export async function serveDatabase(database: Database, folder: string): Promise<{ readonly close: () => Promise<void> }> {
  const token = randomBytes(32).toString("base64url");
  const refuseToken = refuseTokens();
  const server = createServer((incoming, response) => void respond(incoming, response, { database, token, refuseToken }));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeAtomic(controlFile(folder), `${JSON.stringify({ port, token, pid: process.pid })}\n`, { mode: 0o600 });
  return {
    async close() {
      await rm(controlFile(folder), { force: true });
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface Served {
  readonly database: Database;
  readonly token: string;
  readonly refuseToken: RefuseToken;
}

async function respond(incoming: IncomingMessage, response: ServerResponse, { database, token, refuseToken }: Served): Promise<void> {
  const send = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(body));
  };
  try {
    if (!isEqual(incoming.headers.authorization ?? "", `Bearer ${token}`))
      return refuseToken(incoming.socket.remoteAddress ?? "", new Date()) === "blocked"
        ? send(429, {}, { "retry-after": "60" })
        : send(401, {});
    const body = await json(incoming);
    const [text, values] = isObject(body) ? [own(body, "text"), own(body, "values")] : [];
    if (typeof text !== "string") return send(400, {});
    const results = Array.isArray(values) ? [await database.query(text, values)] : await database.script(text);
    send(
      200,
      results.map(({ rows, rowCount }) => ({ rows, rowCount })),
    );
  } catch (error) {
    const code = error instanceof DatabaseError ? error.code : undefined;
    send(500, { message: error instanceof Error ? error.message : "", ...(code === undefined ? {} : { code }) });
  }
}

/** The embedded database of the controller that runs with this state folder. Throws E_CONTROLLER_NOT_RUNNING. */
export async function openRemoteDatabase(folder: string): Promise<Database> {
  const control = await readControl(folder);
  if (control === undefined) throw notRunning(folder);
  const { port, token, pid } = control;
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const call = async (body: object): Promise<readonly Rows[]> => {
    const request = { method: "POST", headers, body: JSON.stringify(body) };
    const answer: unknown = await fetch(`http://127.0.0.1:${port}/`, request)
      .then((response) => response.json())
      .catch((error: unknown) => {
        throw notRunning(folder, error);
      });
    if (Array.isArray(answer)) return answer;
    throw failure(answer);
  };
  return {
    query: async (text, values) => (await call({ text, values }))[0] ?? { rows: [], rowCount: 0 },
    script: (text) => call({ text }),
    processIds: async () => ({ given: pid, actual: pid }),
    close: async () => {},
  };
}

interface Control {
  readonly port: number;
  readonly token: string;
  readonly pid: number;
}

async function readControl(folder: string): Promise<Control | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(controlFile(folder), "utf8"));
    if (!isObject(value)) return undefined;
    const { port, token, pid } = value;
    return typeof port === "number" && typeof token === "string" && typeof pid === "number" ? { port, token, pid } : undefined;
  } catch {
    return undefined;
  }
}

/** The failure of a statement, as pg reports it. */
function failure(answer: unknown): Error {
  const { message: text, code } = isObject(answer) ? answer : {};
  const message = String(text ?? "");
  if (typeof code !== "string") return new Error(message);
  const error = new DatabaseError(message, message.length, "error");
  error.code = code;
  return error;
}

const notRunning = (folder: string, cause?: unknown): DimsyncError =>
  new DimsyncError(
    "E_CONTROLLER_NOT_RUNNING",
    `No controller runs with the state folder ${folder}. If the controller uses PostgreSQL, set --database or DIMSYNC_DATABASE_URL; otherwise start it:`,
    { cause, command: "dimsync controller run" },
  );
