import { createWriteStream } from "node:fs";
import { open, readFile, rename, unlink } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGzip, gunzipSync } from "node:zlib";
import { DimsyncError } from "../model/errors.ts";
import { type Snapshot, toSnapshot } from "./snapshot.ts";

const oneMiB = 1024 * 1024;

/**
 * Writes the pieces to a file that is there only when it is whole. Compressed by gzip where the name ends in .gz or the text grows beyond 1 MiB;
 * reading doesn't care. Returns what came of it. Throws what Node's calls throw.
 */
export async function writeSnapshotFile(
  file: string,
  pieces: AsyncIterable<string>,
): Promise<{ readonly bytes: number; readonly compressed: boolean }> {
  const temp = `${file}.${process.pid}.tmp`;
  const held: string[] = [];
  let bytes = 0;
  let compressed = file.endsWith(".gz");
  let gzip: ReturnType<typeof createGzip> | undefined;
  let flowing: Promise<void> | undefined;
  const write = async (piece: string): Promise<void> => {
    // A disk that is full ends the flow, and then there is no drain to wait for.
    if (gzip !== undefined && !gzip.write(piece)) await Promise.race([new Promise((resolve) => gzip?.once("drain", resolve)), flowing]);
  };
  const begin = async (): Promise<void> => {
    gzip = createGzip({ level: 6 });
    flowing = pipeline(gzip, createWriteStream(temp, { mode: 0o600 }));
    flowing.catch(() => {});
    for (const piece of held.splice(0)) await write(piece);
  };
  try {
    if (compressed) await begin();
    for await (const piece of pieces) {
      bytes += Buffer.byteLength(piece);
      if (gzip === undefined) held.push(piece);
      else await write(piece);
      if (bytes > oneMiB && gzip === undefined) {
        compressed = true;
        await begin();
      }
    }
    if (gzip !== undefined) {
      gzip.end();
      await flowing;
    } else {
      const handle = await open(temp, "w", 0o600);
      await handle.writeFile(held.join(""));
      await handle.close();
    }
    await rename(temp, file);
    return { bytes, compressed };
  } catch (error) {
    gzip?.destroy();
    await unlink(temp).catch(() => undefined);
    throw error;
  }
}

/** Reads a snapshot, compressed or not. Throws E_SNAPSHOT. */
export async function readSnapshotFile(file: string): Promise<Snapshot> {
  let text: string;
  try {
    const content = await readFile(file);
    const isGzip = content[0] === 0x1f && content[1] === 0x8b;
    text = (isGzip ? gunzipSync(content) : content).toString("utf8");
  } catch (error) {
    throw new DimsyncError(
      "E_SNAPSHOT",
      `${file} can't be read: ${error instanceof Error ? error.message : String(error)}. Check the path, or take the snapshot again.`,
      {
        cause: error,
      },
    );
  }
  try {
    return toSnapshot(JSON.parse(text), file);
  } catch (error) {
    if (error instanceof DimsyncError) throw error;
    throw new DimsyncError("E_SNAPSHOT", `${file} is no JSON, so it is no snapshot. Make one with: dimsync snapshot --out FILE`, {
      cause: error,
    });
  }
}
