/** Git as on a machine of its own: no settings of the user, and an author. */
export const gitEnv: Readonly<Record<string, string>> = {
  PATH: process.env["PATH"] ?? "",
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "Dana",
  GIT_AUTHOR_EMAIL: "dana@example.com",
  GIT_COMMITTER_NAME: "Dana",
  GIT_COMMITTER_EMAIL: "dana@example.com",
};
