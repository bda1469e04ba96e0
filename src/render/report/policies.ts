import type { PolicyFinding } from "../../model/findings.ts";
import { placeText, type Severity } from "../../model/problem.ts";
import { grouped } from "../../text/lists.ts";
import { pathText, wholePath } from "../../text/paths.ts";
import { errorsFirst } from "../../text/severity.ts";
import type { Document } from "../document.ts";

/** The findings of one policy with the same message. */
export interface PolicyGroup {
  /** Raw, as the message. */
  readonly policy: string;
  readonly severity: Severity;
  readonly message: string;
  /** "policies/pii.yaml:4", if all findings have this place; "" if not known. */
  readonly place: string;
  readonly nodes: readonly PolicyNode[];
}

export interface PolicyNode {
  /** Raw. */
  readonly address: string;
  /** "public.orders.email", or "public.orders.email hashed" without a requirement. */
  readonly path: string;
  /** "hashed is false, must be true"; "" if not known. */
  readonly requirement: string;
  /** "manifests/orders.yaml:21"; "" if not known, or if the group has it. */
  readonly place: string;
}

/** The findings of a document, by what the reader must do about them. */
export interface Policies {
  /** Findings that need action: those that a plan causes, or those in a report. */
  readonly open: readonly PolicyGroup[];
  /** Findings that exist before the plan and after it. */
  readonly existing: readonly PolicyGroup[];
  /** Findings that the plan fixes. */
  readonly fixed: readonly PolicyGroup[];
}

export function policiesOf(findings: readonly PolicyFinding[], kind: Document["kind"]): Policies {
  // In a report every finding exists, and none is caused by a plan.
  if (kind === "DriftReport") return { open: policyGroups(findings), existing: [], fixed: [] };
  const of = (wanted: PolicyFinding["state"]): readonly PolicyGroup[] => policyGroups(findings.filter(({ state }) => state === wanted));
  return { open: of("new"), existing: of("existing"), fixed: of("fixed").map(withoutRequirements) };
}

/** Without the requirement, which is met. */
const withoutRequirements = (group: PolicyGroup): PolicyGroup => ({
  ...group,
  nodes: group.nodes.map((node) => ({ ...node, requirement: "" })),
});

export const nodeCount = (groups: readonly PolicyGroup[]): number => groups.reduce((sum, { nodes }) => sum + nodes.length, 0);

/** The findings that remain after apply. */
export const openFindings = (policy: readonly PolicyFinding[]): readonly PolicyFinding[] => policy.filter(({ state }) => state !== "fixed");

/** "hashed is false, must be true"; "" if the values are not known. */
export function requirementText({ path, actual, required }: Pick<PolicyFinding, "path" | "actual" | "required">): string {
  if (actual === undefined || required === undefined) return "";
  return `${pathText(path).leaf} is ${actual}, must be ${required}`;
}

/** Errors first. */
function policyGroups(findings: readonly PolicyFinding[]): readonly PolicyGroup[] {
  const groups = grouped(findings, ({ policy, severity, message }) => JSON.stringify([policy, severity, message]));
  return errorsFirst(
    groups.map((group): PolicyGroup => {
      const [{ policy, severity, message }] = group;
      const places = group.map((finding) => placeText(finding));
      const isCommon = places.every((place) => place === places[0]);
      const nodes = group.map((finding, index) => nodeOf(finding, isCommon ? "" : (places[index] ?? "")));
      return { policy, severity, message, place: isCommon ? (places[0] ?? "") : "", nodes };
    }),
  );
}

function nodeOf(finding: PolicyFinding, place: string): PolicyNode {
  const { address, path } = finding;
  const requirement = requirementText(finding);
  return { address, path: requirement === "" ? wholePath(path) : pathText(path).node, requirement, place };
}
