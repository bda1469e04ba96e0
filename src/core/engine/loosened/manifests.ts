import { isRuleSet, isSchemaConfig } from "../../kinds/manifests.ts";
import { unreviewedIn } from "../../kinds/schemas.ts";
import { canonicalJson } from "../../model/json/json.ts";
import { getOrAdd } from "../../model/maps.ts";
import {
  locationIn,
  type PolicyExemption,
  type PolicySpec,
  type Resource,
  type SchemaConfigSpec,
  type SchemaRule,
} from "../../model/resource.ts";
import { isValidOn } from "../../policies/compile.ts";
import { policiesIn } from "../../policies/validate.ts";
import { visible } from "../../text/control-characters.ts";
import { severities } from "../../text/severity.ts";
import { type Draft, type Review, until } from "./entry.ts";

// What manifests give up, as far as they show it without the account.

/** A policy at the base, and the one that took its place. */
export interface PolicyPair {
  readonly before: Resource<PolicySpec>;
  /** Undefined if it is gone. */
  readonly now: Resource<PolicySpec> | undefined;
  /** Whether it checks other nodes, or requires something else of them. */
  readonly isChanged: boolean;
}

/** The policies of the base. A renamed policy that checks the same is the same. */
export function policyPairs({ base, head }: Pick<Review, "base" | "head">): readonly PolicyPair[] {
  const [before, now] = [policiesIn(base.resources), policiesIn(head.resources)];
  const names = new Set(before.map(({ name }) => name));
  return before.map((policy) => {
    const sameName = now.find(({ name }) => name === policy.name);
    const pair = sameName ?? now.find((one) => !names.has(one.name) && checked(one) === checked(policy));
    return { before: policy, now: pair, isChanged: pair === undefined || checked(pair) !== checked(policy) };
  });
}

const checked = ({ spec: { severity, when, require } }: Resource<PolicySpec>): string =>
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
  readonly policy: Resource<PolicySpec>;
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

/** Rules that ignore, and what is not covered any more. */
export function looserConfigs({ base, head }: Pick<Review, "base" | "head">): readonly Draft[] {
  return [...ignoringRules({ base, head }), ...looserModes({ base, head })];
}

function ignoringRules({ base, head }: Pick<Review, "base" | "head">): readonly Draft[] {
  const ignoring = (resources: readonly Resource[]) =>
    resources.flatMap((resource) => {
      if (!isSchemaConfig(resource) && !isRuleSet(resource)) return [];
      const rules: readonly SchemaRule[] = resource.spec.rules ?? [];
      return rules.flatMap((rule, index) =>
        "match" in rule && rule.ignore === true ? [{ resource, index, text: canonicalJson([resource.address, rule.match]) }] : [],
      );
    });
  const known = new Set(ignoring(base.resources).map(({ text }) => text));
  return ignoring(head.resources).flatMap(({ resource, index, text }): readonly Draft[] =>
    known.has(text)
      ? []
      : [
          {
            code: "ignore-added",
            subject: resource.address,
            message: `Rule ${index + 1} ignores what it matches: it is neither managed nor reported as drift.`,
            at: "head",
            place: locationIn(resource, `/spec/rules/${index}`),
          },
        ],
  );
}

const unmatchedOrder = ["enable", "ignore", "error", "disable"];
const unreviewedOrder = ["", "report", "warn", "error", "disable"];

function looserModes({ base, head }: Pick<Review, "base" | "head">): readonly Draft[] {
  const now = new Map<string, Resource<SchemaConfigSpec>>();
  for (const config of head.resources.filter(isSchemaConfig)) getOrAdd(now, config.address, () => config);
  return base.resources.filter(isSchemaConfig).flatMap((before): readonly Draft[] => {
    const after = now.get(before.address);
    // What a SchemaConfig that is gone protected is counted by its columns.
    if (after === undefined) return [];
    const modes = [
      ...(["schemas", "tables"] as const).map((level) => ({
        name: `unmatched.${level}`,
        pointer: `/spec/unmatched/${level}`,
        was: before.spec.unmatched?.[level] ?? "ignore",
        is: after.spec.unmatched?.[level] ?? "ignore",
        isSet: after.spec.unmatched?.[level] !== undefined,
        order: unmatchedOrder,
      })),
      {
        name: "unreviewed",
        pointer: "/spec/unreviewed",
        was: unreviewedIn(before) ?? "",
        is: unreviewedIn(after) ?? "",
        isSet: unreviewedIn(after) !== undefined,
        order: unreviewedOrder,
      },
    ];
    return modes.flatMap(({ name, pointer, was, is, isSet, order }): readonly Draft[] =>
      order.indexOf(is) >= order.indexOf(was)
        ? []
        : [
            {
              code: "managed-less",
              subject: before.address,
              message: `${name}: ${was} at the base, ${is === "" ? "not set" : is} now.`,
              ...(isSet
                ? { at: "head" as const, place: locationIn(after, pointer) }
                : { at: "base" as const, place: locationIn(before, pointer) }),
            },
          ],
    );
  });
}
