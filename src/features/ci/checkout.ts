import { type GitPlace, gitText } from "../../core/git/process.ts";
import type { Connection } from "../../core/git/remote.ts";
import type { Environment } from "../../core/model/settings/env.ts";

/** The checkout of a job, and what it commits and pushes as. */
export interface Checkout {
  /** In the repository. */
  readonly folder: string;
  /** Name or URL of the remote. */
  readonly remote: string;
  readonly author: { readonly name: string; readonly email: string };
  readonly env: Environment;
}

export type Git = (args: readonly string[], call?: { readonly input?: string; readonly connection?: Connection }) => Promise<string>;

/** For a push or a fetch. */
export const timeoutMs = 120_000;

/** Runs git in the checkout. Throws as `gitText` does. */
export function gitIn({ folder, author: { name, email }, env }: Omit<Checkout, "remote">, place: Pick<GitPlace, "indexFile"> = {}): Git {
  const identity = {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
  };
  return (args, { input, connection } = {}) =>
    gitText({ folder, env: { ...(connection?.env ?? env), ...identity }, ...place }, args, {
      timeoutMs,
      ...(input === undefined ? {} : { input }),
    });
}
