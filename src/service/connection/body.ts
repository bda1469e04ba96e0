/** The part of a body that has arrived so far. */
export interface Body {
  bytes: number;
  chunks: Buffer[];
  /** The chunks of a long body are copied to it one by one, so that they do not need as much memory again. */
  readonly whole: Buffer | undefined;
}

const longBody = 1024 * 1024;

/** `length`: as the response announces it, at most as large as a response may be; NaN if it does not. */
export const newBody = (length: number): Body => ({
  bytes: 0,
  chunks: [],
  whole: length > longBody ? Buffer.allocUnsafeSlow(length) : undefined,
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
