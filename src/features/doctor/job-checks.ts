import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ciFiles, ciProject, readKey } from "../../core/forge/workflows.ts";
import { repositoryTop } from "../../core/git/top.ts";
import type { Settings } from "../../core/model/settings/config.ts";
import type { Environment } from "../../core/model/settings/env.ts";
import { andMore } from "../../core/text/lists.ts";
import { type Check, ok, warn } from "./check.ts";

/** Whether the jobs of CI that init wrote name every target and its keys. None without such jobs. */
export async function jobChecks({ folder, baseUrl }: Pick<Settings, "folder" | "baseUrl">, env: Environment): Promise<readonly Check[]> {
  const check = "CI jobs";
  const top = repositoryTop(folder) ?? folder;
  const project = await ciProject({ root: folder, top, baseUrl }, env);
  const paths = (["github", "gitlab"] as const)
    .flatMap((ci) => Object.keys(ciFiles(ci, project)))
    .filter((path) => path !== ".gitlab-ci.yml");
  const found = paths.filter((path) => existsSync(join(top, path)));
  if (found.length === 0) return [];
  const text = found.map((path) => readFileSync(join(top, path), "utf8")).join("\n");
  // Of secrets.NAME, the name.
  const words = new Set([/[^\w.-]+/u, /[^\w-]+/u].flatMap((between) => text.split(between)));
  const missing = project.targets.flatMap(({ name, key }) => {
    const lacking = [...(words.has(name) ? [] : ["its name"]), ...[key, readKey(key)].filter((word) => !words.has(word))];
    return lacking.length === 0 ? [] : [`${name} (${lacking.join(", ")})`];
  });
  if (missing.length === 0) return [ok(check, `They name every target and its keys: ${andMore(found, "file")}.`)];
  return [
    warn(
      check,
      `They do not name all that they need of ${missing.join(", ")}.`,
      `Add it, or delete ${found.join(", ")} and write new jobs: dimsync init`,
    ),
  ];
}
