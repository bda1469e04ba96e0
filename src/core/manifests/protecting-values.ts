import { kindNames } from "../kinds/manifests.ts";
import type { ProblemText } from "../model/problem.ts";

// What decides protection is written where it is reviewed. The value of a variable can come from a flag or the environment of one job, so it must not decide
// which columns are readable, or what stops a plan.

/** By kind; "*" is any name or index. */
const protecting: Readonly<Record<string, readonly string[]>> = {
  Config: [
    ...["manifests", "guards", "allow", "ignore", "policies"],
    ...["manifests", "guards", "protected", "catalog"].map((member) => `targets/*/${member}`),
  ],
  [kindNames.integration]: ["spec/create/enabled", "lifecycle"],
};

/** Selectors choose manifests by them. */
const ofEveryKind = ["metadata/name", "metadata/labels", "metadata/targets"];

/** Of these kinds, everything in `spec` but the integrations of a SchemaConfig, and text for people. */
const kindsOfRules: ReadonlySet<string> = new Set([kindNames.schemaConfig, kindNames.ruleSet, kindNames.policy, kindNames.classification]);
const freeInRules: ReadonlySet<unknown> = new Set(["integration", "integrations", "message"]);

/** Whether a value decides what is protected, or contains one that does. `path`: from the root of a document of the kind. */
export function decidesProtection(kind: string | undefined, path: readonly (string | number)[]): boolean {
  if (kind === undefined) return false;
  const overlaps = (pattern: string): boolean =>
    pattern.split("/").every((part, index) => index >= path.length || part === "*" || part === path[index]);
  const [root, member] = path;
  if (kindsOfRules.has(kind) && root === "spec") return !freeInRules.has(member) && (member === "exemptions" || path.at(-1) !== "reason");
  return (kind !== "Config" && ofEveryKind.some(overlaps)) || protecting[kind]?.some(overlaps) === true;
}

export const variableNotAllowed: ProblemText = {
  code: "E_VARIABLE_NOT_ALLOWED",
  message:
    "A variable cannot be used here: this value decides what is protected, and a variable could have another value in the job that applies. Write the value itself. If targets need different values, write a manifest for each of them, with metadata.targets.",
};
