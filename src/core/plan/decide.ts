import { type Address, objectPattern } from "../base/model/address.ts";
import { type Blocked, blockedStep } from "../base/model/draft-steps.ts";
import { defined } from "../base/model/json/json.ts";
import { keptJson } from "../base/model/kept.ts";
import { groupBy } from "../base/model/maps.ts";
import { type DraftItem, type Plan, type ReadyStep, stepsOf } from "../base/model/plan.ts";
import { accountName } from "../base/model/settings/config.ts";
import type { Account, DiffResult } from "../kinds/index.ts";
import { emptyDiff, integrations, isConfigured, kindNamed, nameMatcher, schemasAddress } from "../kinds/index.ts";
import type { Project } from "../manifests/index.ts";
import { unknownAllowances } from "./checks/addresses.ts";
import { allowances, unusedAllowance } from "./checks/allow.ts";
import type { Comparison, Found } from "./checks/check.ts";
import { checkGuards } from "./checks/guards.ts";
import { knownAddresses } from "./checks/unmatched.ts";
import { isStrict, stricterGuards } from "./loosened/settings.ts";
import type { Reviewed } from "./origin.ts";
import { type Findings, makePlan, type PlanHead, type PlanRules } from "./plan.ts";
import { blockedByEarlierRun, type Recovered, unknownOutcome } from "./recover.ts";
import type { PlanOptions, Run } from "./run.ts";
import { everything } from "./scope.ts";

/** What the stations before have found. */
interface Stations {
  readonly earlier: Recovered;
  readonly account: Account;
  readonly reviewed: Reviewed | undefined;
  readonly comparison: Comparison;
  readonly found: Found;
  readonly git: Plan["git"];
}

/** The plan of a run. */
export function decide(run: Run, stations: Stations): Plan {
  const { project, scope } = run;
  const { earlier, account, reviewed, comparison, found, git } = stations;
  const complete = isKnown(stations);
  const differences = [...comparison.differences, ...found.differences];
  const hasLost = account.problems.some(({ code }) => code === "E_NO_MANIFESTS");
  const findings: Findings = {
    differences: [...differences, unreportedUnknowns(differences, earlier)],
    problems: [
      ...project.problems.filter(({ code }) => code !== "W_NO_MANIFESTS" || !hasLost),
      ...account.problems,
      ...(reviewed?.problems ?? []),
      ...found.problems,
    ],
    complete,
    equal: comparison.equal,
    unmanaged: found.unmanaged,
    findings: [...differences.flatMap(({ findings = [] }) => findings), ...found.findings],
    ...defined({ loosenedSince: found.loosenedSince, covered: found.covered }),
    ...(run.kind === "Plan" ? defined({ kept: keptIn(differences) }) : {}),
    readCalls: run.calls(),
  };
  return makePlan(headOf(run, git), findings, {
    inScope: (address) => scope.item(address, account),
    whyNotSend: (item) => whyNotSend(item, run, stations),
    hasFailed: (address) => run.rounds.failed.has(address),
    guards: (items) => guardFindings(items, run, { ...stations, findings: findings.findings }),
    locate: project.locate,
    isStopped: account.isStopped || run.signal.aborted,
  });
}

/** Whether everything was read and compared. */
const isKnown = ({ account, comparison }: Pick<Stations, "account" | "comparison">): boolean =>
  account.isComplete && comparison.complete && !account.isStopped;

function headOf(run: Run, git: Plan["git"]): PlanHead {
  const { kind, options: given } = run;
  const { scope = everything } = given;
  const { settings, manifestDigest } = run.project;
  const options = kind === "Plan" ? recordedOptions(given) : {};
  return {
    kind,
    planId: run.newId(),
    createdAt: run.clock.now().toISOString(),
    tool: { name: "dimsync", version: run.version },
    target: settings.target,
    ...defined({ severalTargets: settings.severalTargets }),
    account: accountName(settings.baseUrl),
    ...defined({ git }),
    ...(settings.protected ? { protected: true } : {}),
    ...(scope === everything ? {} : { partial: true }),
    ...(Object.keys(options).length === 0 ? {} : { options }),
    manifestDigest: manifestDigest(),
    ...elsewhereCounts(run.project),
  };
}

/** Those that change what is sent. */
const recordedOptions = ({ scope, protectOnly }: PlanOptions): NonNullable<Plan["options"]> => ({
  ...Object.fromEntries(Object.entries(scope?.patterns ?? {}).filter(([, globs]) => globs.length > 0)),
  ...(protectOnly === true ? { protectOnly } : {}),
});

