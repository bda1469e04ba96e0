import { ServiceError } from "../model/errors.ts";
import type { Exchange } from "./exchange.ts";

/**
 * The read-only door: what it wraps is never asked for anything but GET and HEAD, so no socket is opened for a write (product §3.1).
 * @throws ServiceError E_READ_ONLY, `sent` "never".
 */
export function readOnlyDoor(exchange: Exchange): Exchange {
  return async (call) => {
    if (call.method === "GET" || call.method === "HEAD") return exchange(call);
    throw new ServiceError(
      "E_READ_ONLY",
      `${call.method} ${call.path}: refused before anything was sent, because this client only reads. Only apply writes to the account, and neither does it with --read-only or DIMSYNC_READ_ONLY set.`,
      { method: call.method, path: call.path, sent: "never" },
    );
  };
}
