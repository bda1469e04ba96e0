import type { CiEnvironment } from "../../core/forge/environment.ts";
import { withSettings } from "../../core/git/remote.ts";
import type { Environment } from "../../core/model/settings/env.ts";

/**
 * The environment with settings of git that send pushes to the remote `origin` to the job's URL, and the token to that URL only. They put it
 * neither on a command line nor in a file. Unchanged if the checkout may push itself.
 */
export function originCredentials({ pushUrl, token }: Pick<CiEnvironment, "pushUrl" | "token">, env: Environment): Environment {
  if (pushUrl === undefined || token === undefined) return env;
  const header = `Authorization: Basic ${Buffer.from(`oauth2:${token}`).toString("base64")}`;
  const settings = [
    ["remote.origin.pushUrl", pushUrl],
    [`http.${pushUrl}.extraHeader`, header],
  ] as const;
  return withSettings(settings, env);
}
