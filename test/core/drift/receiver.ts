import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { listen } from "../../support/loopback.ts";

export interface Notified {
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A webhook on loopback. Its path is a canary that must not appear anywhere. */
export interface Receiver {
  /** How it responds from now on; "hang": not at all. */
  status: number | "hang";
  readonly received: readonly Notified[];
  readonly port: number;
  readonly url: string;
}

/** With a certificate, it uses TLS. */
export async function startReceiver(certificate?: { readonly cert: string; readonly key: string }): Promise<Receiver> {
  const received: Notified[] = [];
  const listener: RequestListener = async (request, response) => {
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    received.push({ headers: request.headers, body: JSON.parse(text) as Notified["body"] });
    if (receiver.status !== "hang") response.writeHead(receiver.status, { location: "/elsewhere" }).end("never mind");
  };
  const server: Server = certificate === undefined ? createServer(listener) : createTlsServer(certificate, listener);
  const { url, port } = await listen(server);
  const receiver: Receiver = { status: 200, received, port, url: `${url}/hook/canary` };
  return receiver;
}
