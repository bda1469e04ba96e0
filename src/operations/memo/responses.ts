import { createHash } from "node:crypto";
import type { CallCounts } from "../../model/plan.ts";
import type { WireResponse } from "../../service/connection/transport.ts";
import type { ReadLog } from "../../service/read-log.ts";

/** Path and digest of a response. */
export type Read = readonly [path: string, digest: string];

/** The responses of a plan. Some of them may have been received before the plan was begun. */
export interface Responses {
  /** For reading ahead. */
  readonly ahead: ReadLog;
  /** The digest of a response that was read ahead. */
  readonly digestOf: (path: string) => string | undefined;
  /** For the plan. */
  readonly ofPlan: ReadLog;
  /** What the plan read; undefined if it sent other requests, if one was repeated, or if there is no digest of some response. */
  readonly reads: (calls: CallCounts) => readonly Read[] | undefined;
  /** Whether the responses are too large to be read ahead. */
  readonly areTooLarge: () => boolean;
}

/** What was read ahead is in memory until the plan asks for it. */
const defaultLargestBytes = 64 * 2 ** 20;

/** `needsDigests`: asked when a response arrives. `largestBytes`: there are no digests of what comes later. */
export function createResponses(needsDigests: () => boolean, largestBytes = defaultLargestBytes): Responses {
  const held = new Map<string, { readonly response: WireResponse; readonly digest: string }>();
  const used: Read[] = [];
  let bytes = 0;
  const areTooLarge = (): boolean => bytes > largestBytes;
  const use = (path: string, response: WireResponse, digest = (): string => digestOf(response)): void => {
    bytes += response.body.length;
    if (!areTooLarge()) used.push([path, digest()]);
  };
  return {
    ahead: { take: () => undefined, add: (path, response) => void held.set(path, { response, digest: digestOf(response) }) },
    digestOf: (path) => held.get(path)?.digest,
    ofPlan: {
      take(path) {
        const one = held.get(path);
        if (one === undefined) return undefined;
        held.delete(path);
        use(path, one.response, () => one.digest);
        return one.response;
      },
      add(path, response) {
        if (needsDigests()) use(path, response);
      },
    },
    reads(calls) {
      const paths = new Set(used.map(([path]) => path));
      const isExact = Object.entries(calls).every(([method, count]) => method === "GET" && count === paths.size);
      return isExact && paths.size === used.length ? used : undefined;
    },
    areTooLarge,
  };
}

const digestOf = ({ status, body }: WireResponse): string => createHash("sha256").update(`${status} `).update(body).digest("base64");
