import type { Transport, WireResponse } from "./connection/transport.ts";

/** What a run reads, for a plan that may be repeated (src/operations/memo). */
export interface ReadLog {
  /** A response that was already received, for a run that reads the same path again; once. */
  readonly take: (path: string) => WireResponse | undefined;
  /** Called for each response to a GET. */
  readonly add: (path: string, response: WireResponse) => void;
}

/** The transport with a log of its reads. `onTaken` is called for each response that is not requested again. */
export const withReadLog = (transport: Transport, log: ReadLog, onTaken: () => void): Transport => ({
  ...transport,
  async exchange(request, signal) {
    if (request.method !== "GET") return transport.exchange(request, signal);
    const taken = log.take(request.path);
    if (taken !== undefined) {
      onTaken();
      return taken;
    }
    const outcome = await transport.exchange(request, signal);
    if (outcome.type === "response") log.add(request.path, outcome);
    return outcome;
  },
});
