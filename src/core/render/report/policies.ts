import type { PolicyFinding, UsedExemption } from "../../base/model/findings.ts";
import { placeText } from "../../base/model/problem.ts";
import { counted } from "../../base/text/counts.ts";
import { grouped, joinParts } from "../../base/text/lists.ts";
import { pathText, wholePath } from "../../base/text/paths.ts";
import { errorsFirst, severitySigns } from "../../base/text/signs.ts";
import { policyAddress } from "../../kinds/index.ts";
import { code, type Entry, type Line, muted, name, place, type Row, type Section, word } from "../blocks.ts";
import type { Document } from "../document.ts";
import { severityTones } from "./words.ts";

/** The findings that need attention, then existing ones, and those that the plan fixes. */
export function policySections(findings: readonly PolicyFinding[], kind: Document["kind"]): readonly Section[] {
  const of = (wanted: PolicyFinding["state"]): readonly PolicyFinding[] => findings.filter(({ state }) => state === wanted);
  // In a report every finding exists, and none is caused by a plan.
  const [open, existing, fixed] = kind === "DriftReport" ? [findings, [], []] : [of("new"), of("existing"), of("fixed")];
  const section = (id: string, title: string, all: readonly PolicyFinding[], entryOf: (group: Group) => Entry): Section => ({
    id,
    title,
    count: all.length,
    part: "attention",
    isFolded: true,
    noun: "message",
    entries: grouped(errorsFirst(all), ({ rule, severity, message }) => JSON.stringify([rule, severity, message])).map(entryOf),
  });
  return [
    { ...section("policies", "Policy findings", open, policyEntry), isPlain: true, isFolded: false },
    {
      ...section("existing", "Existing policy findings", existing, (group) => ({ ...policyEntry(group), isMinor: true })),
      contents: countsByPolicy(existing),
      isVital: true,
    },
    section("fixed", "Policy findings that the plan fixes", fixed, fixedEntry),
  ];
}

const mostPolicies = 10;

/** "300 of Policy/pii, 12 of Policy/owners": what a folded list has. */
function countsByPolicy(findings: readonly PolicyFinding[]): Line {
  const sorted = [...grouped(errorsFirst(findings), ({ rule }) => rule)].sort((a, b) => b.length - a.length);
  const more = sorted.length > mostPolicies ? [`and of ${counted(sorted.length - mostPolicies, "other policy")}`] : [];
  const texts = sorted.slice(0, mostPolicies).flatMap((all, index) => [`${index === 0 ? "" : ", "}${all.length} of`, code(all[0].rule)]);
  return [...texts, ...more];
}

/** The findings of one policy with the same message. */
type Group = readonly [PolicyFinding, ...PolicyFinding[]];

/** The message once, and each place. If all have the same line of a file, it is in the head. */
function policyEntry(group: Group): Entry {
  const [{ rule, severity, message }] = group;
  const tone = severityTones[severity];
  const places = new Set(group.map((finding) => placeText(finding)));
  const isCommon = places.size === 1;
  const rowOf = (finding: PolicyFinding): Row => {
    const { address, path } = finding;
    const requirement = requirementText(finding);
    const node = requirement === "" ? wholePath(path) : pathText(path).node;
    return [[name(address)], [code(node)], [requirement], [place(isCommon ? "" : placeText(finding))]];
  };
  return {
    sign: severitySigns[severity],
    tone,
    head: [[name(rule)], [word(severity, tone)], [place(isCommon ? placeText(group[0]) : "")]],
    notes: [[message]],
    rows: group.map(rowOf),
    noun: "finding",
  };
}

/** Without the requirement, which is met. */
function fixedEntry(group: Group): Entry {
  const entry = policyEntry(group);
  return {
    ...entry,
    sign: "✓",
    tone: "good",
    isBrief: true,
    head: [[name(group[0].rule)], [muted(counted(group.length, "place"))]],
    rows: entry.rows?.map(([object = [], node = [], , where = []]) => [object, node, where]) ?? [],
  };
}

/** The exemptions that let violations pass, with what they cover. */
export const exemptionsSection = (all: readonly UsedExemption[]): Section => ({
  id: "exemptions",
  title: "Exempt from policies",
  count: all.reduce((sum, { places }) => sum + places.length, 0),
  part: "attention",
  isFolded: true,
  isVital: true,
  noun: "exemption",
  contents: [joinParts(all.map(exemptionText), "; ")],
  entries: all.map((exemption) => ({
    sign: "○",
    tone: "warn",
    isMinor: true,
    head: [
      [name(policyAddress(exemption.policy))],
      [`${counted(exemption.places.length, "finding")} exempt until ${exemption.expires}`],
      [place(placeText(exemption))],
    ],
    notes: [[joinParts([exemption.reason, exemption.approvedBy ?? ""], ", ")]],
    rows: exemption.places.map(({ address, path }) => [[name(address)], [code(wholePath(path))]]),
    noun: "finding",
  })),
});

/** "60 findings of Policy/pii-hashed are exempt: DPIA-41, privacy@example.com, until 2027-01-31" */
function exemptionText({ policy, reason, approvedBy = "", expires, places }: UsedExemption): string {
  const findings = `${counted(places.length, "finding")} of ${policyAddress(policy)} ${places.length === 1 ? "is" : "are"} exempt`;
  return `${findings}: ${joinParts([reason, approvedBy, `until ${expires}`], ", ")}`;
}

/** "hashed is false, must be true"; "" if the values are not known. */
export function requirementText({ path, actual, required }: Pick<PolicyFinding, "path" | "actual" | "required">): string {
  if (actual === undefined || required === undefined) return "";
  return `${pathText(path).leaf} is ${actual}, must be ${required}`;
}
