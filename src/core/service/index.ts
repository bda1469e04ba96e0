export { type Client, type ClientOptions, createClient } from "./client.ts";
export { decodeWrite } from "./reads.ts";
export type { CallReport } from "./request.ts";
export { backoffMs, retryAfterMs } from "./retry.ts";
