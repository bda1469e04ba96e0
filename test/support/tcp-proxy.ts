import { connect, createServer, type Socket } from "node:net";

/** A proxy on loopback for a TCP server, which drops responses on request. */
export interface TcpProxy {
  readonly port: number;
  /**
   * Chooses the fault for each message of a client, counted from 1 over all connections. "before":
   * the connection is cut, and the server never receives the message; "after": the server gets it,
   * and its response is lost.
   */
  cut: (message: number, bytes: Buffer) => "before" | "after" | undefined;
  /** New connections are refused; open ones stay. */
  readonly refuse: () => void;
  readonly accept: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export async function startTcpProxy(target: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let messages = 0;
  const proxy: { -readonly [K in keyof TcpProxy]: TcpProxy[K] } = {
    port: 0,
    cut: () => undefined,
    refuse: () => void server.close(),
    accept: () => listen(proxy.port),
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    let isDeaf = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        // The server finishes requests that it has received.
        if (!isDeaf) upstream.destroy();
      });
      socket.on("error", () => {});
    }
    client.on("data", (chunk) => {
      messages += 1;
      const cut = proxy.cut(messages, chunk);
      if (cut === "before") {
        client.destroy();
        return;
      }
      upstream.write(chunk);
      if (cut !== "after") return;
      isDeaf = true;
      upstream.once("data", () => client.destroy());
    });
    upstream.on("data", (chunk) => {
      if (!isDeaf) client.write(chunk);
    });
  });
  const listen = (port: number): Promise<void> => new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  await listen(0);
  const address = server.address();
  proxy.port = typeof address === "object" && address !== null ? address.port : 0;
  return proxy;
}
