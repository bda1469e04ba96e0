import type { CiEnvironment } from "../../core/forge/environment.ts";
import { withSettings } from "../../core/git/remote.ts";
import type { Environment } from "../../core/model/settings/env.ts";

type PushTarget = Pick<CiEnvironment, "pushUrl" | "token">;

/**
 * The environment with settings of git that send the token to one URL only, and put it neither on a command line nor in a file. Unchanged if
 * the checkout may push itself.
 */
export function pushCredentials({ pushUrl, token }: PushTarget, env: Environment): Environment {
  if (pushUrl === undefined || token === undefined) return env;
  const header = `Authorization: Basic ${Buffer.from(`oauth2:${token}`).toString("base64")}`;
  return withSettings([[`http.${pushUrl}.extraHeader`, header]], env);
}

/** As `pushCredentials`, and pushes to the remote `origin` go to that URL. */
export function originCredentials(target: PushTarget, env: Environment): Environment {
  if (target.pushUrl === undefined || target.token === undefined) return env;
  return withSettings([["remote.origin.pushUrl", target.pushUrl]], pushCredentials(target, env));
}
