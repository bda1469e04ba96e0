import { isRuleSet, isSchemaConfig } from "../../kinds/manifests.ts";
import { nameMatcher } from "../../kinds/patterns/names.ts";
import { ruleSetsIn, spliceRules, unreviewedIn } from "../../kinds/schemas.ts";
import { canonicalJson, isObject } from "../../model/json/json.ts";
import {
  locationIn,
  type Manifest,
  type PolicyExemption,
  type PolicySpec,
  type SchemaConfigSpec,
  type SchemaRule,
} from "../../model/manifest.ts";
import { getOrAdd } from "../../model/maps.ts";
import { isValidOn } from "../../policies/compile.ts";
import { policiesIn } from "../../policies/validate.ts";
import { visible } from "../../text/control-characters.ts";
import { ruleText } from "../../text/describe.ts";
import { severities } from "../../text/signs.ts";
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

/** Rules that ignore, and what is not covered any more. */
export const looserConfigs = (review: Pick<Review, "base" | "head">): readonly Draft[] => [
  ...ignoringRules(review),
  ...looserModes(review),
  ...narrowerSelectors(review),
];

interface KeptConfig {
  readonly before: Manifest<SchemaConfigSpec>;
  readonly after: Manifest<SchemaConfigSpec>;
}

/** The SchemaConfigs of the base that still exist. What one that is gone protected is counted by the columns of the account. */
function keptConfigs({ base, head }: Pick<Review, "base" | "head">): readonly KeptConfig[] {
  const now = new Map<string, Manifest<SchemaConfigSpec>>();
  for (const config of head.manifests.filter(isSchemaConfig)) getOrAdd(now, config.address, () => config);
  return base.manifests.filter(isSchemaConfig).flatMap((before) => {
    const after = now.get(before.address);
    return after === undefined ? [] : [{ before, after }];
  });
}

/**
 * Whether a condition of a manifest is met wherever the one at the base is, as far as its text shows it: its patterns match names
 * like those that the base matches, and no condition is new. Only so much is known of columns and integrations that do not exist yet.
 */
export function covers(now: unknown, before: unknown): boolean {
  if (now === undefined) return true;
  const [patterns, known] = [patternsOf(now), patternsOf(before)];
  if (patterns !== undefined && known !== undefined) {
    const { matched, excluded } = patterns;
    const matches = nameMatcher(matched);
    return (
      known.matched.every((one) => matched.includes(one) || (!/[[{\\]/u.test(one) && namesLike(one).every(matches))) &&
      excluded.every((one) => known.excluded.includes(one))
    );
  }
  if (!isObject(now) || !isObject(before)) return canonicalJson(now) === canonicalJson(before ?? null);
  const { ignoreCase = false, ...others } = now;
  return (
    (ignoreCase === true || before["ignoreCase"] !== true) && Object.entries(others).every(([key, value]) => covers(value, before[key]))
  );
}

/** Names that a pattern of `*` and `?` matches. */
const namesLike = (pattern: string): readonly string[] =>
  ["", "x", "a_b"].map((text) => pattern.replaceAll("*", text).replaceAll("?", "x"));

/** The patterns of a condition on names; undefined if it is not one. */
function patternsOf(value: unknown): { readonly matched: readonly string[]; readonly excluded: readonly string[] } | undefined {
  const all = (Array.isArray(value) ? value : [value]).filter((one) => typeof one === "string");
  if (all.length === 0) return undefined;
  const matched = all.filter((one) => !one.startsWith("!"));
  return { matched: matched.length === 0 ? ["*"] : matched, excluded: all.filter((one) => one.startsWith("!")) };
}

/**
 * Rules of the base that protect, and that no rule of now covers: a column that is added later may lose what they keep.
 */
export function narrowerRules({ base, head }: Pick<Review, "base" | "head">): readonly Draft[] {
  return keptConfigs({ base, head }).flatMap(({ before, after }): readonly Draft[] => {
    const kept = protecting(after, head.manifests);
    const same = new Set(kept.map(({ text }) => text));
    return protecting(before, base.manifests).flatMap(({ text, match, set, name, place }): readonly Draft[] =>
      same.has(text) || kept.some((one) => covers(one.match, match) && covers(set, one.set))
        ? []
        : [
            {
              code: "protection-lost",
              subject: visible(ruleText(name, name)),
              message: "It matches less than at the base. No column of the account loses it today; columns that are added later may.",
              at: "base",
              place,
            },
          ],
    );
  });
}

/** The rules of a SchemaConfig that hash or switch off, with what they set for that. */
const protecting = (config: Manifest<SchemaConfigSpec>, manifests: readonly Manifest[]) =>
  spliceRules(config, ruleSetsIn(manifests)).rules.flatMap(({ rule: { match, set }, name, owner, pointer }) => {
    const kept = { ...(set?.hashed === true ? { hashed: true } : {}), ...(set?.enabled === false ? { enabled: false } : {}) };
    if (Object.keys(kept).length === 0) return [];
    return [{ match, set: kept, name, place: locationIn(owner, pointer), text: canonicalJson([match, kept]) }];
  });

/** SchemaConfigs that select fewer integrations. Those that they leave are `released`. */
function narrowerSelectors(review: Pick<Review, "base" | "head">): readonly Draft[] {
  return keptConfigs(review).flatMap(({ before, after }): readonly Draft[] => {
    const [was, is] = [before.spec.integrations, after.spec.integrations];
    if (was === undefined || (is !== undefined && covers(is, was))) return [];
    return [
      {
        code: "managed-less",
        subject: before.address,
        message: "It selects fewer integrations than at the base: one that is created later may not be selected.",
        at: "head",
        place: locationIn(after, is === undefined ? "/spec" : "/spec/integrations"),
      },
    ];
  });
}

function ignoringRules({ base, head }: Pick<Review, "base" | "head">): readonly Draft[] {
  const ignoring = (manifests: readonly Manifest[]) =>
    manifests.flatMap((manifest) => {
      if (!isSchemaConfig(manifest) && !isRuleSet(manifest)) return [];
      const rules: readonly SchemaRule[] = manifest.spec.rules ?? [];
      return rules.flatMap((rule, index) =>
        "match" in rule && rule.ignore === true ? [{ manifest, index, text: canonicalJson([manifest.address, rule.match]) }] : [],
      );
    });
  const known = new Set(ignoring(base.manifests).map(({ text }) => text));
  return ignoring(head.manifests).flatMap(({ manifest, index, text }): readonly Draft[] =>
    known.has(text)
      ? []
      : [
          {
            code: "ignore-added",
            subject: manifest.address,
            message: `Rule ${index + 1} ignores what it matches: it is neither managed nor reported as drift.`,
            at: "head",
            place: locationIn(manifest, `/spec/rules/${index}`),
          },
        ],
  );
}

const unmatchedOrder = ["enable", "ignore", "error", "disable"];
const unreviewedOrder = ["", "report", "warn", "error", "disable"];

function looserModes(review: Pick<Review, "base" | "head">): readonly Draft[] {
  return keptConfigs(review).flatMap(({ before, after }): readonly Draft[] => {
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
