import { ProblemsError } from "../../model/errors.ts";
import { type Locate, type Problem, problemAt } from "../../model/problem.ts";
import { secretsIn } from "../../model/settings/secret.ts";
import type { LoadedConfig } from "../config/load.ts";
import type { LoadOptions } from "../config/options.ts";
import { secretVariable } from "../interpolate.ts";
import type { ReadManifest } from "../manifest.ts";
import type { EnvironmentUse } from "../substitute.ts";

/**
 * The manifests, without those that contain the value of an environment variable that is also the source of a `$secret` anywhere in the project, or one of
 * `others`: a problem takes their place, and no other problem of them, because it could quote the value. Throws ProblemsError if the config or a variable
 * file contains one.
 */
export async function withoutSecretVariables(
  manifests: readonly ReadManifest[],
  { environment, secrets }: Pick<LoadedConfig, "environment" | "secrets">,
  { locate, others }: { readonly locate: Locate; readonly others: LoadOptions["secretVariables"] },
): Promise<readonly ReadManifest[]> {
  if (environment.length === 0 && manifests.every((manifest) => manifest.environment === undefined)) return manifests;
  const references = [...secrets, ...secretsIn(manifests.map(({ effective }) => effective))];
  const sources = new Set(references.map(({ $secret }) => $secret.env));
  const more = await others?.();
  const problemsOf = (uses: readonly EnvironmentUse[] = []): readonly Problem[] =>
    uses.flatMap(({ name, place }) => {
      const where = sources.has(name) ? "of the project" : "in the branch that this pull request would be merged into";
      const isSecret = sources.has(name) || more?.has(name) === true;
      return isSecret ? [problemAt(place, secretVariable(name, `is the source of a $secret ${where}`))] : [];
    });
  const ofConfig = problemsOf(environment);
  if (ofConfig.length > 0) throw new ProblemsError(ofConfig, locate);
  return manifests.map((manifest) => {
    const problems = problemsOf(manifest.environment);
    return problems.length === 0 ? manifest : { place: manifest.place, problems };
  });
}
