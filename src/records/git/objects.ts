import { createHash } from "node:crypto";
import { deflateSync } from "node:zlib";
import { type GitPlace, gitText } from "../../git/process.ts";

// The ids of objects are computed here, and all objects are written by one process: a process for
// each would take most of the time of a write.

export type ObjectFormat = "sha1" | "sha256";

/** A blob, a tree or a commit. */
export interface GitObject {
  readonly type: keyof typeof packTypes;
  readonly content: Buffer;
  readonly id: string;
}

/** An entry of a tree. */
export interface TreeEntry {
  readonly mode: "100644" | "40000";
  readonly name: string;
  readonly id: string;
}

const packTypes = { commit: 1, tree: 2, blob: 3 } as const;

export function objectOf(type: GitObject["type"], content: Buffer, format: ObjectFormat): GitObject {
  const id = createHash(format).update(`${type} ${content.length}\0`).update(content).digest("hex");
  return { type, content, id };
}

export function treeOf(entries: readonly TreeEntry[], format: ObjectFormat): GitObject {
  // Git orders folders as if their names ended with a slash.
  const key = ({ mode, name }: TreeEntry): Buffer => Buffer.from(mode === "40000" ? `${name}/` : name);
  const parts = [...entries]
    .sort((a, b) => Buffer.compare(key(a), key(b)))
    .flatMap(({ mode, name, id }) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(id, "hex")]);
  return objectOf("tree", Buffer.concat(parts), format);
}

/** Writes the objects into the repository. Throws GitError. */
export async function writeObjects(place: GitPlace, objects: readonly GitObject[], format: ObjectFormat): Promise<void> {
  await gitText(place, ["unpack-objects", "-q"], { input: packOf(objects, format) });
}

/** A pack, version 2: see gitformat-pack(5). */
function packOf(objects: readonly GitObject[], format: ObjectFormat): Buffer {
  const header = Buffer.from("PACK\0\0\0\x02\0\0\0\0", "latin1");
  header.writeUInt32BE(objects.length, 8);
  const pack = Buffer.concat([header, ...objects.flatMap(({ type, content }) => [sizeOf(type, content.length), deflateSync(content)])]);
  return Buffer.concat([pack, createHash(format).update(pack).digest()]);
}

/** The type, and the size as 4 bits and then 7 bits for each byte, lowest first. */
function sizeOf(type: GitObject["type"], size: number): Buffer {
  const bytes = [(packTypes[type] << 4) | (size & 15)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    bytes.push((bytes.pop() ?? 0) | 128, rest & 127);
  }
  return Buffer.from(bytes);
}
