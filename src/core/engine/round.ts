import { checkImpact } from "../impact/check.ts";
import { emptyDiff, type ReadNeeds } from "../kinds/kind.ts";
import { integrations } from "../kinds/lists.ts";
import { defined } from "../model/json/json.ts";
import type { Impact, Loosened, Released } from "../model/plan.ts";
import { isError, type Problem } from "../model/problem.ts";
import type { Resource } from "../model/resource.ts";
import type { RecordsState } from "../records/records.ts";
import { counted } from "../text/counts.ts";
import { allowances } from "./checks/allow.ts";
import { checkLabels } from "./checks/labels.ts";
import type { PolicyCheck, Questions } from "./checks/policies.ts";
import { type Compared, compareUnits } from "./compare.ts";
import { type Coverage, checkCoverage } from "./covered.ts";
import { checkLoosened } from "./loosened/index.ts";
import { type ObservedAccount, observeAccount } from "./observe.ts";
import { type BaseView, baseResources, baseView } from "./origin.ts";
import { columnBudget, columnsNeeded } from "./reads/cached-reads.ts";
import type { Recovered } from "./recover.ts";
import { releasedObjects } from "./released.ts";
import { everything, type IgnoredPaths, ignoredPaths, ignoring, manifestsInScope } from "./scope.ts";
import type { LoadedProject, Round, Session } from "./session.ts";

// The steps of a round (pipeline.ts) as calls to the modules that do the work.

/** What one round read, and the manifests that it compares. */
export interface RoundView extends ObservedAccount {
  /** The manifests in scope; none if the project has errors. */
  readonly compared: readonly Resource[];
  /** The manifests in scope, with or without errors in the project. */
  readonly inScope: readonly Resource[];
  readonly base: BaseView | undefined;
  readonly claimColumns: ReturnType<typeof columnBudget>;
}

/** Whether a manifest has an error. Then nothing is compared, so that the errors are all that is reported. */
export const hasErrors = ({ problems }: Pick<LoadedProject, "problems">): boolean => problems.some(isError);

export async function observeRound(round: Round, recovered: Recovered): Promise<RoundView> {
  const { session, options, kind, reads, scope, fresh, today } = round;
  const { project } = session;
  const { settings } = project;
  const records = session.records();
  const { ignored, problems: expiredIgnores } = ignoring([...settings.ignore, ...(options.ignore ?? [])], today);
  const inScope = manifestsInScope(project.resources, scope);
  const compared = hasErrors(project) ? [] : inScope;
  const observe = (
    from: Pick<LoadedProject, "resources" | "elsewhere" | "columnLabels">,
    of: readonly Resource[],
    { review, ignored: isIgnored = ignored }: { readonly review?: Session["review"]; readonly ignored?: typeof ignored } = {},
  ): Promise<ObservedAccount> =>
    observeAccount({
      project: { ...from, settings },
      compared: of,
      records,
      reads,
      ignored: isIgnored,
      run: {
        recovered: recovered.ids,
        fresh,
        isDrift: kind === "DriftReport",
        listUnmanaged: options.listUnmanaged === true,
        review,
        ...(session.missing === undefined ? {} : { extended: { missing: session.missing } }),
        writeSecrets: options.writeSecrets ?? (() => false),
      },
    });
  const observed = await observe(project, compared, { review: session.review });
  const base =
    options.base === undefined || hasErrors(project)
      ? undefined
      : baseView(
          observed,
          // What a whole plan no longer has may be of any kind.
          await observe(options.base, scope === everything ? options.base.resources : baseResources(options.base.resources, compared), {
            review: options.base.review,
            ignored: ignoring(options.base.settings?.ignore ?? [], today).ignored ?? (() => false),
          }),
          options.base.locate,
        );
  const problems: readonly Problem[] = [
    ...expiredIgnores,
    ...allowances(settings.allow, today).problems,
    ...observed.problems,
    ...(base?.problems ?? []),
    ...lostManifests(project, records),
  ];
  return { ...observed, problems, inScope, compared, base: base?.view, claimColumns: columnBudget(settings.client.maxColumnReads) };
}

