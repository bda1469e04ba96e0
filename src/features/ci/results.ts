import { gitText } from "../../core/base/git/process.ts";
import type { Plan, Result } from "../../core/base/model/plan.ts";
import { visible } from "../../core/base/text/control-characters.ts";
import type { Rest } from "../../core/operations/forge/index.ts";
import { targetPlace } from "../../core/render/index.ts";
import { upsertComment } from "./comments.ts";
import { mergedPullRequests, pullRequestComments } from "./github.ts";
import { mergedMergeRequests, mergeRequestComments } from "./gitlab.ts";
import type { CiJob, FailedTarget } from "./job.ts";
import { failedSection, notMade, notSent, resultSection } from "./plan-comment.ts";
import { commentOptions, openJobProvider, orWarn, prefixOf, recheckMs, requestWord, roomOf } from "./provider.ts";

/** What the records knew of a target before apply. */
export interface AppliedBefore {
  /** The commit that was applied last; undefined: they know none. */
  readonly commit: string | undefined;
  /** Whether the manifests are still those of that commit: then no merge since then concerns the target. */
  readonly isSame: boolean;
}

/** What an apply did. */
interface AppliedTargets {
  readonly documents: readonly (Plan | Result)[];
  /** Those that were applied. */
  readonly plans: readonly Plan[];
  readonly failed: readonly FailedTarget[];
  /** All targets of the project, in its order. */
  readonly known: readonly string[];
  /** The folder of the project. */
  readonly folder: string;
  readonly before: ReadonlyMap<string, AppliedBefore>;
}

/**
 * Puts what apply did after a push into the comments on the pull requests that were merged since the target was applied last, in place of the plans: GitHub
 * replaces a waiting job by a newer one, and a job that failed applied nothing. Throws only E_INTERRUPTED.
 */
export async function commentResults(job: CiJob, applied: AppliedTargets): Promise<void> {
  const rest = job.environment.isAppliedPush ? openJobProvider(job) : undefined;
  if (rest === undefined) return;
  const { provider, repository } = job.environment;
  const { known, documents, failed } = applied;
  const targets = [...documents, ...failed].map(({ target }) => target);
  await orWarn(job, `The result is in the log and the summary of this job, but not on the ${requestWord(job)}.`, async () => {
    const requests = await requestsOf(job, rest, { ...applied, targets });
    const all = sectionsOf(job, applied, requests);
    for (const number of new Set([...requests.values()].flat())) {
      const here = targets.filter((target) => requests.get(target)?.includes(number) === true);
      const mine = all.filter(({ target }) => here.includes(target));
      const comments = (provider === "github" ? pullRequestComments : mergeRequestComments)(rest, repository, number);
      const outcome = await upsertComment(comments, { ...commentOptions(job), recheckMs }, (sections) => {
        if (sections.length === 0 && mine.every(({ isEmpty }) => isEmpty)) return [];
        return [...sections.filter(({ target }) => !here.includes(target)), ...mine].sort(
          (a, b) => known.indexOf(a.target) - known.indexOf(b.target),
        );
      });
      job.log(`dimsync: result for ${visible(here.join(", "))} on ${requestWord(job)} ${number}: ${outcome}\n`);
    }
  });
}

/** The numbers of the requests by target. */
type Requests = ReadonlyMap<string, readonly string[]>;

function sectionsOf(job: CiJob, { documents, plans, failed, known }: AppliedTargets, requests: Requests) {
  const filePrefix = prefixOf(job);
  const sign = job.environment.provider === "gitlab" ? "!" : "#";
  const options = (target: string) => ({
    filePrefix,
    room: roomOf(known),
    applied: plans.find((one) => one.target === target),
    requests: (requests.get(target) ?? []).map((number) => `${sign}${number}`),
  });
  return [
    ...documents.map((one) => ({ target: one.target, ...resultSection(one, options(one.target)) })),
    ...failed.map(({ target, failure }) => ({ target, ...failedSection(failedTitle(target, plans, filePrefix), failure) })),
  ];
}

/** Only a plan that was made is sent. */
export function failedTitle(target: string, plans: readonly Plan[], filePrefix: string): string {
  const place = targetPlace(target, filePrefix);
  return plans.some((one) => one.target === target) ? notMade("result", place) : notSent(place);
}

/** More commits than this are not looked up. */
const mostCommits = 20;

/** A squash and a rebase make commits of their own, and one push can have several merges. */
async function requestsOf(
  { environment, env }: CiJob,
  rest: Rest,
  { documents, targets, folder, before }: AppliedTargets & { readonly targets: readonly string[] },
): Promise<Requests> {
  const { provider, repository } = environment;
  const revisions = async (range: readonly string[]): Promise<readonly string[]> =>
    (await gitText({ folder, env }, ["rev-list", "--first-parent", ...range]).catch(() => "")).split("\n").filter(Boolean);
  const head = (await revisions(["--max-count=1", "HEAD"]))[0];
  const rangeOf = (target: string): readonly string[] => {
    const { commit, isSame = false } = before.get(target) ?? {};
    if (commit !== undefined && !isSame) return [`--max-count=${mostCommits}`, `${commit}..HEAD`];
    const hasResult = documents.some((one) => one.target === target && one.kind === "Result");
    // Nothing was merged for it, or an old job runs again: what it found concerns no pull request.
    if (commit !== undefined && (!hasResult || (environment.commit ?? head) !== head)) return [];
    return environment.before === undefined ? ["--max-count=1", "HEAD"] : [`--max-count=${mostCommits}`, `${environment.before}..HEAD`];
  };
  const merged = provider === "github" ? mergedPullRequests : mergedMergeRequests;
  const known = new Map<string, readonly string[]>();
  const found = new Map<string, readonly string[]>();
  for (const target of targets) {
    const range = rangeOf(target);
    const commits = range.length === 0 ? [] : await revisions(range);
    for (const commit of commits) if (!known.has(commit)) known.set(commit, await merged(rest, repository, commit));
    found.set(target, [...new Set(commits.flatMap((commit) => known.get(commit) ?? []))]);
  }
  return found;
}
