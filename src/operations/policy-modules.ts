import { statSync } from "node:fs";
import { resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import type { Project } from "../manifests/project.ts";
import type { Address } from "../model/address.ts";
import { ProblemsError } from "../model/errors.ts";
import type { Problem } from "../model/problem.ts";
import { type PolicySpec, problemIn, type Resource } from "../model/resource.ts";
import { allowsCode, type Environment, howToAllowCode } from "../model/settings/env.ts";
import type { PolicyFunction } from "../policies/script.ts";
import { policiesIn } from "../policies/validate.ts";

const form = "A module needs a default export: ({ integration, labels, schemas }) => [{ path, message }].";

/**
 * Loads the policies written in JavaScript, if the environment allows code. They get data, but no client. Throws ProblemsError with all modules
 * that cannot be used.
 */
export async function loadPolicyModules(
  project: Pick<Project, "resources" | "settings" | "moduleFolder" | "locate">,
  env: Environment,
): Promise<ReadonlyMap<Address, PolicyFunction>> {
  const { resources, settings, moduleFolder: folder = settings.folder, locate } = project;
  const functions = new Map<Address, PolicyFunction>();
  const refused = allowsCode(env) ? [] : notAllowed(resources);
  if (refused.length > 0) throw new ProblemsError(refused, locate);
  const problems: Problem[] = [...missingModules(resources, folder)];
  const missing = new Set(problems.map(({ address }) => address));
  for (const resource of policiesIn(resources)) {
    const { module } = resource.spec;
    if (module === undefined || missing.has(resource.address)) continue;
    try {
      const loaded: unknown = await import(currentUrl(resolve(folder, module)));
      const policy = typeof loaded === "object" && loaded !== null && "default" in loaded ? loaded.default : undefined;
      if (typeof policy === "function") functions.set(resource.address, policy as PolicyFunction);
      else problems.push(problem(resource, `The default export of ${module} is not a function.`));
    } catch (error) {
      const [line = ""] = (error instanceof Error ? `${error.name}: ${error.message}` : String(error)).split("\n");
      problems.push(problem(resource, `${module} could not be loaded: ${line.replaceAll(folder + sep, "").replace(/\.$/u, "")}.`));
    }
  }
  if (problems.length > 0) throw new ProblemsError(problems, locate);
  return functions;
}

/** Node keeps modules by URL. A long-running process must not run a module as it was before its file changed. */
function currentUrl(file: string): string {
  const { mtimeMs, size } = statSync(file);
  return `${pathToFileURL(file).href}?${mtimeMs}-${size}`;
}

/** The absolute paths of all policy modules. */
export function moduleFiles(resources: readonly Resource[], folder: string): readonly string[] {
  return policiesIn(resources).flatMap(({ spec: { module } }) => (module === undefined ? [] : [resolve(folder, module)]));
}

const notAllowed = (resources: readonly Resource[]): readonly Problem[] =>
  policiesIn(resources).flatMap((resource): readonly Problem[] => {
    const { module } = resource.spec;
    const message = `The policy is JavaScript in ${module}. ${howToAllowCode}`;
    return module === undefined ? [] : [problemIn(resource, "/spec/module", { code: "E_CODE_NOT_ALLOWED", message })];
  });

/** What a module imports, as it names it. */
export const importsIn = (text: string): readonly string[] =>
  [...text.matchAll(/\b(?:from|import|require)\s*\(?\s*["']([^"']+)["']/gu)].map(([, name = ""]) => name);

/** Problems of policies whose module does not exist. Does not run the modules. */
export function missingModules(resources: readonly Resource[], folder: string): readonly Problem[] {
  return policiesIn(resources).flatMap((resource) => {
    const { module } = resource.spec;
    if (module === undefined || statSync(resolve(folder, module), { throwIfNoEntry: false })?.isFile() === true) return [];
    return [problem(resource, `The file ${module} does not exist next to the config file.`)];
  });
}

const problem = (resource: Resource<PolicySpec>, what: string): Problem =>
  problemIn(resource, "/spec/module", { code: "E_POLICY_MODULE", message: `${what} ${form}` });
