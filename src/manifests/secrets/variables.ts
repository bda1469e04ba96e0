import { ProblemsError } from "../../model/errors.ts";
import { type Locate, type Problem, problemAt } from "../../model/problem.ts";
import { secretsIn } from "../../model/settings/secret.ts";
import type { LoadedConfig } from "../config/load.ts";
import { secretVariable } from "../interpolate.ts";
import type { ReadManifest } from "../manifest.ts";
import type { EnvironmentUse } from "../substitute.ts";

/**
 * The manifests, without those that contain the value of an environment variable that is also the source of a `$secret` anywhere in the project: a
 * problem takes their place, and no other problem of them, because it could quote the value. Throws ProblemsError if the config or a variable file
 * contains one.
 */
export function withoutSecretVariables(manifests: readonly ReadManifest[], config: LoadedConfig, locate: Locate): readonly ReadManifest[] {
  if (config.environment.length === 0 && manifests.every(({ environment }) => environment === undefined)) return manifests;
  const references = [...config.secrets, ...secretsIn(manifests.map(({ effective }) => effective))];
  const sources = new Set(references.map(({ $secret }) => $secret.env));
  const problemsOf = (uses: readonly EnvironmentUse[] = []): readonly Problem[] =>
    uses
      .filter(({ name }) => sources.has(name))
      .map(({ name, place }) => problemAt(place, secretVariable(name, "is the source of a $secret of the project")));
  const ofConfig = problemsOf(config.environment);
  if (ofConfig.length > 0) throw new ProblemsError(ofConfig, locate);
  return manifests.map((manifest) => {
    const problems = problemsOf(manifest.environment);
    return problems.length === 0 ? manifest : { place: manifest.place, problems };
  });
}
