import { ServiceError } from "../model/errors.ts";
import type { CallName } from "./errors.ts";
import type { SendRequest } from "./request.ts";

/**
 * Refuses every method except GET and HEAD before a socket is opened.
 * @throws ServiceError E_READ_ONLY, `sent` "never".
 */
export function refuseWrites(exchange: SendRequest): SendRequest {
  return (call) => (call.method === "GET" || call.method === "HEAD" ? exchange(call) : Promise.reject(refusal(call)));
}

function refusal({ method, path }: CallName): ServiceError {
  return new ServiceError(
    "E_READ_ONLY",
    `${method} ${path}: not sent, because this client only reads. Only apply writes to the account, and only without --read-only and DIMSYNC_READ_ONLY.`,
    { method, path, sent: "never" },
  );
}
