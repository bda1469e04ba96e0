import { type Address, schemasKind } from "../../base/model/address.ts";
import { newNodeChanges } from "../../base/model/changes.ts";
import { blockedStep, unseenSteps, waitingStep } from "../../base/model/draft-steps.ts";
import { isFailedCreation, readOr, type ServiceError } from "../../base/model/errors.ts";
import { defined, type JsonObject } from "../../base/model/json/json.ts";
import { keptNow } from "../../base/model/kept.ts";
import type { LiveSchemas } from "../../base/model/live.ts";
import type { Manifest, Reference, SchemaConfigSpec } from "../../base/model/manifest.ts";
import { getOrAdd } from "../../base/model/maps.ts";
import { nodePointer } from "../../base/model/nodes.ts";
import type { ChangeGroup, DraftFacts, DraftItem, DraftStep } from "../../base/model/plan.ts";
import { isError, type Problem } from "../../base/model/problem.ts";
import type { NodeCause, TablePath } from "../../base/model/schema-tree.ts";
import { andMore } from "../../base/text/lists.ts";
import { nodeText } from "../../base/text/paths.ts";
import { unreadable } from "../identity.ts";
import { type Account, type DiffResult, emptyDiff, type Kind } from "../kind.ts";
import { integrations } from "../lists.ts";
import { isSchemaConfig, kindNames, manifestOfSchemas } from "../manifests.ts";
import { selectedBy } from "../select.ts";
import { tablesToRead, unmanagedTables } from "./coverage.ts";
import { evaluate } from "./evaluate.ts";
import { type Evaluation, type NodeChange, overlayOf } from "./evaluation.ts";
import { decisionIn } from "./explain.ts";
import { appearedColumns, basisOf, unintendedChanges } from "./live-differences.ts";
import { isLabel, liveView, readOnlyNodeField } from "./manifest.ts";
import { missingNames } from "./missing-names.ts";
import { newColumnProblems, reviewColumns, switchedOffBy } from "./new-columns.ts";
import { namesBeside, type Obligations, obligationsOf } from "./obligations.ts";
import { patches, smallerPatches, spelledAsSent, tablesTouched, treeIn } from "./patch.ts";
import { refusals, unmetSteps } from "./problems.ts";
import { lostBySelector, lostProtection, removedCause, settingsOf } from "./protection.ts";
import { hasUnknownColumns, type ObservedSchemas, observedAt, readWithColumns } from "./read.ts";
import { finishStats, type UnitTally } from "./rules/rule-stats.ts";
import { ruleWarnings } from "./rules/rule-warnings.ts";
import { managedAt } from "./scan.ts";
import { desiredOf, type SchemaConfigUnit, units } from "./units.ts";

// One PATCH changes what an integration replicates and hashes. Its response is the whole new state.

const specOf = (manifest: Manifest): SchemaConfigSpec => manifest.spec as SchemaConfigSpec;

export const schemaConfig: Kind<SchemaConfigUnit, ObservedSchemas> = {
  name: kindNames.schemaConfig,

  references(manifest): readonly Reference[] {
    const { integration } = specOf(manifest);
    return typeof integration === "string"
      ? [{ kind: kindNames.integration, name: integration, pointer: "/spec/integration", orLive: true }]
      : [];
  },

  // Even an integration that is given by its id has its name in the address.
  lists: () => [integrations],

  units: (manifests, account) => units(manifests as readonly Manifest<SchemaConfigSpec>[], account),

  async observe({ liveId, rules }, reads, needs) {
    const read = await readOr(
      () =>
        readWithColumns(reads, liveId, (tree) => {
          const tables = tablesToRead(rules, tree, needs.policyColumns(liveId));
          needs.claimColumns(liveId, tables.length);
          return tables;
        }),
      (failure) => {
        if (!needs.isNew(liveId) || !isAnswer(failure) || isFailedCreation(failure)) throw failure;
        // The words of the service stand alone; what is wrong in a response needs its request.
        return { ...observedAt({}), notYet: failure.code === "E_MALFORMED_ANSWER" ? failure.message : failure.reason };
      },
    );
    if (read !== undefined) return read;
    if (needs.isNew(liveId)) return { ...observedAt({}), notYet: `GET of the integration ${liveId} returns 404.` };
    const isListed = (await reads.list(integrations)).items.some(({ id }) => id === liveId);
    if (isListed) throw unreadable(integrations.name, liveId, "The list of integrations");
    return undefined;
  },

  selection: {
    selectors: (manifest) => [specOf(manifest).integrations ?? []].flat(),
    // A selector by a glob covers it in another way: it may protect less.
    covers: (_manifest, id, account) => {
      const name = account.list(integrations).byId.get(id)?.name ?? "";
      return account.manifests
        .filter(isSchemaConfig)
        .filter(({ spec }) => spec.integration !== undefined || spec.integrations?.names?.includes(name) === true)
        .some(({ spec }) => selectedBy(spec, account).some((one) => one.state === "found" && one.id === id));
    },
    lost: (manifest, id, run) => lostBySelector(manifest as Manifest<SchemaConfigSpec>, id, run),
  },

  namesBelow: ["spec", "schemas"],

  isPlainKey: isLabel,

  readOnlyField: readOnlyNodeField,

  liveView,

  diff,

  schemas: {
    itemKind: schemasKind,
    tree: ({ tree }) => tree,
    decision: ({ rules }, { tree }, field) => decisionIn(managedAt(rules, tree, field.path), field),
    settings: settingsOf,
    lost: (change, { tree }, tests) => lostProtection(change, tree, tests),
    removed: (change, { tree }, field) => removedCause(change, tree, field),
    // The engine passes only tallies that this kind has returned.
    conclude: (tallies) => ruleWarnings(tallies as readonly UnitTally[]),
  },

  update: {
    smaller: smallerPatches,
    reread: ({ liveId = "", requests }, reads) =>
      readWithColumns(reads, liveId, (tree) => tablesTouched(requests).filter((path) => hasUnknownColumns(tree, path))),

    // Live schemas are JSON, although their types do not say so.
    document: ({ requests }, live) => ({ schemas: spelledAsSent(live?.tree ?? {}, requests) as unknown as JsonObject }),

    answered: (_before, answer, decode) => observedAt(decode.schemas(answer)),

    basis: ({ changes }, live) => basisOf(changes, live),

    unintended: (before, after, body) => unintendedChanges(before.tree, after.tree, treeIn(body)),

    appeared: (before, after) => appearedColumns(before.tree, after.tree),
  },
};

