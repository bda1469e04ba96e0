import type { Environment } from "../model/settings/env.ts";
import type { CiEnvironment } from "./environment.ts";

type PushTarget = Pick<CiEnvironment, "pushUrl" | "token">;

/**
 * Configuration of git that sends the token to one URL only, and puts it neither on a command line
 * nor in a file. Empty if the checkout may push itself.
 */
export function pushCredentials({ pushUrl, token }: PushTarget, env: Environment): Environment {
  if (pushUrl === undefined || token === undefined) return {};
  const header = `Authorization: Basic ${Buffer.from(`oauth2:${token}`).toString("base64")}`;
  return gitSettings([[`http.${pushUrl}.extraHeader`, header]], env);
}

/** As `pushCredentials`, and pushes to the remote `origin` go to that URL. */
export function originCredentials({ pushUrl, token }: PushTarget, env: Environment): Environment {
  if (pushUrl === undefined || token === undefined) return {};
  const credentials = pushCredentials({ pushUrl, token }, env);
  return { ...credentials, ...gitSettings([["remote.origin.pushUrl", pushUrl]], { ...env, ...credentials }) };
}

/** The variables that add settings to those of git in `env`. */
function gitSettings(settings: readonly (readonly [string, string])[], env: Environment): Environment {
  const count = Number(env["GIT_CONFIG_COUNT"] ?? 0);
  const pairs = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${count + index}`, key],
    [`GIT_CONFIG_VALUE_${count + index}`, value],
  ]);
  return { GIT_CONFIG_COUNT: String(count + settings.length), ...Object.fromEntries(pairs) };
}
