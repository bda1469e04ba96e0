import { kindOf } from "../base/model/address.ts";
import type { Manifest } from "../base/model/manifest.ts";
import { isError, type Problem } from "../base/model/problem.ts";
import { counted } from "../base/text/counts.ts";
import { policiesIn } from "../columns/policies/index.ts";
import { type Account, integrations, kindNames, selectorProblems, selectsByName } from "../kinds/index.ts";
import type { Project } from "../manifests/index.ts";
import type { RecordsState } from "../records/index.ts";
import { allowances } from "./checks/allow.ts";
import { ignoredFileProblems, leftOutProblems } from "./left-out.ts";
import { observeAccount, type RunView } from "./observe-account.ts";
import { pairsByObject, type Reviewed } from "./origin.ts";
import type { Recovered } from "./recover.ts";
import type { PlanOptions, Run } from "./run.ts";
import { everything, ignoring, manifestsInScope } from "./scope.ts";

/** The account of a run: the lists and ids that its manifests need, and which object each manifest has. */
export async function observe(run: Run, earlier: Recovered): Promise<Account> {
  const { project, scope, today } = run;
  const { settings } = project;
  const hasErrors = project.problems.some(isError);
  const { ignored, problems: expired } = ignoring(settings.ignore, today);
  const comparable = hasErrors ? [] : manifestsInScope(project.manifests, scope);
  const policies = checkedPolicies(run);
  const view = { ...runView(run, earlier), review: run.review };
  const account = await observeAccount({ ...inputOf(run, policies), project, comparable, ignored, run: view });
  const git = await run.git;
  const leftOut = leftOutProblems(git, settings.folder);
  const isStopped = hasErrors || leftOut.length > 0;
  return {
    ...account,
    comparable: isStopped ? [] : comparable,
    isStopped,
    problems: [
      ...leftOut,
      ...ignoredFileProblems(git, settings),
      ...expired,
      ...allowances(settings.allow, today).problems,
      ...account.problems,
      ...unknownIntegrations(project, account, hasErrors ? [] : [...comparable, ...policies]),
      ...lostManifests(project, run.records()),
      ...otherAccount(account, run.records()),
    ],
  };
}

/** So many integrations are not deleted at once. */
const fewestGone = 3;

/** None of the recorded integrations is there, and others are: the key belongs to another account, which must get none of these rules. */
function otherAccount(account: Pick<Account, "list" | "unreadLists">, { bindings }: Pick<RecordsState, "bindings">): readonly Problem[] {
  if (account.unreadLists.has(integrations)) return [];
  const { byId } = account.list(integrations);
  const ids = [...bindings].flatMap(([address, { id }]) => (kindOf(address) === kindNames.integration ? [id] : []));
  if (ids.length < fewestGone || byId.size === 0 || ids.some((id) => byId.has(id))) return [];
  const message = `The account has none of the ${ids.length} integrations that the records know, but ${byId.size} others, so it is probably not the account of this target. Nothing is sent. Compare baseUrl and the API key of the target. If they are right, run dimsync unbind for each integration that is gone.`;
  return [{ code: "E_GONE", severity: "error", message }];
}

/** The same account by the manifests at the base. Undefined if there is no base, or if nothing is compared. */
export async function observeReviewed(run: Run, earlier: Recovered, now: Account): Promise<Reviewed | undefined> {
  const { base } = run.options;
  if (base === undefined || now.isStopped) return undefined;
  const account = base.manifests === run.project.manifests ? now : await observeBase(base, { run, earlier, now });
  const isNow = account === now;
  const unread = [...account.unreadLists].filter((list) => !now.unreadLists.has(list)).map(({ name }) => name);
  const message = `The manifests at the base ref need a list that could not be read (${unread.join(", ")}), so the origin of the differences is unknown.`;
  return {
    account: { ...account, base: noOther },
    pairs: isNow ? new Map() : pairsByObject(account),
    locate: base.locate,
    isComplete: unread.length === 0,
    isNow,
    problems: unread.length === 0 ? [] : [{ code: "I_BASE_UNREAD", severity: "info", message }],
  };
}

/** Of a comparison whose base has the same manifests. */
const noOther = { isNow: true, schemas: () => undefined } as const;

interface BaseInput {
  readonly run: Run;
  readonly earlier: Recovered;
  readonly now: Account;
}

function observeBase(base: NonNullable<PlanOptions["base"]>, { run, earlier, now }: BaseInput): Promise<Account> {
  const kindsNow = new Set(now.comparable.map(({ kind }) => kind));
  return observeAccount({
    ...inputOf(run, checkedPolicies(run)),
    project: { ...base, settings: run.project.settings },
    // What a whole plan no longer has may be of any kind. Names may have changed since, so all of a kind are needed.
    comparable: run.scope === everything ? base.manifests : base.manifests.filter(({ kind }) => kindsNow.has(kind)),
    ignored: ignoring(base.settings?.ignore ?? [], run.today).ignored,
    run: { ...runView(run, earlier), review: base.review },
  });
}

/** Those of a part of the account check only that part. */
const checkedPolicies = ({ project, scope }: Run): readonly Manifest[] => (scope === everything ? policiesIn(project.manifests) : []);

const inputOf = ({ records, reads }: Run, policies: readonly Manifest[]) => ({
  records: records(),
  reads,
  alsoNeeded: policies.some(selectsByName) ? [integrations] : [],
});

const runView = ({ rounds, clock, kind, writer, options, missing }: Run, { ids }: Recovered): RunView => ({
  recovered: ids,
  fresh: rounds.fresh,
  now: clock.now().toISOString(),
  isRecording: kind === "Plan" && (writer !== undefined || options.isRecording === true),
  isDrift: kind === "DriftReport",
  listUnmanaged: options.listUnmanaged === true,
  ...(missing === undefined ? {} : { extended: { missing } }),
});

/** Names in selectors that no integration has. One of another target, and one whose entry of the list cannot be read, have theirs. */
function unknownIntegrations({ elsewhere }: Project, account: Account, named: readonly Manifest[]): readonly Problem[] {
  if (account.unreadLists.has(integrations)) return [];
  const others = elsewhere.filter(({ kind }) => kind === kindNames.integration).map(({ name }) => name);
  const unread = (account.unreadEntries.get(integrations) ?? []).flatMap(({ name }) => name ?? []);
  return selectorProblems(named, account, [...others, ...unread]);
}

/** A project without manifests whose objects earlier runs have managed: its files were lost, and a plan without differences would say that all is well. */
function lostManifests({ problems, settings: { target } }: Project, { bindings }: RecordsState): readonly Problem[] {
  const none = problems.find(({ code }) => code === "W_NO_MANIFESTS");
  if (none === undefined || bindings.size === 0) return [];
  const known = counted(bindings.size, "object");
  const message = `The records of target ${target} have the ids of ${known}, but nothing is compared: ${none.message}`;
  return [{ ...none, code: "E_NO_MANIFESTS", severity: "error", message }];
}
