import { ServiceError } from "../model/errors.ts";
import type { CallName } from "./errors.ts";
import type { SendRequest } from "./request.ts";

/**
 * The read-only door: what it wraps is never asked for anything but GET and HEAD, so no socket is opened for a write (product §3.1).
 * @throws ServiceError E_READ_ONLY, `sent` "never".
 */
export function refuseWrites(exchange: SendRequest): SendRequest {
  return (call) => (call.method === "GET" || call.method === "HEAD" ? exchange(call) : Promise.reject(refusal(call)));
}

function refusal({ method, path }: CallName): ServiceError {
  return new ServiceError(
    "E_READ_ONLY",
    `${method} ${path}: refused before anything was sent, because this client only reads. Only apply writes to the account, and neither does it with --read-only or DIMSYNC_READ_ONLY set.`,
    { method, path, sent: "never" },
  );
}