/** The manifests of objects that only other targets have. */
function elsewhereCounts({ elsewhere }: Project): Pick<Plan, "elsewhere"> {
  const ofObjects = elsewhere.filter(({ kind }) => kindNamed(kind)?.identify !== undefined);
  const counts = [...groupBy(ofObjects, ({ kind }) => kind)].map(([kind, all]) => [kind, all.length] as const);
  return counts.length === 0 ? {} : { elsewhere: Object.fromEntries(counts) };
}

/** What is kept of the integrations that were compared, for the records. */
function keptIn(found: readonly DiffResult[]): Plan["kept"] {
  const byId = new Map(found.flatMap(({ kept }) => (kept === undefined ? [] : [[kept.id, kept] as const])));
  return byId.size === 0 ? undefined : keptJson(byId);
}

/** Why an object or relation that looks missing may not be created, or one that looks needless removed, if so. What a failed read could hide is blocked before. */
function whyNotSend(item: DraftItem, run: Run, { earlier, account }: Stations): Blocked | undefined {
  const { unknown } = earlier;
  const { created, bindings } = run.records();
  const blocked = blockedByEarlierRun(item, { unknown, created, bindings });
  if (blocked !== undefined || item.verb === "relate") return blocked;
  const { address } = item;
  const isCreate = item.verb === "create";
  // Assets are in no list, but integrations show them. A tag selects integrations.
  const needed = (isCreate ? kindNamed(item.kind)?.list : undefined) ?? integrations;
  const suspicion = account.suspicions.find(({ list }) => list === needed);
  if (suspicion === undefined) return undefined;
  return {
    address,
    code: "E_LIST_INCOMPLETE",
    message: `${suspicion.why} ${isCreate ? "An object that looks missing may exist, so nothing is created" : "An integration that the manifest selects may be missing, so no relation is removed"} based on that list.`,
  };
}

function guardFindings(
  items: readonly ReadyStep[],
  run: Run,
  { findings: all, ...stations }: Stations & Pick<Findings, "findings">,
): ReturnType<PlanRules["guards"]> {
  const { project, options, scope, rounds, today, kind } = run;
  const { account, comparison } = stations;
  const { settings, manifests } = project;
  const complete = isKnown(stations);
  const isProtecting = options.protectOnly === true;
  const { guards, unused } = checkGuards(items, {
    limits: stricterGuards(settings.guards, options.review === "before merge" ? options.base?.settings?.guards : undefined),
    isStrict: isStrict(run),
    reviewedEntries: options.base?.settings?.allow,
    sizes: comparison.differences.flatMap(({ size }) => size ?? []),
    before: rounds.counted,
    allowed: options.allow ?? new Map(),
    entries: allowances(settings.allow, today).current,
    isNamed: (pattern, address) => account.addressesOf(address).some(nameMatcher([objectPattern(pattern)])),
    manifests,
    // With --protect-only, nothing is created, and so nothing waits for a create.
    waiting: isProtecting ? [] : comparison.differences.flatMap((one) => stepsOf(one, "waits")),
    inScope: (address) => scope.item(address, account),
    unscopedSchemasOf: (liveId) => unscopedSchemas(liveId, run, account),
    // New columns elsewhere must not stop a run that only protects.
    findings: isProtecting ? all.filter(({ refuses }) => refuses !== "unreviewed") : all,
  });
  const isWhole = kind === "Plan" && !isProtecting && scope === everything && complete;
  const known = knownAddresses(run, account, comparison);
  // An unknown address has its own problem.
  const leftOver = isWhole ? unused.filter((entry) => unknownAllowances([entry], known).length === 0) : [];
  return { guards, problems: leftOver.map(unusedAllowance) };
}

/** The address of the schemas of a live integration, if a SchemaConfig selects it and the run leaves them out. */
function unscopedSchemas(liveId: string, { options: { scope = everything } }: Run, account: Account): Address | undefined {
  const address = schemasAddress(account.naming.ofLive.get(liveId) ?? liveId);
  return isConfigured(address, account) && !scope.item(address, account) ? address : undefined;
}

/** An unknown outcome is reported even if no manifest declares the object any more. */
function unreportedUnknowns(found: readonly DiffResult[], { unknown }: Recovered): DiffResult {
  const reported = new Set(
    found.flatMap(({ steps }) =>
      steps.flatMap(({ standing, address }) => (standing === "ready" || standing === "blocked" ? [address] : [])),
    ),
  );
  const unreported = [...unknown].filter(([address]) => !reported.has(address));
  return { ...emptyDiff, steps: unreported.map(([address, why]) => blockedStep(unknownOutcome(address, why))) };
}
