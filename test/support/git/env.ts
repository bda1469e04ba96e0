/** Git as on a new machine: without the user's settings, but with an author. */
export const gitEnv: Readonly<Record<string, string>> = {
  PATH: process.env["PATH"] ?? "",
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "Dana",
  GIT_AUTHOR_EMAIL: "dana@example.com",
  GIT_COMMITTER_NAME: "Dana",
  GIT_COMMITTER_EMAIL: "dana@example.com",
};
