import type { Environment } from "../../model/settings/env.ts";

/** Variables that would override the config of every target. */
const overrides = ["DIMSYNC_BASE_URL", "DIMSYNC_API_KEY", "DIMSYNC_API_KEY_FILE", "DIMSYNC_TARGET", "DIMSYNC_CONFIG"] as const;

/**
 * The environment for loading projects. One controller has many accounts, so each names its own base URL
 * and key; `apiKey: { $secret: { env: DIMSYNC_API_KEY } }` still works, because secrets are read later.
 */
export function loadingEnvironment(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !(overrides as readonly string[]).includes(name)));
}
