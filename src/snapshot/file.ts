import { createWriteStream } from "node:fs";
import { open, readFile, rename, unlink } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGzip, gunzipSync } from "node:zlib";
import { DimsyncError } from "../model/errors.ts";
import { type Snapshot, toSnapshot } from "./snapshot.ts";

const oneMiB = 1024 * 1024;

/**
 * Writes the pieces to a temporary file, which gets its name when it is complete. Compressed with
 * gzip if the name ends in .gz or the text is larger than 1 MiB. Throws system errors and what
 * `pieces` throws.
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
  let written: Promise<void> | undefined;
  const write = async (piece: string): Promise<void> => {
    // If the disk is full, the pipeline fails and `drain` is never emitted.
    if (gzip !== undefined && !gzip.write(piece)) await Promise.race([new Promise((resolve) => gzip?.once("drain", resolve)), written]);
  };
  const startGzip = async (): Promise<void> => {
    gzip = createGzip({ level: 6 });
    written = pipeline(gzip, createWriteStream(temp, { mode: 0o600 }));
    written.catch(() => {});
    for (const piece of held.splice(0)) await write(piece);
  };
  try {
    if (compressed) await startGzip();
    for await (const piece of pieces) {
      bytes += Buffer.byteLength(piece);
      if (gzip === undefined) held.push(piece);
      else await write(piece);
      if (bytes > oneMiB && gzip === undefined) {
        compressed = true;
        await startGzip();
      }
    }
    if (gzip !== undefined) {
      gzip.end();
      await written;
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
      `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}. Check the path, or take the snapshot again.`,
      {
        cause: error,
      },
    );
  }
  try {
    return toSnapshot(JSON.parse(text), file);
  } catch (error) {
    if (error instanceof DimsyncError) throw error;
    throw new DimsyncError("E_SNAPSHOT", `${file} is not JSON, so it is not a snapshot. To create one:`, {
      cause: error,
      command: "dimsync snapshot --out FILE",
    });
  }
}
