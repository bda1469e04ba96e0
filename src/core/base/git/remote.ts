import type { Environment } from "../model/settings/env.ts";
import { GitError, type GitPlace, gitText } from "./process.ts";

/** How to reach a remote: the address has no credentials, so that it can be an argument of a process. They are in the environment. */
export interface Connection {
  readonly url: string;
  /** What to fetch from, or push to, in the checkout: the remote by its name, so that git updates its branches, unless its address has credentials. */
  readonly argument: string;
  readonly env: Environment;
}

/** The fetch URL and the push URL of a remote can differ. */
interface Remote {
  readonly toRead: Connection;
  readonly toWrite: Connection;
}

/**
 * Finds a remote of the checkout by its name; a URL is used as it is. Throws GitError if the folder is in no checkout, or the checkout has no such
 * remote.
 */
export async function findRemote(place: GitPlace, name: string): Promise<Remote> {
  const { readUrl, writeUrl } = /^[\w+.-]+:\/\//u.test(name) ? { readUrl: name, writeUrl: name } : await urlsOf(place, name);
  if (readUrl === "" || writeUrl === "") throw new GitError(`the remote ${name} has no address`);
  // Git would take it for an option, and some of its options name programs.
  if (readUrl.startsWith("-") || writeUrl.startsWith("-")) throw new GitError(`the address of the remote ${name} begins with a dash`);
  const connection = (url: string): Connection => connectionTo(url, { name, env: place.env });
  return { toRead: connection(readUrl), toWrite: connection(writeUrl) };
}

/** The addresses of the remote, with the settings `insteadOf` applied. */
async function urlsOf(place: GitPlace, name: string): Promise<{ readonly readUrl: string; readonly writeUrl: string }> {
  const lines = (await gitText(place, ["remote", "--verbose"])).split("\n").filter((line) => line.startsWith(`${name}\t`));
  const [readUrl, writeUrl] = [/^.*?\t(.+) \(fetch\)(?: \[[^\]]*\])?$/u, /^.*?\t(.+) \(push\)$/u].map((form) =>
    lines.map((line) => form.exec(line)?.[1]).find((url) => url !== undefined),
  );
  if (readUrl !== undefined && writeUrl !== undefined) return { readUrl, writeUrl };
  // Says why there are none.
  const one = (...flags: readonly string[]): Promise<string> => gitText(place, ["remote", "get-url", ...flags, name]);
  return { readUrl: await one(), writeUrl: await one("--push") };
}

// Git passes the credentials in a URL to programs such as git-remote-https as an argument, which every user of the machine can see. A
// helper gives them when the server asks, as git does with those in a URL.
const helper = `!f() { if test "$1" = get; then printf 'username=%s\\npassword=%s\\n' "$DIMSYNC_GIT_USERNAME" "$DIMSYNC_GIT_PASSWORD"; fi; }; f`;

function connectionTo(address: string, { name, env }: { readonly name: string; readonly env: Environment }): Connection {
  const [, scheme = "", credentials, host = ""] = /^(https?:\/\/)(?:([^/?#]*)@)?([^/?#]*)/iu.exec(address) ?? [];
  const server = scheme + host;
  const url = credentials === undefined ? address : server + address.slice(scheme.length + credentials.length + 1 + host.length);
  // The settings `insteadOf` were applied. Applied again, they could add credentials; the longest one wins.
  const asItIs = [`url.${url}.insteadOf`, `url.${url}.pushInsteadOf`].map((key) => [key, url] as const);
  if (credentials === undefined) return { url, argument: name, env: withSettings(asItIs, env) };
  const [user = "", password] = (/^([^:]*)(?::(.*))?$/su.exec(credentials) ?? []).slice(1).map((part) => part && decoded(part));
  if (password === undefined) return { url, argument: url, env: withSettings([...asItIs, [`credential.${server}.username`, user]], env) };
  const asked = ["", helper].map((value) => [`credential.${server}.helper`, value] as const);
  const given = { DIMSYNC_GIT_USERNAME: user, DIMSYNC_GIT_PASSWORD: password };
  return { url, argument: url, env: { ...withSettings([...asItIs, ...asked], env), ...given } };
}

function decoded(part: string): string {
  let text = part;
  try {
    text = decodeURIComponent(part);
  } catch {
    // A percent sign that stands for itself.
  }
  if (/[\n\0]/u.test(text)) throw new GitError("the credentials in the address of the remote contain a line break");
  return text;
}

/** The environment with more settings for git; later ones win, so they win over those that it has. */
export function withSettings(settings: readonly (readonly [key: string, value: string])[], env: Environment): Environment {
  const found = Number(env["GIT_CONFIG_COUNT"] ?? 0);
  const count = Number.isSafeInteger(found) && found > 0 ? found : 0;
  const pairs = settings.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${count + index}`, key],
    [`GIT_CONFIG_VALUE_${count + index}`, value],
  ]);
  return { ...env, GIT_CONFIG_COUNT: String(count + settings.length), ...Object.fromEntries(pairs) };
}

/** What the configuration of a checkout says about its objects and about how to reach its remotes. */
export interface CheckoutSettings {
  readonly objectFormat: "sha1" | "sha256";
  /** By the keys of git, in the order of the configuration. */
  readonly reaching: readonly (readonly [key: string, value: string])[];
}

/** Reads the checkout's own settings: those of the user and of the system apply in every repository anyway. Throws GitError. */
export async function checkoutSettings(place: GitPlace): Promise<CheckoutSettings> {
  const own = ownSettings(await gitText(place, ["config", "--list", "--includes", "--show-scope", "-z"]));
  const isSha256 = own.some(([key, value]) => key === "extensions.objectformat" && value === "sha256");
  const reaching = own.filter(([key]) => /^(?:http|credential)\.|^(?:core\.sshcommand|ssh\.variant)$/u.test(key));
  return { objectFormat: isSha256 ? "sha256" : "sha1", reaching };
}

/**
 * The environment of a `Connection` with the settings of the checkout that say how to reach its remotes, for another repository. That is where
 * actions/checkout, helpers and proxies put credentials. Those that replace addresses are not needed, because `findRemote` has applied them.
 */
export function handedOn({ reaching }: CheckoutSettings, env: Environment): Environment {
  // Settings of the environment win over those of the checkout.
  const count = Number(env["GIT_CONFIG_COUNT"] ?? 0);
  const given = Array.from({ length: Number.isSafeInteger(count) ? count : 0 }, (_, index) => index).map(
    (index) => [env[`GIT_CONFIG_KEY_${index}`] ?? "", env[`GIT_CONFIG_VALUE_${index}`] ?? ""] as const,
  );
  return withSettings([...reaching, ...given], { ...env, GIT_CONFIG_COUNT: "0" });
}

/** `text`: SCOPE NUL KEY LF VALUE NUL …, as `git config --list --show-scope -z` prints it. */
function ownSettings(text: string): CheckoutSettings["reaching"] {
  const parts = text.split("\0");
  const found: [string, string][] = [];
  for (let index = 0; index + 1 < parts.length; index += 2) {
    const [scope, setting = ""] = [parts[index], parts[index + 1]];
    const end = setting.indexOf("\n");
    // A key without a value means true.
    const [key, value] = end < 0 ? [setting, "true"] : [setting.slice(0, end), setting.slice(end + 1)];
    if (scope === "local" || scope === "worktree") found.push([key, value]);
  }
  return found;
}
