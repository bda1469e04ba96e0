import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createSocketServer, type Server, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { freePort } from "./free-port.ts";

export interface Received {
  readonly method: string;
  /** As in the request line. */
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface Loopback {
  readonly url: string;
  readonly port: number;
  readonly received: Received[];
  readonly connections: () => number;
}

type Answer = (request: Received, response: ServerResponse, turn: number) => unknown;

/**
 * A service on loopback for one test. `answer` gets the whole request and the number of earlier
 * ones.
 */
export async function serve(answer: Answer): Promise<Loopback> {
  const received: Received[] = [];
  const listener: RequestListener = async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const { method = "", url = "", headers } = request;
    const turn = received.push({ method, url, headers, body }) - 1;
    await answer({ method, url, headers, body }, response, turn);
  };
  return { ...(await listen(createServer(listener))), received };
}

/** A TCP server; the test handles its sockets. */
export async function serveSockets(onSocket: (socket: Socket, turn: number) => void): Promise<Loopback> {
  let turn = 0;
  const server = createSocketServer((socket) => {
    socket.on("error", () => undefined);
    onSocket(socket, turn);
    turn += 1;
  });
  return { ...(await listen(server)), received: [] };
}

export async function listen(server: Server): Promise<Omit<Loopback, "received">> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on("connection", (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, connections: () => connections };
}

/** Nothing listens there. */
export const refusedUrl = async (): Promise<string> => `http://127.0.0.1:${await freePort()}`;

export const json = (response: ServerResponse, body: unknown, status = 200, headers: Record<string, string> = {}): void => {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
};
