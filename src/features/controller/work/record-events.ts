import { byText } from "../../../core/model/address.ts";
import type { AlertEvent } from "../../../core/model/settings/notifications.ts";
import { grouped } from "../../../core/text/lists.ts";
import type { AlertFinding } from "../alerts/message.ts";
import type { AccountState, Finding, RunError } from "../views/status.ts";
import { type FoundFinding, risks } from "./findings.ts";

/** A finding that was closed. `closed_by`: null if no repair of dimsync is known. */
export interface ClosedFinding extends AlertFinding, Pick<FoundFinding, "key" | "detail"> {
  readonly id: number;
  readonly closed_by: string | null;
  readonly closed_run: string;
}

/** What a run says about its account. */
interface RunResults {
  /** What was reported before. */
  readonly before: readonly AlertEvent[];
  /** Undefined if the run could not compare the account. */
  readonly state: AccountState | undefined;
  readonly isFinished: boolean;
  readonly fault: AlertEvent | undefined;
  readonly error: RunError | undefined;
  readonly counts: Readonly<Record<"exposed_columns" | "differences" | "manual" | "policy_violations", number>>;
  readonly found: readonly (AlertFinding & Pick<FoundFinding, "key">)[];
  /** Keys of findings that are new, or that were less severe before. */
  readonly news: ReadonlySet<string>;
  readonly closed: readonly ClosedFinding[];
}

export const exposes = (risk: Finding["risk"]): boolean => risk === "exposed" || risk === "error";

/** The events of a run, once for each transition, and what is wrong with the account after it. */
export function reportedOf(results: RunResults) {
  const { before, state, fault, error, counts, found, news, closed } = results;
  const alerts = alertsAfter(results);
  const ended = before.filter((name) => !alerts.includes(name)).sort(byText);
  // New findings, all of them if nothing was reported before, and those that dimsync has closed.
  const isNews = (name: AlertEvent, { key }: Pick<FoundFinding, "key">): boolean => !before.includes(name) || news.has(key);
  const affected: Partial<Readonly<Record<AlertEvent, RunResults["found"]>>> = {
    exposed: found.filter((finding) => exposes(finding.risk) && isNews("exposed", finding)),
    drifted: found.filter((finding) => isNews("drifted", finding)),
    repaired: closed.filter(({ closed_by }) => closed_by === "dimsync"),
    resolved: closed.filter(({ closed_by }) => closed_by === null),
  };
  const has = (name: AlertEvent): boolean => (affected[name] ?? []).length > 0;
  const names: readonly (AlertEvent | false | undefined)[] = [
    state === "exposed" && has("exposed") && "exposed",
    state === "drifted" && has("drifted") && "drifted",
    has("repaired") && "repaired",
    fault !== undefined && !before.includes(fault) && fault,
    ended.length > 0 && !has("repaired") && "resolved",
  ];
  const { exposed_columns: exposedColumns, policy_violations: policyViolations, ...others } = counts;
  const events = names
    .filter((name) => name !== false && name !== undefined)
    .map((name) => {
      const { cause, ...about } = aboutFindings(affected[name] ?? []);
      return {
        ...{ name, ...about, cause: name === fault ? error?.code : cause },
        detail: { ...about.detail, counts: { exposedColumns, ...others, policyViolations }, ...(name === fault ? { error } : {}) },
        resolves: name === "repaired" || name === "resolved" ? ended : [],
      };
    });
  return { alerts, events };
}

/** What is wrong with the account. A run that could not compare it ends neither drift nor an exposure. */
function alertsAfter({ before, state, fault, isFinished }: RunResults): readonly AlertEvent[] {
  const had = (name: AlertEvent): boolean => before.includes(name);
  const conditions: Partial<Readonly<Record<AlertEvent, boolean>>> = {
    exposed: state === undefined ? had("exposed") : state === "exposed",
    drifted: state === undefined || state === "exposed" ? had("drifted") : state === "drifted",
    failing: fault === "failing" || (fault === "bundle-refused" && had("failing")),
    "bundle-refused": fault === "bundle-refused" || (fault === "failing" && had("bundle-refused")),
    "protection-stopped": fault === "protection-stopped" || (fault !== undefined && had("protection-stopped")),
    stale: !isFinished && had("stale"),
  };
  return (Object.keys(conditions) as readonly AlertEvent[]).filter((name) => conditions[name]);
}

const namedFindings = 20;
const longestText = 1_000;

/** What an event says of the findings that it is about. */
function aboutFindings(findings: RunResults["found"]) {
  if (findings.length === 0) return { since: null, cause: "", actor: null, detail: {} };
  // A column that differs and violates a policy is one thing that is wrong.
  const places = grouped(findings, ({ address, path, key }) => JSON.stringify([address, path, path === "" ? key : ""]))
    .map((same): AlertFinding => ({ ...{ address: same[0].address, path: same[0].path }, ...summaryOf(same) }))
    .sort((a, b) => Number(exposes(b.risk)) - Number(exposes(a.risk)) || byText(a.address, b.address) || byText(a.path, b.path));
  const { since, cause, actor } = summaryOf(findings);
  return {
    ...{ since, cause: cause.slice(0, longestText), actor: actor?.slice(0, longestText) ?? null },
    detail: { findingsTotal: places.length, findings: places.slice(0, namedFindings) },
  };
}

/** The worst risk, the first change, and all causes and users. */
function summaryOf(findings: RunResults["found"]): Pick<AlertFinding, "risk" | "cause" | "actor" | "since"> {
  const unique = (texts: readonly string[]): readonly string[] => [...new Set(texts)].sort(byText);
  const actors = unique(findings.flatMap(({ actor }) => actor ?? []));
  return {
    risk: risks.find((risk) => findings.some((finding) => finding.risk === risk)) ?? "info",
    cause: unique(findings.map(({ cause }) => cause)).join("; "),
    actor: actors.length === 0 ? null : actors.join(", "),
    since: unique(findings.map(({ since }) => since))[0] ?? "",
  };
}
