import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** The body of a message, as far as tests look at it. */
interface Message {
  readonly id: string;
  readonly event: string;
  readonly text: string;
  readonly resolves: readonly string[];
  readonly accounts: readonly { readonly id: string; readonly account: string; readonly actor: string | null }[];
}

export interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly message: Message;
}

/** An HTTP server on loopback that receives messages. */
export interface TestReceiver {
  /** A secret: whoever has it can post. */
  readonly url: string;
  readonly requests: ReceivedRequest[];
  /** Responds with 204 unless it is replaced. */
  respond: (response: ServerResponse) => void;
}

/** `path`: of the URL. */
export async function startReceiver(path = "/hooks/canary-hook-5f1d"): Promise<TestReceiver> {
  const requests: ReceivedRequest[] = [];
  const receiver = { url: "", requests, respond: (response: ServerResponse): void => void response.writeHead(204).end() };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString("utf8");
    requests.push({ path: request.url ?? "", headers: request.headers, body, message: JSON.parse(body === "" ? "{}" : body) });
    receiver.respond(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  return receiver;
}
