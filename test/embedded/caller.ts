import { request } from "node:http";
import type { EmbeddedService } from "../../src/embedded/index.ts";

export interface Reply {
  readonly status: number;
  readonly type: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** Parsed, or undefined if it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: an answer of any shape; the expectations that follow are the check.
  readonly json: any;
}

export interface Sending {
  readonly key?: string | undefined;
  /** A string is sent unchanged, anything else as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Sends one request with the path exactly as given: fetch would normalise `..`. Rejects if the
 * connection is cut.
 */
export function call(service: EmbeddedService, method: string, path: string, { body, headers, ...rest }: Sending = {}): Promise<Reply> {
  const key = "key" in rest ? rest.key : service.apiKey;
  const text = body === undefined || typeof body === "string" ? (body ?? "") : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: "127.0.0.1",
        port: service.port,
        method,
        path,
        headers: {
          ...(key === undefined ? {} : { "x-api-key": key }),
          ...(body === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(text) }),
          "user-agent": "walk/1",
          ...headers,
        },
      },
      (incoming) => {
        let received = "";
        incoming.setEncoding("utf8");
        incoming.on("data", (chunk: string) => {
          received += chunk;
        });
        incoming.on("error", reject);
        incoming.on("end", () =>
          resolve({
            status: incoming.statusCode ?? 0,
            type: String(incoming.headers["content-type"]),
            headers: incoming.headers,
            text: received,
            json: parsed(received),
          }),
        );
      },
    );
    outgoing.on("error", reject);
    outgoing.end(text);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A body of POST /v1/integrations that the seeded account takes. */
export const createBody = {
  destinationId: "d-12",
  destinationSchema: "orders_copy",
  replicationFrequency: "60",
  onSchemaUpdate: "enableAll",
  enabled: true,
  sourceConfig: {
    type: "postgres",
    name: "orders-copy-pg",
    authMethod: "direct",
    connectionType: "source",
    owners: ["dana@example.com"],
    connection: {
      username: "replicator",
      password: "canary-password",
      hostname: "db.internal",
      port: 5432,
      database: "orders",
      slot: "s1",
      publication: "p1",
    },
  },
  sourceSettings: { max_clients: 4, incremental_mode: "Change Stream" },
} as const;
