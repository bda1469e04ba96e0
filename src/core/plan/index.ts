export { allowances } from "./checks/allow.ts";
export { exemptionProblems } from "./checks/exemptions.ts";
export { type Counted, countedOf } from "./checks/guards.ts";
export { applyExit, type FailOn, failOnNames, planExit, unchangedExit } from "./exit-codes.ts";
export { type Explained, explainNode } from "./explain.ts";
export { ignoredFileProblems, leftOutProblems } from "./left-out.ts";
export type { BaseProject } from "./loosened/entry.ts";
export { loosenedInFiles } from "./loosened/files.ts";
export { plan } from "./pipeline.ts";
export {
  type AuditEntries,
  assetCreations,
  describeEntry,
  describeEvidence,
  type NewestEntries,
  newestEntries,
  readAuditLog,
} from "./reads/audit-log.ts";
export { cachedReads, columnBudget, heldReads, type RunReads } from "./reads/cached-reads.ts";
export { creationFailed } from "./reads/lists-and-ids.ts";
export { readAccount, readAhead, readWhole } from "./reads/read-account.ts";
export { blockedByEarlierRun, creationEvidence, findCreated, recoverCreates } from "./recover.ts";
export { noRounds, type PlanOptions, type Run, type WriteRun } from "./run.ts";
export { everything, type Scope, scopeOf, scopeOfAddresses } from "./scope.ts";
