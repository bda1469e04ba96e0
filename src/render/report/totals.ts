import type { Exit, ExitCode } from "../../model/exit.ts";
import type { Plan } from "../../model/plan.ts";
import type { Diagnostic } from "../../model/problem.ts";
import type { Validation } from "../../model/result.ts";
import { visible } from "../../text/control-characters.ts";
import { counted, countList } from "../../text/counts.ts";
import { andMore } from "../../text/lists.ts";

/** Nothing to do, nothing to say, and everything was read. */
export function isEmpty(plan: Plan): boolean {
  const findings = [plan.items, plan.manual, plan.blocked, plan.deferred, plan.policy, plan.guards];
  return plan.complete && findings.every((list) => list.length === 0) && plan.diagnostics.every(({ severity }) => severity !== "error");
}

/** The one line of an empty plan. Equality is claimed only for what the interface shows. */
export function emptyText(plan: Plan): string {
  const unverifiable = plan.unverifiable.reduce((sum, { paths }) => sum + paths.length, 0);
  const compared = `${counted(plan.summary.noop, "object")} compared`;
  const no = plan.kind === "Plan" ? "No changes." : "No drift.";
  const looked = plan.snapshot === undefined ? "account" : `snapshot of ${plan.snapshot}`;
  if (unverifiable === 0) return `${no} The ${looked} equals the manifests (${compared}).`;
  return `${no} What the ${looked} shows equals the manifests (${compared}, ${counted(unverifiable, "value")} can't be verified).`;
}

/** "1 to create, 2 to update; 1 manual; 3 protect, 0 expose": the whole plan in one line, without full stop. */
export function totalsText(plan: Plan): string {
  const { summary } = plan;
  const steps =
    plan.kind === "Plan"
      ? countList([
          [summary.create, "to create"],
          [summary.update, "to update"],
          [summary.relate, "to relate"],
          [summary.bind, "to bind"],
        ]) || "nothing to change"
      : countList([
          [summary.create, "missing"],
          [summary.update, summary.update === 1 ? "differs" : "differ"],
          [summary.relate, summary.relate === 1 ? "tag relation missing" : "tag relations missing"],
          [summary.bind, summary.bind === 1 ? "id not recorded" : "ids not recorded"],
        ]) || "nothing that a call could change";
  const others = countList([
    [summary.manual, "manual"],
    [summary.blocked, "blocked"],
    [summary.deferred, "deferred"],
  ]);
  const risks =
    plan.kind === "Plan"
      ? `${summary.protects ?? 0} protect, ${summary.exposes ?? 0} expose`
      : `${summary.exposed ?? 0} exposed, ${summary.stricter ?? 0} stricter than declared`;
  return [steps, others, plan.items.some(({ changes }) => changes.length > 0) ? risks : ""].filter((part) => part !== "").join("; ");
}

/** Why apply would refuse the plan; "" where it would not. */
export function blockedReason(plan: Plan): string {
  const isReport = plan.kind === "DriftReport";
  const isMistaken = plan.diagnostics.some(({ severity, code }) => severity === "error" && code !== "E_READ_FAILED");
  if (isMistaken && Object.keys(plan.calls.read).length === 0)
    return "The account was not looked at: what is wrong has to be mended first.";
  if (!plan.complete && isReport) return "The report is incomplete: a read failed, so more may differ than is shown.";
  if (!plan.complete)
    return "The plan is incomplete: a read failed, so nothing is planned as create because of it, and apply refuses to run it.";
  if (plan.snapshot !== undefined)
    return `The account was not read: ${isReport ? "the report" : "the plan"} stands on a snapshot of ${plan.snapshot}${isReport ? "." : ", and can't be applied."}`;
  if (isReport) return "";
  if (!plan.executable) return "Apply refuses to run this plan as it stands.";
  return plan.protected === true ? protectedReason(plan.git) : "";
}

/** Why apply will refuse the saved plan on its protected target; "" if it will not. */
function protectedReason(git: Plan["git"]): string {
  if (git === undefined) return "Apply will refuse this plan: the target is protected, and the plan was not made in a git repository.";
  if (!git.dirty) return "";
  const files = andMore((git.changedFiles ?? []).map(visible));
  return `Apply will refuse this plan: the target is protected, and there are uncommitted changes${files === "" ? "" : ` in ${files}`}. Commit them and plan again.`;
}

const exitMeanings: Readonly<Record<ExitCode, string>> = {
  0: "",
  1: "something is wrong, and has to be mended first",
  2: "there is something to do",
  3: "a guard or a policy refuses",
  4: "apply is incomplete",
  5: "the saved plan can't be used",
  6: "another run holds the lock",
  130: "interrupted",
};

/** "Exit 3 (guard): a guard or a policy refuses."; "" for 0. */
export function exitText(exit: Exit, kind?: Plan["kind"]): string {
  if (exit.code === 0) return "";
  const meanings: Partial<Record<ExitCode, string>> =
    kind === "DriftReport"
      ? { 2: "the account differs from the manifests", 3: "the account breaks a policy, or a guard refuses what would repair it" }
      : kind === "Plan"
        ? { 2: "there are changes" }
        : {};
  const reasons = exit.reasons.length === 0 ? "" : ` (${exit.reasons.map(visible).join(", ")})`;
  return `Exit ${exit.code}${reasons}: ${meanings[exit.code] ?? exitMeanings[exit.code]}.`;
}

/** "2 errors, 1 warning in 2 files.", "Valid: 8 manifests in 4 files, no problems found." */
export function diagnosticsTotal({ diagnostics, manifests, files: read }: Validation): string {
  const count = (severity: Diagnostic["severity"]) => diagnostics.filter((diagnostic) => diagnostic.severity === severity).length;
  const errors = count("error");
  const counts = countList([
    [errors, errors === 1 ? "error" : "errors"],
    [count("warning"), count("warning") === 1 ? "warning" : "warnings"],
    [count("info"), count("info") === 1 ? "note" : "notes"],
  ]);
  if (counts === "") return `Valid: ${counted(manifests, "manifest")} in ${counted(read, "file")}, no problems found.`;
  const files = new Set(diagnostics.flatMap(({ file }) => (file === undefined ? [] : [file]))).size;
  const where = files === 0 ? "" : ` in ${counted(files, "file")}`;
  return errors === 0 ? `Valid, with ${counts}${where}.` : `${counts}${where}.`;
}
