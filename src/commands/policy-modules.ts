import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { PolicyFunction } from "../engine/policies.ts";
import { ConfigError } from "../manifests/config-error.ts";
import type { Address } from "../model/address.ts";
import type { Locate, Problem } from "../model/problem.ts";
import { type PolicySpec, placeIn, type Resource } from "../model/resource.ts";

/** Loads the policies that are written in JavaScript; they get data and have no client. Throws ConfigError with every module that can't be used. */
export async function loadPolicyModules(
  resources: readonly Resource[],
  folder: string,
  locate: Locate,
): Promise<ReadonlyMap<Address, PolicyFunction>> {
  const functions = new Map<Address, PolicyFunction>();
  const problems: Problem[] = [];
  for (const resource of resources) {
    const { module } = resource.spec as Partial<PolicySpec>;
    if (resource.kind !== "Policy" || module === undefined) continue;
    const report = (message: string): void => {
      problems.push({
        code: "E_POLICY_MODULE",
        severity: "error",
        summary: "Policy module",
        message: `${message} It needs a default export: ({ integration, labels, schemas }) => [{ path, message }].`,
        place: placeIn(resource, "/spec/module"),
        address: resource.address,
      });
    };
    try {
      const loaded: unknown = await import(pathToFileURL(resolve(folder, module)).href);
      const judge = typeof loaded === "object" && loaded !== null && "default" in loaded ? loaded.default : undefined;
      if (typeof judge === "function") functions.set(resource.address, judge as PolicyFunction);
      else report(`${module} has no function as its default export.`);
    } catch (error) {
      report(`${module} could not be loaded: ${error instanceof Error ? error.message : String(error)}.`);
    }
  }
  if (problems.length > 0) throw new ConfigError(problems, locate);
  return functions;
}
