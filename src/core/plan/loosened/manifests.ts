import { canonicalJson } from "../../base/model/json/json.ts";
import { locationIn, type Manifest, type PolicyExemption, type PolicySpec } from "../../base/model/manifest.ts";
import { visible } from "../../base/text/control-characters.ts";
import { severities } from "../../base/text/signs.ts";
import { isValidOn, policiesIn } from "../../columns/policies/index.ts";
import { isRuleSet, isSchemaConfig } from "../../kinds/index.ts";
import { type Draft, type Review, until } from "./entry.ts";

// What manifests give up, as far as they show it without the account.

/** A policy at the base, and the one that took its place. */
export interface PolicyPair {
  readonly before: Manifest<PolicySpec>;
  /** Undefined if it is gone. */
  readonly now: Manifest<PolicySpec> | undefined;
  /** Whether it checks other nodes, or requires something else of them. */
  readonly isChanged: boolean;
}

/** The policies of the base. A renamed policy that checks the same is the same. */
export function policyPairs({ base, head }: Pick<Review, "base" | "head">): readonly PolicyPair[] {
  const [before, now] = [policiesIn(base.manifests), policiesIn(head.manifests)];
  const names = new Set(before.map(({ name }) => name));
  return before.map((policy) => {
    const sameName = now.find(({ name }) => name === policy.name);
    const pair = sameName ?? now.find((one) => !names.has(one.name) && checked(one) === checked(policy));
    return { before: policy, now: pair, isChanged: pair === undefined || checked(pair) !== checked(policy) };
  });
}

const checked = ({ spec: { severity, when, require } }: Manifest<PolicySpec>): string =>
  canonicalJson([severity, when ?? {}, require ?? {}]);

/** How a policy became weaker, as far as its manifest shows it; "" if only the account shows it. */
export function weakerText(before: PolicySpec, now: PolicySpec): string {
  const parts = [
    ...(severities.indexOf(now.severity) > severities.indexOf(before.severity)
      ? [`Severity ${before.severity} at the base, ${now.severity} now.`]
      : []),
    ...(["enabled", "hashed"] as const).flatMap((key) =>
      before.require?.[key] !== undefined && now.require?.[key] !== before.require[key]
        ? [`It required ${key}: ${before.require[key]}, and does not any more.`]
        : [],
    ),
  ];
  return parts.join(" ");
}

/** An exemption that the base does not have. */
export interface NewExemption {
  readonly policy: Manifest<PolicySpec>;
  readonly exemption: PolicyExemption;
  readonly draft: Draft;
}

/** The exemptions of policies of the base that are new, cover more or last longer. */
export function newExemptions(pairs: readonly PolicyPair[], today: string): readonly NewExemption[] {
  return pairs.flatMap(({ before, now }) => {
    if (now === undefined) return [];
    const old = before.spec.exemptions ?? [];
    return (now.spec.exemptions ?? []).flatMap((exemption, index): readonly NewExemption[] => {
      if (!isValidOn(exemption, today)) return [];
      const same = old.filter((one) => selectorOf(one) === selectorOf(exemption));
      if (same.some(({ expires }) => expires >= exemption.expires)) return [];
      const reused = old.some((one) => one.reason === exemption.reason && one.approvedBy === exemption.approvedBy);
      const code = same.length > 0 ? "exemption-extended" : reused ? "exemption-widened" : "exemption-added";
      const by =
        exemption.approvedBy === undefined
          ? ""
          : ` approvedBy ${visible(exemption.approvedBy)} was written by the author of this pull request.`;
      const [was = ""] = same
        .map(({ expires }) => ` It ended on ${expires}.`)
        .sort()
        .reverse();
      const draft: Draft = {
        code,
        subject: now.address,
        message: `Exemption ${visible(exemption.reason)}, ${until(exemption.expires)}, for ${scopeText(exemption)}.${was}${by}`,
        at: "head",
        place: locationIn(now, `/spec/exemptions/${index}`),
      };
      return [{ policy: now, exemption, draft }];
    });
  });
}

const selectorOf = ({ integration, schema, table, column }: PolicyExemption): string =>
  canonicalJson([integration ?? null, schema ?? null, table ?? null, column ?? null]);
const scopeText = ({ integration, schema, table, column }: PolicyExemption): string => {
  const path = [schema, table, column].map((name) => visible(name ?? "*")).join(".");
  return `${path} of ${integration === undefined ? "every integration" : visible(integration)}`;
};

/** Rules that ignore what they match. */
export function ignoringRules({ base, head }: Pick<Review, "base" | "head">): readonly Draft[] {
  const ignoring = (manifests: readonly Manifest[]) =>
    manifests
      .filter((manifest) => isSchemaConfig(manifest) || isRuleSet(manifest))
      .flatMap((manifest) =>
        (manifest.spec.rules ?? []).flatMap((rule, index) =>
          "match" in rule && rule.ignore === true ? [{ manifest, index, text: canonicalJson([manifest.address, rule.match]) }] : [],
        ),
      );
  const known = new Set(ignoring(base.manifests).map(({ text }) => text));
  const added = ignoring(head.manifests).filter(({ text }) => !known.has(text));
  return added.map(({ manifest, index }) => ({
    code: "ignore-added",
    subject: manifest.address,
    message: `Rule ${index + 1} ignores what it matches: it is neither managed nor reported as drift.`,
    at: "head",
    place: locationIn(manifest, `/spec/rules/${index}`),
  }));
}
