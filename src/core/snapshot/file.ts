import { constants } from "node:buffer";
import { createWriteStream } from "node:fs";
import { open, readFile, rename, unlink } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { DimsyncError, messageOf } from "../model/errors.ts";
import { parseJson, whyNotJson } from "../model/json/parse.ts";
import { masked } from "../model/settings/secret.ts";
import { gunzipText } from "../records/files/gunzip.ts";
import { printableJson } from "../text/control-characters.ts";
import { type Snapshot, toSnapshot } from "./snapshot.ts";

const oneMiB = 1024 * 1024;

/**
 * Writes the pieces to a temporary file without the secrets of the run; it gets its name when it is complete. Compressed with
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
  let gzip = file.endsWith(".gz") ? openGzip(temp) : undefined;
  try {
    for await (const raw of pieces) {
      const piece = printableJson(masked(raw));
      bytes += Buffer.byteLength(piece);
      held.push(piece);
      if (bytes > oneMiB) gzip ??= openGzip(temp);
      if (gzip !== undefined) for (const one of held.splice(0)) await gzip.write(one);
    }
    if (gzip === undefined) await writePlain(temp, held.join(""));
    else await gzip.end();
    await rename(temp, file);
    return { bytes, compressed: gzip !== undefined };
  } catch (error) {
    gzip?.destroy();
    await unlink(temp).catch(() => undefined);
    throw error;
  }
}

async function writePlain(file: string, text: string): Promise<void> {
  const handle = await open(file, "w", 0o600);
  await handle.writeFile(text);
  await handle.close();
}

interface GzipFile {
  /** Resolves when more can be written. */
  readonly write: (piece: string) => Promise<void>;
  readonly end: () => Promise<void>;
  readonly destroy: () => void;
}

function openGzip(file: string): GzipFile {
  const gzip = createGzip({ level: 6 });
  const written = pipeline(gzip, createWriteStream(file, { mode: 0o600 }));
  written.catch(() => {});
  return {
    // If the disk is full, the pipeline fails and `drain` is never emitted.
    write: async (piece) => {
      if (!gzip.write(piece)) await Promise.race([new Promise((resolve) => gzip.once("drain", resolve)), written]);
    },
    end: async () => {
      gzip.end();
      await written;
    },
    destroy: () => gzip.destroy(),
  };
}

/** Reads a snapshot, compressed or not. Throws E_SNAPSHOT. */
export async function readSnapshotFile(file: string): Promise<Snapshot> {
  let text: string | undefined;
  try {
    const content = await readFile(file);
    const isGzip = content[0] === 0x1f && content[1] === 0x8b;
    text = isGzip ? gunzipText(content, constants.MAX_STRING_LENGTH) : content.toString("utf8");
  } catch (error) {
    throw new DimsyncError("E_SNAPSHOT", `${file} cannot be read: ${messageOf(error)}. Check the path, or take the snapshot again.`, {
      cause: error,
    });
  }
  if (text === undefined)
    throw new DimsyncError("E_SNAPSHOT", `${file} unpacks to more than 512 MB, the most that can be parsed. Check the path.`);
  try {
    return toSnapshot(parseJson(text), file);
  } catch (error) {
    if (error instanceof DimsyncError) throw error;
    throw new DimsyncError("E_SNAPSHOT", `${file} is not a snapshot: it ${whyNotJson(error, "is not JSON")}. To create one:`, {
      cause: error,
      command: "dimsync snapshot --out FILE",
    });
  }
}
