import { rm } from "node:fs/promises";
import { gitText } from "../../git/process.ts";
import { temporaryFolder } from "../../git/temporary-folder.ts";
import type { RecordsChange } from "../records.ts";
import { parseMessage } from "./message.ts";
import type { RecordsRepository } from "./repository.ts";

/**
 * The newest commits of the ref, newest first. They are fetched into a repository that is deleted
 * again: a shallow fetch into the one that is kept could cut off what it knows. Throws GitError.
 */
export async function readCommits(repository: RecordsRepository, limit: number): Promise<readonly RecordsChange[]> {
  const folder = await temporaryFolder("history");
  try {
    const place = { ...repository.place, gitDir: folder };
    await gitText(place, ["init", "--quiet", "--bare", "--template=", `--object-format=${repository.objectFormat}`]);
    const flags = ["--quiet", "--no-tags", "--no-write-fetch-head", "--filter=tree:0", `--depth=${limit}`];
    await gitText(place, ["fetch", ...flags, repository.url, `+${repository.ref}:refs/history`], { timeoutMs: 60_000 });
    const text = await gitText(place, ["log", "-z", "--format=%H%n%cI%n%B", "refs/history"]);
    return text.split("\0").flatMap((entry) => {
      const [version = "", at = "", ...message] = entry.split("\n");
      return version === "" ? [] : [{ version, at, ...parseMessage(message.join("\n")) }];
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