/** Whether the service answered and neither refused the key nor the size of the request. */
const isAnswer = ({ code, status }: ServiceError): boolean =>
  (code === "E_SERVICE_STATUS" || code === "E_MALFORMED_ANSWER" || code === "E_UNAUTHORIZED") && status !== 401;

function diff(unit: SchemaConfigUnit, live: ObservedSchemas | undefined, account: Account): DiffResult {
  const { address, liveId, name, rules } = unit;
  if (live === undefined) {
    const message = `GET of the integration ${liveId} returns 404: it is gone from the account. Correct the manifest that selects it.`;
    return { ...emptyDiff, steps: [blockedStep({ address, code: "E_GONE", message })] };
  }
  const { tree } = live;
  // A new integration may show its schemas before their tables.
  const hasTables = Object.values(tree).some(({ tables }) => Object.keys(tables).length > 0);
  if (Object.keys(tree).length === 0 || (!hasTables && account.fresh.has(liveId))) return discovering(unit, live.notYet);
  const reviewed = account.review === undefined ? undefined : reviewColumns(unit, tree, { account, review: account.review });
  const overlay = overlayOf(unit, tree, account);
  const evaluation = evaluate(rules, tree, {
    decide: overlay.decide,
    switchedOff: reviewed && switchedOffBy(unit, reviewed.added),
    isKeeping: account.isRecording,
  });
  // A new integration reads its tables for the first time.
  if (account.fresh.has(liveId))
    for (const [key, { code }] of evaluation.stats.warnings) if (code === "W_RESYNC") evaluation.stats.warnings.delete(key);
  const tally = finishStats(evaluation.stats);
  const { targets } = unit;
  const missing = missingNames(rules.program, tree, { ...evaluation, name, targets, gone: reviewed?.gone ?? [] });
  if (missing.required > 0 && account.fresh.has(liveId)) return discovering(unit);
  const problems = [
    ...missing.problems,
    ...refusals(rules.program, evaluation, name),
    ...columnProblems(unit, live),
    ...(reviewed === undefined ? [] : newColumnProblems(unit, tree, reviewed)),
  ];
  const before = account.kept.get(liveId);
  const obligations = before === undefined ? undefined : obligationsOf(unit, { tree, account, before });
  const isRefused = problems.some(isError);
  return {
    ...emptyDiff,
    problems: [...problems, ...(obligations?.problems ?? [])].map((problem) => ({ address, ...problem })),
    steps: [
      ...(isRefused || evaluation.changes.length === 0 ? [] : [updateItem(unit, { live, evaluation, account })]),
      ...unmetSteps(unit, evaluation.unmet),
      ...(obligations?.steps ?? []),
      ...unreadTables(unit, live),
      ...unknownColumns(address, live.withoutColumns),
      ...overlay.steps(),
    ],
    ...keptOf(unit, { tree, evaluation, account, obligations }),
    unmanagedColumns: evaluation.unmanagedColumns,
    // An integration that this run has created is configured for the first time, so everything changes.
    ...(account.fresh.has(liveId)
      ? {}
      : {
          size: {
            address,
            count: evaluation.liveNodes,
            unit: "nodes",
            managedColumns: evaluation.liveColumns - evaluation.unmanagedColumns,
          },
        }),
    ...defined({ findings: reviewed?.findings }),
    ...(account.listUnmanaged === true ? { unmanagedTables: unmanagedTables(rules, tree).map((one) => ({ address, ...one })) } : {}),
    ...(tally === undefined ? {} : { tally: { ...tally, name, targets, lacking: missing.lacking } satisfies UnitTally }),
  };
}

