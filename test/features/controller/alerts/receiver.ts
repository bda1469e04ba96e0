import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { serve } from "../../../support/loopback.ts";

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
  const { url } = await serve((request, response) => {
    requests.push({ ...request, path: request.url, message: JSON.parse(request.body || "{}") });
    receiver.respond(response);
  });
  receiver.url = `${url}${path}`;
  return receiver;
}
