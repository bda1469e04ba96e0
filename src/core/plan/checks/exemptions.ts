import { type Address, byText } from "../../base/model/address.ts";
import type { ExemptionFinding } from "../../base/model/findings.ts";
import { defined } from "../../base/model/json/json.ts";
import type { Pointer } from "../../base/model/json/pointer.ts";
import { locationIn, type Manifest, type PolicyExemption, type PolicySpec, problemIn } from "../../base/model/manifest.ts";
import type { Locate, Problem } from "../../base/model/problem.ts";
import type { Exempt } from "../../columns/policies/index.ts";
import { isForAll, lastDay } from "../../columns/policies/index.ts";

/** An exemption with its place. */
interface Placed {
  readonly policy: Manifest<PolicySpec>;
  readonly exemption: PolicyExemption;
  readonly pointer: Pointer;
}

const exemptionsOf = (policies: readonly Manifest<PolicySpec>[]): readonly Placed[] =>
  policies.flatMap((policy) =>
    (policy.spec.exemptions ?? []).map((exemption, index) => ({ policy, exemption, pointer: `/spec/exemptions/${index}` })),
  );

/** How long before its end an exemption is reported: 14 days. */
const soonMs = 14 * 86_400_000;

/** Exemptions that are not allowed, that are not needed, and that end soon. */
export const exemptionProblems = (
  policies: readonly Manifest<PolicySpec>[],
  today: string,
  unused: ReadonlySet<PolicyExemption> = new Set(),
): readonly Problem[] =>
  exemptionsOf(policies).flatMap(({ policy, exemption, pointer }): readonly Problem[] => {
    const { expires, reason } = exemption;
    const end = `${pointer}/expires`;
    if (isForAll(exemption)) {
      const message = `The exemption (${reason}) is for every integration and schema, so it would also cover data that nobody has looked at. Name the integration or the schema that it is for.`;
      return [problemIn(policy, pointer, { code: "E_EXEMPTION_TOO_WIDE", message })];
    }
    if (expires > lastDay(today)) {
      const message = `The exemption (${reason}) must end by ${lastDay(today)}, within a year, so that it is approved again. Set an earlier date.`;
      return [problemIn(policy, end, { code: "E_DATE_TOO_LATE", message })];
    }
    if (unused.has(exemption)) {
      const message = `The exemption (${reason}) covers nothing that violates ${policy.address}. Remove it, so that it does not let another change pass.`;
      return [problemIn(policy, pointer, { code: "W_UNUSED", severity: "warning", message })];
    }
    if (expires < today || Date.parse(expires) - Date.parse(today) > soonMs) return [];
    const message = `The exemption (${reason}) ends on ${expires}. After that day, what it covers violates ${policy.address}. Change that until then, or have the exemption approved again and set a later date.`;
    return [problemIn(policy, end, { code: "W_EXEMPTION_ENDS", severity: "warning", message })];
  });

/** Collects which exemptions are used. */
export function exemptionUse(policies: readonly Manifest<PolicySpec>[], locate: Locate) {
  const all = exemptionsOf(policies);
  const used = new Map<PolicyExemption, { readonly address: Address; readonly path: Pointer }[]>();
  const matched = new Set<PolicyExemption>();
  for (const { exemption } of all) used.set(exemption, []);
  return {
    add(address: Address, exempt: readonly Exempt[], covering: ReadonlySet<PolicyExemption>): void {
      for (const exemption of covering) matched.add(exemption);
      for (const { path, exemption } of exempt) used.get(exemption)?.push({ address, path });
    },
    used: (): readonly ExemptionFinding[] =>
      all.flatMap(({ policy, exemption, pointer }) => {
        const at = used.get(exemption) ?? [];
        if (at.length === 0) return [];
        const { reason, approvedBy, expires } = exemption;
        const { file, line } = locate(locationIn(policy, pointer));
        const places = at.sort((a, b) => byText(a.address, b.address) || byText(a.path, b.path));
        const of = { rule: policy.address, severity: "info", message: reason, count: places.length } as const;
        return [{ ...of, exemption: { ...defined({ approvedBy }), until: expires, places }, file, ...defined({ line }) }];
      }),
    /** Those that cover no violation, valid or not. Only known if every policy was evaluated everywhere. */
    unused: (): ReadonlySet<PolicyExemption> => new Set(all.flatMap(({ exemption }) => (matched.has(exemption) ? [] : [exemption]))),
  };
}
