import { type FailOn, planExit } from "../engine/exit-codes.ts";
import type { BaseProject } from "../engine/loosened/entry.ts";
import { plan } from "../engine/pipeline.ts";
import type { PlanOptions, Session } from "../engine/session.ts";
import type { Project } from "../manifests/project.ts";
import { secretPlaces } from "../manifests/secrets/resolve.ts";
import { changeCount, isOutside } from "../model/changes.ts";
import { defined } from "../model/json/json.ts";
import type { Plan } from "../model/plan.ts";
import type { Problem } from "../model/problem.ts";
import { describeSecret, secretKey, secretsIn } from "../model/settings/secret.ts";
import { withReadOnly } from "./account.ts";
import { attributed } from "./attributed.ts";
import { withBase } from "./base.ts";
import { readRecords } from "./open-records.ts";
import { openReview, withCatalogProblems } from "./review.ts";
import { accountSession, type RunEnvironment, withGitState } from "./session.ts";

export interface PlanAccountOptions extends PlanOptions {
  /** Loads the base, while the records are read. */
  readonly loadBase?: () => Promise<BaseProject>;
  /** What makes the exit code 2. */
  readonly failOn?: readonly FailOn[];
}

/** Compares the project with its account, and says who made the changes that it would undo. Only sends GET: the client refuses anything else before it opens a socket. */
export async function planAccount(given: Project, options: PlanAccountOptions, run: RunEnvironment): Promise<Plan> {
  const project = withCatalogProblems(given);
  const { failOn, loadBase, ...others } = options;
  const loading = loadBase?.();
  // It is awaited below, unless the records cannot be read.
  loading?.catch(() => undefined);
  return withReadSession(project, run, async (session) => {
    const review = await openReview(project);
    const chosen = (await loading) ?? options.base;
    const problems = chosen === undefined ? [] : newSecrets(project, chosen);
    const asked =
      problems.length === 0
        ? session
        : { ...session, project: { ...session.project, problems: [...session.project.problems, ...problems] } };
    const isNeeded = refusesOutsideChanges(project, options);
    const { session: based, base } = await withBase(asked, project, { base: chosen, isNeeded });
    const made = await plan({ ...based, review }, { ...others, ...defined({ base }), isReview: chosen !== undefined });
    const isUndoing = made.items.some((item) => changeCount(item, isOutside) > 0);
    const whole = isUndoing ? await attributed(made, { env: run.env }, session) : made;
    return { ...whole, exit: planExit(whole, failOn) };
  });
}

/** The secrets that apply will need and that no manifest of the base has, each where it is written. */
function newSecrets({ manifests }: Project, base: Pick<Project, "manifests">): readonly Problem[] {
  const secretsOf = (all: Project["manifests"]) => secretsIn(all.map(({ spec }) => spec));
  const known = new Set(secretsOf(base.manifests).map(secretKey));
  const added = new Map(secretsOf(manifests).flatMap((one) => (known.has(secretKey(one)) ? [] : [[secretKey(one), one] as const])));
  return [...added.values()].map((reference): Problem => {
    const message = `Apply will need ${describeSecret(reference)}, which no manifest of the base uses. Set it in the job that applies before this is merged.`;
    return { code: "I_NEW_SECRET", severity: "info", message, ...defined({ place: secretPlaces(reference, manifests)[0]?.place }) };
  });
}

/** Whether the plan needs to know what someone changed in the account. */
export const refusesOutsideChanges = ({ settings }: Project, { allow }: Pick<PlanOptions, "allow">): boolean =>
  settings.review === "strict" && allow?.has("outsideChanges") !== true;

/** Runs `work` with a read-only session on the project's account, and closes the account afterwards. */
export async function withReadSession<T>(project: Project, run: RunEnvironment, work: (session: Session) => Promise<T>): Promise<T> {
  const { settings } = project;
  return withGitState(project, run, (git) =>
    withReadOnly(project, run, async (client) => {
      const state = run.records ?? (await readRecords(settings, run));
      return await work(accountSession(project, client, () => state, git, run));
    }),
  );
}