/** A project without manifests whose objects earlier runs have managed: its files were lost, and a plan without differences would say that all is well. */
function lostManifests({ problems, settings: { target } }: LoadedProject, { bindings }: RecordsState): readonly Problem[] {
  const none = problems.find(({ code }) => code === "W_NO_MANIFESTS");
  if (none === undefined || bindings.size === 0) return [];
  const known = counted(bindings.size, "object");
  const message = `The records of target ${target} have the ids of ${known}, but nothing is compared: ${none.message}`;
  return [{ ...none, code: "E_NO_MANIFESTS", severity: "error", message }];
}

/** What was compared, and what the manifests no longer have since the base. */
export interface ComparedRound extends Compared {
  /** Absent if there is no base, or if it is not known. */
  readonly loosened?: readonly Loosened[];
  readonly released?: readonly Released[];
  /** `ignore` entries whose path no compared object has. */
  readonly missingPaths: IgnoredPaths["missing"];
  /** What selectors by live name cover. */
  readonly coverage: Coverage;
  /** Absent if the project names no dbt manifest. */
  readonly impact?: readonly Impact[];
}

/**
 * Compares the manifests in scope, and checks policies on the integrations that no SchemaConfig has
 * read.
 */
export async function compareRound(round: Round, view: RoundView, policies: PolicyCheck): Promise<ComparedRound> {
  const { session, options, reads, scope, kind, fresh } = round;
  const labels = checkLabels(session.project, view, scope === everything);
  const impact = checkImpact(session.project.readers?.of, view.account);
  const loosened =
    options.isReview === true && options.base !== undefined && view.base !== undefined
      ? checkLoosened({ base: options.base, head: session.project, today: round.today }, view, view.base)
      : undefined;
  const paths = ignoredPaths([...session.project.settings.ignore, ...(options.ignore ?? [])], round.today);
  const questions: Questions = (liveId) => (labels === undefined ? [] : [labels.ask(liveId)]);
  const needs: ReadNeeds = {
    policyColumns: columnsNeeded(session, policies.columnsNeeded),
    claimColumns: view.claimColumns,
    isNew: (id) => fresh.has(id) || isRecent(view.account.list(integrations).byId.get(id)?.createdAt, session.clock.now()),
  };
  const compared = await compareUnits({
    observed: view,
    compared: view.compared,
    scope,
    reads,
    onProgress: session.onProgress,
    base: view.base,
    protectOnly: options.protectOnly === true,
    concurrency: session.project.settings.client.concurrency,
    needs,
    checkUnit: function* (unit) {
      paths.look(unit, unit.live, view.account);
      if (impact !== undefined) yield* impact.checkUnit(unit);
      yield* policies.checkUnit(unit, questions);
      if (loosened !== undefined) yield* loosened.checkUnit(unit);
    },
    signal: session.signal,
  });
  if (hasErrors(session.project)) return { ...compared, missingPaths: paths.missing, coverage: { manual: [] } };
  const others = await policies.checkOthers(reads, { compared: compared.configured, questions, onTree: loosened?.checkTree });
  const complete = compared.complete && others.complete;
  const { base } = view;
  const isWhole = base?.isComplete === true && kind === "Plan" && scope === everything && complete && view.complete;
  const released = isWhole
    ? await releasedObjects({ account: view.account, base, compared, reads, needs, onLive: loosened?.checkReleased })
    : undefined;
  const coverage = await checkCoverage({ account: view.account, reads, needs });
  const problems = [...(complete ? (labels?.problems() ?? []) : []), ...(session.project.readers?.problems() ?? [])];
  return {
    ...compared,
    found: [...compared.found, ...(problems.length === 0 ? [] : [{ ...emptyDiff, problems }])],
    complete,
    missingPaths: paths.missing,
    coverage,
    ...defined({ loosened: released && loosened?.entries(released), released, impact: impact?.impact() }),
  };
}

/** An integration of an earlier run, or of somebody else, may still be in creation for this long. */
const newForMs = 60 * 60 * 1000;

const isRecent = (createdAt: string | undefined, now: Date): boolean =>
  createdAt !== undefined && Math.abs(now.getTime() - Date.parse(createdAt)) < newForMs;
