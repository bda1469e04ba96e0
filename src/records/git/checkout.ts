import { GitError, type GitPlace, gitText } from "../../git/process.ts";
import type { Environment } from "../../model/settings/env.ts";
import type { ObjectFormat } from "./objects.ts";

/** The remote of the project's repository, and the settings to reach it from another repository. */
export interface Remote {
  readonly name: string;
  readonly readUrl: string;
  readonly writeUrl: string;
  readonly objectFormat: ObjectFormat;
  /** The top folder of the checkout, with an environment that contains its credentials. */
  readonly place: GitPlace;
}

/**
 * Finds the remote `name` of the repository that the folder is in. Throws GitError if the folder is
 * in no repository, or the repository has no such remote.
 */
export async function findRemote(folder: string, name: string, env: Environment): Promise<Remote> {
  const clean = cleanEnv(env);
  const here: GitPlace = { folder, env: clean };
  const [repository, { readUrl, writeUrl }, config] = await Promise.all([
    gitText(here, ["rev-parse", "--show-object-format", "--show-toplevel"]),
    urlsOf(here, name),
    gitText(here, ["config", "--list", "--includes", "--show-scope", "-z"]),
  ]);
  if (readUrl === "" || writeUrl === "") throw new GitError(`the remote ${name} has no address`);
  const [format, ...top] = repository.split("\n");
  return {
    ...{ name, readUrl, writeUrl },
    // Git before 2.28 has one format, and repeats the option.
    objectFormat: format === "sha256" ? format : "sha1",
    place: { folder: top.join("\n"), env: { ...clean, ...handedOn(config, clean) } },
  };
}

/** The addresses of the remote, with the settings `insteadOf` applied. */
async function urlsOf(here: GitPlace, name: string): Promise<Pick<Remote, "readUrl" | "writeUrl">> {
  const lines = (await gitText(here, ["remote", "--verbose"])).split("\n").filter((line) => line.startsWith(`${name}\t`));
  const [readUrl, writeUrl] = [/^.*?\t(.+) \(fetch\)(?: \[[^\]]*\])?$/u, /^.*?\t(.+) \(push\)$/u].map((form) =>
    lines.map((line) => form.exec(line)?.[1]).find((url) => url !== undefined),
  );
  if (readUrl !== undefined && writeUrl !== undefined) return { readUrl, writeUrl };
  // Says why there are none.
  const one = (...flags: readonly string[]): Promise<string> => gitText(here, ["remote", "get-url", ...flags, name]);
  return { readUrl: await one(), writeUrl: await one("--push") };
}

// Set by a hook of git that runs dimsync, they would point git at the user's repository. The traces
// print credentials.
const dropped =
  /^GIT_(?:DIR|WORK_TREE|COMMON_DIR|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|NAMESPACE|PREFIX|SHALLOW_FILE|GRAFT_FILE|QUARANTINE_PATH|IMPLICIT_WORK_TREE|INTERNAL_SUPER_PREFIX|CEILING_DIRECTORIES|TRACE.*|CURL_VERBOSE|REDIRECT_.*)$/u;

function cleanEnv(env: Environment): Environment {
  const { LANGUAGE: _, ...kept } = Object.fromEntries(Object.entries(env).filter(([name]) => !dropped.test(name)));
  return { ...kept, LC_ALL: "C", GIT_TERMINAL_PROMPT: "0" };
}

/**
 * The settings of the checkout that say how to reach its remote, as GIT_CONFIG_COUNT and so on. That
 * is where actions/checkout, helpers and proxies put credentials. Settings of the user and of the
 * system apply in every repository anyway.
 */
function handedOn(config: string, env: Environment): Environment {
  const count = Number(env["GIT_CONFIG_COUNT"] ?? 0);
  const given = Array.from({ length: Number.isSafeInteger(count) ? count : 0 }, (_, index) => [
    env[`GIT_CONFIG_KEY_${index}`] ?? "",
    env[`GIT_CONFIG_VALUE_${index}`] ?? "",
  ]);
  // Later settings win, so those of the environment stay after those of the checkout.
  const pairs = [...settingsOf(config), ...given];
  return Object.fromEntries([
    ["GIT_CONFIG_COUNT", String(pairs.length)],
    ...pairs.flatMap(([key = "", value = ""], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ]);
}

/** `text`: SCOPE NUL KEY LF VALUE NUL …, as `git config --list --show-scope -z` prints it. */
function settingsOf(text: string): readonly (readonly [string, string])[] {
  const parts = text.split("\0");
  const found: [string, string][] = [];
  for (let index = 0; index + 1 < parts.length; index += 2) {
    const [scope, setting = ""] = [parts[index], parts[index + 1]];
    const end = setting.indexOf("\n");
    // A key without a value means true.
    const [key, value] = end < 0 ? [setting, "true"] : [setting.slice(0, end), setting.slice(end + 1)];
    const reaches = /^(?:http|credential|url)\.|^(?:core\.sshcommand|ssh\.variant)$/u.test(key);
    if (reaches && (scope === "local" || scope === "worktree")) found.push([key, value]);
  }
  return found;
}
