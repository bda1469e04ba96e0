import type { ExemptionFinding, PolicyFinding } from "../../base/model/findings.ts";
import { placeText } from "../../base/model/problem.ts";
import { counted } from "../../base/text/counts.ts";
import { grouped, joinParts } from "../../base/text/lists.ts";
import { pathText, wholePath } from "../../base/text/paths.ts";
import { errorsFirst, severitySigns } from "../../base/text/signs.ts";
import { code, type Entry, type Line, muted, name, place, type Row, word } from "../blocks.ts";
import { severityTones } from "./words.ts";

const mostPolicies = 10;

/** "300 of Policy/pii, 12 of Policy/owners": what a folded list has. */
export function countsByPolicy(findings: readonly PolicyFinding[]): Line {
  const sorted = [...grouped(errorsFirst(findings), ({ rule }) => rule)].sort((a, b) => b.length - a.length);
  const more = sorted.length > mostPolicies ? [`and of ${counted(sorted.length - mostPolicies, "other policy")}`] : [];
  const texts = sorted.slice(0, mostPolicies).flatMap((all, index) => [`${index === 0 ? "" : ", "}${all.length} of`, code(all[0].rule)]);
  return [...texts, ...more];
}

/** The findings of one policy with the same message. */
type Group = readonly [PolicyFinding, ...PolicyFinding[]];

/** Findings with the same message are one entry, errors first. */
export const policyEntries = (all: readonly PolicyFinding[], state: PolicyFinding["state"]): readonly Entry[] =>
  grouped(errorsFirst(all), ({ rule, severity, message }) => JSON.stringify([rule, severity, message])).map((group) =>
    state === "fixed" ? fixedEntry(group) : { ...policyEntry(group), ...(state === "existing" ? { isMinor: true } : {}) },
  );

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

/** An exemption that lets violations pass, with what it covers. */
export function exemptionEntry(finding: ExemptionFinding): Entry {
  const { rule, message, exemption } = finding;
  const { places, until, approvedBy = "" } = exemption;
  return {
    sign: "○",
    tone: "warn",
    isBrief: true,
    head: [[name(rule)], [`${counted(places.length, "finding")} exempt until ${until}`], [place(placeText(finding))]],
    notes: [[joinParts([message, approvedBy], ", ")]],
    rows: places.map(({ address, path }) => [[name(address)], [code(wholePath(path))]]),
    noun: "finding",
  };
}

/** "60 findings of Policy/pii-hashed are exempt: DPIA-41, privacy@example.com, until 2027-01-31" */
export function exemptionText({ rule, message, exemption: { places, until, approvedBy = "" } }: ExemptionFinding): string {
  const findings = `${counted(places.length, "finding")} of ${rule} ${places.length === 1 ? "is" : "are"} exempt`;
  return `${findings}: ${joinParts([message, approvedBy, `until ${until}`], ", ")}`;
}

/** "hashed is false, must be true"; "" if the values are not known. */
export function requirementText({ path, actual, required }: Pick<PolicyFinding, "path" | "actual" | "required">): string {
  if (actual === undefined || required === undefined) return "";
  return `${pathText(path).leaf} is ${actual}, must be ${required}`;
}
