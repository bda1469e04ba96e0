import { createServer, type IncomingHttpHeaders } from "node:http";
import { connect, type Socket } from "node:net";
import { type Loopback, listen } from "../../support/loopback.ts";

export interface Tunnel {
  readonly target: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

/**
 * A CONNECT proxy that connects every name to one port on loopback, so that no name is looked up.
 */
export async function proxyTo(port: number): Promise<Omit<Loopback, "received"> & { readonly tunnels: readonly Tunnel[] }> {
  const tunnels: Tunnel[] = [];
  const server = createServer();
  server.on("connect", (request, socket: Socket) => {
    tunnels.push({ target: request.url, headers: request.headers });
    const onward = connect(port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      socket.pipe(onward).pipe(socket);
    });
    for (const end of [socket, onward]) end.on("error", () => undefined);
  });
  return { ...(await listen(server)), tunnels };
}
