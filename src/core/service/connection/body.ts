/** The part of a body that has arrived so far. */
export interface Body {
  bytes: number;
  chunks: Buffer[];
  /** The chunks of a body that is not short are copied to it one by one, so that they do not need as much memory again. */
  readonly whole: Buffer | undefined;
}

/** Buffers for the next bodies: V8 frees thousands of them so late that a fleet (W4) needed 30 MiB more. */
export type SpareBuffers = Buffer[];

/** At most what a socket is read at once. */
const shortBody = 64 * 1024;
/** The length of spare buffers. What a body does not fill of one needs no memory. */
const usualBody = 1024 * 1024;

/** `length`: as the response announces it, at most as large as a response may be; NaN if it does not. */
export const newBody = (length: number, spare: SpareBuffers): Body => ({
  bytes: 0,
  chunks: [],
  whole:
    length > shortBody
      ? ((length > usualBody ? undefined : spare.pop()) ?? Buffer.allocUnsafeSlow(Math.max(length, usualBody)))
      : undefined,
});

export function addChunk(body: Body, chunk: Buffer): void {
  const { whole, bytes } = body;
  body.bytes += chunk.length;
  if (whole === undefined) body.chunks.push(chunk);
  else chunk.copy(whole, bytes);
}

/** All that has arrived. The body does not keep it. */
export function takeBody(body: Body): Buffer {
  const { whole, chunks, bytes } = body;
  const [only] = chunks;
  body.chunks = [];
  if (whole !== undefined) return whole.subarray(0, bytes);
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, bytes);
}

/** What `takeBody` returned has been read, and its bytes may become those of another body. */
export function releaseBody({ whole }: Body, spare: SpareBuffers): void {
  if (whole?.length === usualBody) spare.push(whole);
}

/** A body that is arriving: its connection can be paused. */
export interface Arriving {
  bytes: number;
  readonly pause: () => void;
  readonly resume: () => void;
}

interface BodyBudget {
  /** More bytes of a body have arrived; the first call begins it. */
  readonly add: (body: Arriving, bytes: number) => void;
  /** The body is complete or given up. Does nothing for one that never began. */
  readonly end: (body: Arriving) => void;
}

/**
 * Bounds the bytes of all bodies that arrive at the same time: above the bound, all but one of them
 * wait until another one has ended.
 */
export function bodyBudget(mostBytes: number): BodyBudget {
  const running = new Set<Arriving>();
  const waiting = new Set<Arriving>();
  let total = 0;
  const resumeOne = (): void => {
    const [next] = waiting;
    if (next === undefined || (total > mostBytes && running.size > 0)) return;
    waiting.delete(next);
    running.add(next);
    next.resume();
    resumeOne();
  };
  return {
    add(body, bytes) {
      if (!waiting.has(body)) running.add(body);
      body.bytes += bytes;
      total += bytes;
      if (total <= mostBytes || running.size <= 1 || !running.delete(body)) return;
      waiting.add(body);
      body.pause();
    },
    end(body) {
      total -= body.bytes;
      body.bytes = 0;
      running.delete(body);
      waiting.delete(body);
      resumeOne();
    },
  };
}

/** For all clients of the process, such as those of a controller's accounts. */
export const processBudget = bodyBudget(256 * 2 ** 20);
