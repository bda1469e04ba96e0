import { tmpdir } from "node:os";
import { join } from "node:path";

/** A user without settings. Caches are of each test process; the keys of what is kept there are paths of temporary folders. */
export const home = { HOME: "/nonexistent", XDG_CACHE_HOME: join(tmpdir(), `caches-of-${process.pid}`) };

/** Git as on a new machine: without the user's settings, but with an author. */
export const gitEnv: Readonly<Record<string, string>> = {
  PATH: process.env["PATH"] ?? "",
  ...home,
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "Dana",
  GIT_AUTHOR_EMAIL: "dana@example.com",
  GIT_COMMITTER_NAME: "Dana",
  GIT_COMMITTER_EMAIL: "dana@example.com",
};
