import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";

/**
 * Posts JSON and returns the answer's status; the answer's body is thrown away. Redirects are not followed. `failure` is the system's code
 * ("ECONNREFUSED") or "time-out": error messages of Node hold host names, which may be part of a secret. Throws the signal's reason.
 */
export function post(
  url: URL,
  body: string,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
): Promise<{ readonly status: number } | { readonly failure: string }> {
  signal?.throwIfAborted();
  return new Promise((settle, reject) => {
    const limit = AbortSignal.timeout(timeoutMs);
    const request = url.protocol === "https:" ? requestHttps : requestHttp;
    const call = request(
      url,
      {
        method: "POST",
        headers: { "content-type": "application/json; charset=utf-8", "content-length": Buffer.byteLength(body) },
        signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
        agent: false,
      },
      (answer) => {
        settle({ status: answer.statusCode ?? 0 });
        answer.destroy();
      },
    );
    call.on("error", (error) => {
      if (signal?.aborted === true) reject(signal.reason);
      else if (limit.aborted) settle({ failure: "time-out" });
      else settle({ failure: "code" in error && typeof error.code === "string" ? error.code : "unknown" });
    });
    call.end(body);
  });
}
