import { policyAddress } from "../../kinds/manifests.ts";
import type { PolicyFinding } from "../../model/findings.ts";
import { placeText, type Severity } from "../../model/problem.ts";
import { counted } from "../../text/counts.ts";
import { grouped } from "../../text/lists.ts";
import { pathText, wholePath } from "../../text/paths.ts";
import { errorsFirst } from "../../text/severity.ts";
import { severitySigns } from "../../text/signs.ts";
import { code, type Entry, type Line, muted, name, place, type Row, type Section, word } from "../blocks.ts";
import type { Document } from "../document.ts";
import { severityTones } from "./words.ts";

/** The findings of one policy with the same message. */
interface PolicyGroup {
  /** Raw, as the message. */
  readonly policy: string;
  readonly severity: Severity;
  readonly message: string;
  /** "policies/pii.yaml:4", if all findings have this place; "" if not known. */
  readonly place: string;
  readonly nodes: readonly PolicyNode[];
}

interface PolicyNode {
  /** Raw. */
  readonly address: string;
  /** "public.orders.email", or "public.orders.email hashed" without a requirement. */
  readonly path: string;
  /** "hashed is false, must be true"; "" if not known. */
  readonly requirement: string;
  /** "manifests/orders.yaml:21"; "" if not known, or if the group has it. */
  readonly place: string;
}

/** The findings that need attention, then existing ones, and those that the plan fixes. */
export function policySections(findings: readonly PolicyFinding[], kind: Document["kind"]): readonly Section[] {
  const of = (wanted: PolicyFinding["state"]): readonly PolicyGroup[] => policyGroups(findings.filter(({ state }) => state === wanted));
  // In a report every finding exists, and none is caused by a plan.
  const [open, existing, fixed] =
    kind === "DriftReport" ? [policyGroups(findings), [], []] : [of("new"), of("existing"), of("fixed").map(withoutRequirements)];
  const section = (id: string, title: string, groups: readonly PolicyGroup[]): Section => ({
    id,
    title,
    count: nodeCount(groups),
    part: "attention",
    isFolded: true,
    entries: groups.map(policyEntry),
  });
  const asFixed = (group: PolicyGroup): Entry => ({
    ...policyEntry(group),
    sign: "✓",
    tone: "good",
    isBrief: true,
    head: [[name(policyAddress(group.policy))], [muted(counted(group.nodes.length, "place"))]],
  });
  return [
    { ...section("policies", "Policy findings", open), isPlain: true, isFolded: false },
    {
      ...section("existing", "Existing policy findings", existing),
      entries: existing.map((group) => ({ ...policyEntry(group), isMinor: true })),
      contents: countsByPolicy(existing),
      isVital: true,
    },
    { ...section("fixed", "Policy findings that the plan fixes", fixed), entries: fixed.map(asFixed) },
  ];
}

const mostPolicies = 10;

/** "300 of Policy/pii, 12 of Policy/owners": what a folded list has. */
function countsByPolicy(groups: readonly PolicyGroup[]): Line {
  const counts = grouped(groups, ({ policy }) => policy).map((all) => ({ of: all[0].policy, count: nodeCount(all) }));
  const sorted = counts.sort((a, b) => b.count - a.count);
  const more = sorted.length > mostPolicies ? [`and of ${counted(sorted.length - mostPolicies, "other policy", "other policies")}`] : [];
  const texts = sorted
    .slice(0, mostPolicies)
    .flatMap(({ of, count }, index) => [`${index === 0 ? "" : ", "}${count} of`, code(policyAddress(of))]);
  return [...texts, ...more];
}

/** The findings of one policy with the same message: the message once, and each place. */
function policyEntry({ policy, severity, message, place: shared, nodes }: PolicyGroup): Entry {
  const tone = severityTones[severity];
  return {
    sign: severitySigns[severity],
    tone,
    head: [[name(policyAddress(policy))], [word(severity, tone)], [place(shared)]],
    notes: [[message]],
    rows: nodes.map((node): Row => [[name(node.address)], [code(node.path)], [node.requirement], [place(node.place)]]),
  };
}

/** Without the requirement, which is met. */
const withoutRequirements = (group: PolicyGroup): PolicyGroup => ({
  ...group,
  nodes: group.nodes.map((node) => ({ ...node, requirement: "" })),
});

const nodeCount = (groups: readonly PolicyGroup[]): number => groups.reduce((sum, { nodes }) => sum + nodes.length, 0);

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

function nodeOf(finding: PolicyFinding, shown: string): PolicyNode {
  const { address, path } = finding;
  const requirement = requirementText(finding);
  return { address, path: requirement === "" ? wholePath(path) : pathText(path).node, requirement, place: shown };
}
