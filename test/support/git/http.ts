import { execFileSync, spawn } from "node:child_process";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { gitEnv } from "./env.ts";

/**
 * What happens to one request:
 * - "lost": it is executed, and the connection ends before the response.
 * - "late": the connection ends at once, and it is carried out `lateMs` later.
 * - "twice": it is carried out twice, and the second response is sent.
 * - "reset": the connection ends, and it is not carried out.
 * - "slow": it is carried out, and the response is sent `lateMs` later.
 * - "hang": no response, and it is not carried out.
 * - a number: that status, and it is not carried out.
 */
export type GitFault = "lost" | "late" | "twice" | "reset" | "slow" | "hang" | number;

export interface GitRequest {
  readonly method: string;
  /** "upload-pack" reads, "receive-pack" writes. */
  readonly service: string;
  /** Whether refs are listed, before anything is transferred. */
  readonly isListing: boolean;
}

export interface GitHttp {
  readonly url: string;
  readonly requests: readonly GitRequest[];
  /** How often refs were listed to read, and how many pushes were sent. */
  readonly counts: () => { readonly reads: number; readonly pushes: number };
  /** Chooses the fault for each request from now on. */
  readonly setFault: (fault: (request: GitRequest) => GitFault | undefined) => void;
  /** The credentials that a request must have, "user:password"; undefined: none. */
  readonly requireUser: (user: string | undefined) => void;
  /** Waits until late requests were executed. */
  readonly settled: () => Promise<void>;
  readonly close: () => Promise<void>;
}

const backend = join(execFileSync("git", ["--exec-path"], { encoding: "utf8" }).trim(), "git-http-backend");

/** Serves a bare repository over HTTP on loopback, through git's own program for that. */
export async function gitHttp(bare: string, lateMs = 300): Promise<GitHttp> {
  const requests: GitRequest[] = [];
  const late = new Set<Promise<unknown>>();
  let faultOf: (request: GitRequest) => GitFault | undefined = () => undefined;
  let user: string | undefined;

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? "/", "http://localhost");
    const service = (url.searchParams.get("service") ?? basename(url.pathname)).replace(/^git-/, "");
    const asked: GitRequest = { method: request.method ?? "", service, isListing: url.pathname.endsWith("/info/refs") };
    const body = await bodyOf(request);
    if (user !== undefined && request.headers.authorization?.replace(/^basic /i, "") !== Buffer.from(user).toString("base64")) {
      response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end();
      return;
    }
    requests.push(asked);
    const carryOut = (): Promise<CgiResponse> => runBackend(bare, request, url, body);
    const fault = faultOf(asked);
    if (fault === "hang") return;
    if (fault === "reset") return void request.socket.destroy();
    if (typeof fault === "number") return void response.writeHead(fault, fault === 429 ? { "retry-after": "1" } : {}).end("refused");
    if (fault === "late") {
      request.socket.destroy();
      const done = sleep(lateMs).then(carryOut);
      late.add(done);
      await done.finally(() => late.delete(done));
      return;
    }
    if (fault === "twice") await carryOut();
    const { status, headers, content } = await carryOut();
    if (fault === "slow") await sleep(lateMs);
    if (fault === "lost") return void request.socket.destroy();
    response.writeHead(status, headers).end(content);
  };
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : new Error(String(error)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/${basename(bare)}`,
    requests,
    counts: () => ({
      reads: requests.filter(({ service, isListing }) => service === "upload-pack" && isListing).length,
      pushes: requests.filter(({ service, isListing }) => service === "receive-pack" && !isListing).length,
    }),
    setFault(fault) {
      faultOf = fault;
    },
    requireUser(credentials) {
      user = credentials;
    },
    settled: async () => void (await Promise.all(late)),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await Promise.all(late);
    },
  };
}

interface CgiResponse {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly content: Buffer;
}

/** RFC 3875: the request as environment variables and input; headers, an empty line and the content as output. */
function runBackend(bare: string, request: IncomingMessage, url: URL, body: Buffer): Promise<CgiResponse> {
  const header = (name: string): string => String(request.headers[name] ?? "");
  const child = spawn(backend, {
    env: {
      ...gitEnv,
      GIT_PROJECT_ROOT: dirname(bare),
      GIT_HTTP_EXPORT_ALL: "1",
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method ?? "",
      CONTENT_TYPE: header("content-type"),
      CONTENT_LENGTH: String(body.length),
      HTTP_CONTENT_ENCODING: header("content-encoding"),
      GIT_PROTOCOL: header("git-protocol"),
      REMOTE_USER: "user",
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.stdin.on("error", () => undefined);
  child.stdin.end(body);
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", () => resolve(parseCgi(Buffer.concat(chunks))));
  });
}

function parseCgi(output: Buffer): CgiResponse {
  const end = output.indexOf("\r\n\r\n");
  const lines = output.toString("latin1", 0, Math.max(end, 0)).split("\r\n");
  const headers = Object.fromEntries(lines.map((line) => line.split(/: (.*)/s).slice(0, 2)));
  const { Status: status = "200", ...rest } = headers;
  return { status: Number(status.split(" ")[0]), headers: rest, content: output.subarray(end + 4) };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
