import type { ExitCode } from "../../base/model/exit.ts";
import { refusingGuards } from "../../base/model/findings.ts";
import type { Plan, Result } from "../../base/model/plan.ts";
import { visible } from "../../base/text/control-characters.ts";
import { enumerate } from "../../base/text/describe.ts";

/** "Exit 3 (maxCreates, changes): the guard maxCreates refuses and there are changes."; "" for 0. Each reason is explained. */
export function exitText(document: Plan | Result): string {
  const { exit, kind } = document;
  if (exit.code === 0) return "";
  if (exit.reasons.length === 0) return `Exit ${exit.code}: ${codeMeanings[exit.code]}.`;
  const refusing = new Set<string>(refusingGuards(document).map(({ rule }) => rule));
  const meaningOf = (reason: string): string => {
    if (refusing.has(reason)) return guardMeaning(reason, kind);
    return kindMeanings[kind][reason] ?? meanings[reason] ?? codeMeanings[exit.code];
  };
  const why = enumerate([...new Set(exit.reasons.map(meaningOf))], "and");
  return `Exit ${exit.code} (${exit.reasons.map(visible).join(", ")}): ${why}.`;
}

function guardMeaning(guard: string, kind: (Plan | Result)["kind"]): string {
  if (guard === "unreviewed") return unreviewedMeaning;
  if (guard === "policy") return kind === "DriftReport" ? "the account violates a policy" : "a policy is violated";
  return `the guard ${visible(guard)} ${kind === "DriftReport" ? "would refuse to restore the manifests" : "refuses"}`;
}

const unreviewedMeaning = "the account has columns that nobody has reviewed";

/** Of the reasons that the engine gives, and of the names that --fail-on takes. */
const meanings: Readonly<Record<string, string>> = {
  errors: "there are errors",
  incomplete: "not everything was compared",
  changes: "there are changes",
  drift: "the account differs from the manifests",
  loosened: "the manifests make rules of the project weaker",
  unmanaged: "the account has objects or columns that no manifest covers",
  unseen: "some values are never shown by the service",
  byHand: "there are steps by hand",
  blocked: "some manifests are blocked",
  policy: "a policy is violated",
  unreviewed: unreviewedMeaning,
  warnings: "there are warnings",
  exposes: "data becomes readable",
  exposed: "data is readable that the manifests protect",
  stricter: "the account is stricter than the manifests",
};

const applyIncomplete = "apply is incomplete";
const owed = 'what was kept hashed or disabled is not, or cannot be seen (see "By hand")';

const kindMeanings: Readonly<Record<(Plan | Result)["kind"], Readonly<Record<string, string>>>> = {
  Plan: { obligations: owed },
  DriftReport: { changes: "there are differences that apply would change", policy: "the account violates a policy" },
  Result: {
    interrupted: "the run was interrupted",
    stale: "the account has changed since the plan was made",
    records: "the records could not be written",
    "lock-lost": "the run lost its lock",
    failed: applyIncomplete,
    unknown: applyIncomplete,
    skipped: applyIncomplete,
    blocked: applyIncomplete,
    waits: applyIncomplete,
    "not-converged": applyIncomplete,
    obligations: owed,
  },
};

const codeMeanings: Readonly<Record<ExitCode, string>> = {
  0: "",
  1: "there are errors",
  2: "a condition in --fail-on was found",
  3: "a guard or a policy refuses",
  4: applyIncomplete,
  5: "the saved plan cannot be used",
  6: "another run holds the lock",
  130: "the run was interrupted",
};