interface KeptInput {
  readonly tree: LiveSchemas;
  readonly evaluation: Evaluation;
  readonly account: Account;
  readonly obligations: Obligations | undefined;
}

/** What is kept of the integration, if the run records it. */
function keptOf(
  { liveId, rules }: SchemaConfigUnit,
  { tree, evaluation: { keeper }, account, obligations }: KeptInput,
): Pick<DiffResult, "kept"> {
  const before = account.kept.get(liveId);
  if (keeper === undefined) return {};
  const live = account.list(integrations).byId.get(liveId);
  const identity = [live?.name, live?.source?.name, live?.source?.type, live?.destination?.id].map((one) => one ?? "");
  const isGivenUp = obligations?.hasEnded ?? (() => false);
  const among = namesBeside(tree, rules.columnDigests);
  const schemas = keptNow(before?.schemas, keeper.tables, { since: account.now, among, isGivenUp });
  return schemas.size === 0 && before === undefined ? {} : { kept: { id: liveId, identity, schemas } };
}

/** The schema of a new integration may not be discovered yet. */
const discovering = ({ address, liveId, rules }: SchemaConfigUnit, why?: string): DiffResult => ({
  ...emptyDiff,
  steps: [
    waitingStep({
      verb: "update",
      address,
      waitsFor: [manifestOfSchemas(address) ?? ""],
      liveId,
      ...defined({ why }),
      desired: desiredOf(rules.program.layers.map(({ compiled }) => compiled)),
      later: ["PATCH"],
    }),
  ],
});

interface UpdateInput {
  readonly live: ObservedSchemas;
  readonly evaluation: Evaluation;
  readonly account: Account;
}

function updateItem({ address, liveId, name, manifests }: SchemaConfigUnit, { live, evaluation, account }: UpdateInput): DraftItem {
  const { changes } = evaluation;
  const groups = grouped(changes);
  const basis = basisOf(groups, live);
  return {
    address,
    kind: schemasKind,
    verb: "update",
    standing: "ready",
    liveId,
    liveName: account.list(integrations).byId.get(liveId)?.name || name,
    manifests,
    changes: groups,
    requests: patches(liveId, changes, { live: live.tree, ...account.patch }),
    ...(basis === undefined ? {} : { basis }),
    exposedColumns: evaluation.exposedColumns,
    after: manifests,
  };
}

function grouped(changes: readonly NodeChange[]): readonly ChangeGroup<DraftFacts>[] {
  const all = newNodeChanges<DraftFacts>();
  // A cause is one object for all changes of a rule. Facts are shared only if all of their members are equal: a rule with two values can
  // protect by one of them and expose by the other, with the same values before and after.
  const known = new Map<NodeCause, DraftFacts[]>();
  for (const { path, key, before, after, risk, cause } of changes) {
    const ofCause = getOrAdd(known, cause, () => []);
    let facts = ofCause.find((one) => one.before === before && one.after === after && one.risk === risk);
    if (facts === undefined) {
      facts = { ...defined({ before }), after, risk, cause };
      ofCause.push(facts);
    }
    all.add(path, key, facts);
  }
  return all.changes();
}

/** Tables that cannot be read: the others are compared without them. */
function unreadTables({ address }: SchemaConfigUnit, { unread = [] }: ObservedSchemas): DiffResult["steps"] {
  const [first] = unread;
  if (first === undefined) return [];
  const names = [...new Set(unread.map(({ path }) => nodeText(path)))].sort();
  const message = `${andMore(names, "table", { shown: 5 })} cannot be read, so ${names.length === 1 ? "its" : "their"} columns are not compared or protected. ${first.failure.message}`;
  return [blockedStep({ address, code: "E_READ_FAILED", message })];
}

/** Tables whose columns a rule, literal entry or policy needs and the service does not return. */
export const unknownColumns = (address: Address, tables: readonly TablePath[]): readonly DraftStep[] =>
  unseenSteps(address, tables.map((path) => nodePointer(path, "columns")).sort(), "the service returned no columns for the table");

/** More column reads for one integration get a warning, because they make a plan slow. */
const manyColumnReads = 1_000;

function columnProblems(
  { name, manifest, rules }: SchemaConfigUnit,
  { tree, columnReads, withoutColumns }: ObservedSchemas,
): readonly Problem[] {
  const problems: Problem[] = [];
  if (columnReads > manyColumnReads)
    problems.push({
      code: "W_MANY_COLUMN_READS",
      severity: "warning",
      message: `The service returns the schemas of ${name} without columns, so the columns of ${columnReads} tables were read one table at a time. Add schema and table patterns to column rules, so that fewer tables need their columns.`,
    });
  const needed = withoutColumns.length === 0 ? [] : tablesToRead(rules, tree, undefined);
  if (needed.length > 0)
    problems.push({
      code: "W_COLUMNS_UNKNOWN",
      severity: "warning",
      message: `The service returned no columns for ${andMore(needed.map(nodeText).sort(), "table", { shown: 5 })} of ${name}, so column settings there have no effect. Have the service discover the schema again, or check the columns in its user interface.`,
      place: manifest.place,
    });
  return problems;
}
