import { request } from "node:http";
import { onTestFinished } from "vitest";
import { type PageOptions, type StatusPage, startPage } from "../../../../src/features/controller/page/server.ts";
import { accountsOf, now, worldOf } from "./world.ts";

export interface Reply {
  readonly status: number;
  readonly type: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** The status page of a controller with 50 accounts, until the test ends. */
export async function started(members: Partial<PageOptions> = {}): Promise<StatusPage> {
  const page = await startPage({ reads: worldOf(accountsOf(50)), host: "127.0.0.1", port: 0, now: () => now, ...members });
  onTestFinished(page.close);
  return page;
}

export interface Asking {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** One request with the path and the headers exactly as given: fetch does not let a caller set Host. */
export function ask({ port }: StatusPage, path: string, { method = "GET", headers = {}, body }: Asking = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: "127.0.0.1", port, path, method, headers: { connection: "close", ...headers } }, (incoming) => {
      let text = "";
      incoming.setEncoding("utf8");
      incoming.on("data", (chunk: string) => {
        text += chunk;
      });
      incoming.on("error", reject);
      incoming.on("end", () =>
        resolve({ status: incoming.statusCode ?? 0, type: String(incoming.headers["content-type"]), headers: incoming.headers, text }),
      );
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}
