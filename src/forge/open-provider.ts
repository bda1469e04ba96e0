import type { Environment } from "../model/settings/env.ts";
import type { CiEnvironment } from "./environment.ts";
import { openRest, type Rest } from "./rest.ts";

/** The REST interface of the job's provider; undefined without a provider or a token. */
export function openProvider(
  { provider, token, apiUrl }: Pick<CiEnvironment, "provider" | "token" | "apiUrl">,
  { env, signal }: { readonly env: Environment; readonly signal: AbortSignal },
): Rest | undefined {
  if (provider === "none" || token === undefined) return undefined;
  const headers =
    provider === "github"
      ? { authorization: `Bearer ${token}`, accept: "application/vnd.github+json", "x-github-api-version": "2022-11-28" }
      : { "private-token": token };
  return openRest({ name: provider === "github" ? "GitHub" : "GitLab", baseUrl: apiUrl, headers, env, signal });
}
