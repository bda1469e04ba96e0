import { changeCount, isOutside } from "../base/model/changes.ts";
import { defined } from "../base/model/json/json.ts";
import type { Plan } from "../base/model/plan.ts";
import type { Problem } from "../base/model/problem.ts";
import { describeSecret, secretKey, secretsIn } from "../base/model/settings/secret.ts";
import { type Project, secretPlaces } from "../manifests/index.ts";
import { type BaseProject, type FailOn, type PlanOptions, plan, planExit, type Run } from "../plan/index.ts";
import { attributed } from "./attributed.ts";
import { withBase, withCatalogProblems } from "./base.ts";
import { type RunEnvironment, withReadRun } from "./run.ts";

export interface PlanAccountOptions extends PlanOptions {
  /** Loads the base, while the records are read. */
  readonly loadBase?: () => Promise<BaseProject>;
  /** What makes the exit code 2. */
  readonly failOn?: readonly FailOn[];
}

/** Compares the project with its account, and says who made the changes that it would undo. Only sends GET: the client refuses anything else before it opens a socket. */
export async function planAccount(given: Project, options: PlanAccountOptions, environment: RunEnvironment): Promise<Plan> {
  const { failOn, loadBase, ...asked } = options;
  const loading = loadBase?.();
  // It is awaited below, unless the records cannot be read.
  loading?.catch(() => undefined);
  const project = withCatalogProblems(given);
  return withReadRun(project, { ...environment, options: asked }, async (opened) => {
    const chosen = (await loading) ?? options.base;
    const { run } = await withBase(chosen === undefined ? opened : withNewSecrets(opened, chosen), chosen);
    const made = await plan(run);
    const isUndoing = made.steps.some((item) => changeCount(item, isOutside) > 0);
    const whole = isUndoing ? await attributed(made, {}, run) : made;
    return { ...whole, exit: planExit(whole, failOn) };
  });
}

/** A run of a review, which reports the secrets that apply will need and that no manifest of the base has, each where it is written. */
function withNewSecrets(run: Run, base: Pick<Project, "manifests">): Run {
  const { manifests, problems } = run.project;
  const secretsOf = (all: Project["manifests"]) => secretsIn(all.map(({ spec }) => spec));
  const known = new Set(secretsOf(base.manifests).map(secretKey));
  const added = new Map(secretsOf(manifests).flatMap((one) => (known.has(secretKey(one)) ? [] : [[secretKey(one), one] as const])));
  const found = [...added.values()].map((reference): Problem => {
    const message = `Apply will need ${describeSecret(reference)}, which no manifest of the base uses. Set it in the job that applies before this is merged.`;
    return { code: "I_NEW_SECRET", severity: "info", message, ...defined({ place: secretPlaces(reference, manifests)[0]?.place }) };
  });
  const options = { ...run.options, review: "before merge" as const };
  return { ...run, options, project: { ...run.project, problems: [...problems, ...found] } };
}
