import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, readFile, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { join } from "node:path";
import { DatabaseError } from "pg";
import { DimsyncError } from "../../model/errors.ts";
import { isObject, own } from "../../model/json/json.ts";
import { writeAtomic } from "../../records/files/atomic.ts";
import type { Database, Rows } from "../../records/postgres/connection.ts";
import { isEqual, type RefuseToken, refuseTokens } from "../page/session.ts";

// Only one process can open the embedded database. Other commands send their statements to it: over
// loopback, with a token that only the owner of the state folder can read. The status page is another
// server, which only reads.

const controlFile = (folder: string): string => join(folder, "control.json");

/** Statements of `check`, `status` and a bundle of `push`. */
const maxBodyBytes = 64 * 2 ** 20;

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
    const body: unknown = JSON.parse(await bodyOf(incoming));
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

async function bodyOf(stream: NodeJS.ReadableStream): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of stream) {
    pieces.push(Buffer.from(piece));
    bytes += pieces.at(-1)?.length ?? 0;
    if (bytes > maxBodyBytes) throw new Error("The request is too large.");
  }
  return Buffer.concat(pieces).toString("utf8");
}

/** The embedded database of the controller that runs with this state folder. Throws E_CONTROLLER_NOT_RUNNING. */
export async function openRemoteDatabase(folder: string): Promise<Database> {
  const control = await readControl(folder);
  if (control === undefined) throw notRunning(folder);
  const call = async (body: object): Promise<readonly Rows[]> => {
    const { status, text } = await post(control, JSON.stringify(body)).catch((error: unknown) => {
      throw notRunning(folder, error);
    });
    const answer: unknown = JSON.parse(text);
    if (status === 200 && Array.isArray(answer)) return answer;
    throw failure(answer);
  };
  return {
    query: async (text, values) => (await call({ text, values }))[0] ?? { rows: [], rowCount: 0 },
    script: (text) => call({ text }),
    processIds: async () => ({ given: control.pid, actual: control.pid }),
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

function post({ port, token }: Control, body: string): Promise<{ readonly status: number; readonly text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const outgoing = request({ host: "127.0.0.1", port, method: "POST", path: "/", headers }, (response) => {
      bodyOf(response).then((text) => resolve({ status: response.statusCode ?? 0, text }), reject);
    });
    outgoing.once("error", reject);
    outgoing.end(body);
  });
}

/** The failure of a statement, as pg reports it. */
function failure(answer: unknown): Error {
  const message = isObject(answer) ? String(own(answer, "message")) : "";
  const code = isObject(answer) ? own(answer, "code") : undefined;
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
