import type { Server } from "node:http";
import type { Socket } from "node:net";

const mostConnections = { ofAddress: 100, ofAll: 400 } as const;

/** Each connection beyond the most of its address or of all closes the oldest one, so that half-open connections keep nobody out. */
export function boundConnections(server: Server): void {
  const open = new Set<Socket>();
  server.on("connection", (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    const ofAddress = [...open].filter(({ remoteAddress }) => remoteAddress === socket.remoteAddress);
    const [oldest] = ofAddress.length > mostConnections.ofAddress ? ofAddress : open.size > mostConnections.ofAll ? open : [];
    if (oldest === undefined) return;
    open.delete(oldest);
    oldest.destroy();
  });
}
