import { type Address, byText } from "../model/address.ts";
import type { Problem } from "../model/problem.ts";
import { type PolicySpec, placeIn, type Resource } from "../model/resource.ts";

/** Something that policies should have judged and could not. */
export type Unjudged =
  /** A policy in JavaScript failed; `text` ends a sentence that begins with the module's name. */
  | { readonly why: "fault"; readonly policy: Resource<PolicySpec>; readonly integration: string; readonly text: string }
  /** A table whose columns are unknown. */
  | { readonly why: "unseen"; readonly node: string }
  /** A unit whose integration or schema is not there yet. */
  | { readonly why: "waits"; readonly address: Address };

/** So many examples are named. */
const shown = 3;

/** A policy that could not judge must not look like one that found nothing. */
export function policyNotes(unjudged: readonly Unjudged[]): readonly Problem[] {
  const faults = new Map<
    Address,
    { readonly policy: Resource<PolicySpec>; readonly told: (readonly [integration: string, text: string])[] }
  >();
  const unseen: string[] = [];
  const waiting: string[] = [];
  for (const one of unjudged) {
    if (one.why === "unseen") unseen.push(one.node);
    else if (one.why === "waits") waiting.push(one.address);
    else {
      const known = faults.get(one.policy.address) ?? { policy: one.policy, told: [] };
      known.told.push([one.integration, one.text]);
      faults.set(one.policy.address, known);
    }
  }
  return [
    ...[...faults.values()].sort((a, b) => byText(a.policy.address, b.policy.address)).map(faultProblem),
    ...(unseen.length === 0
      ? []
      : [
          {
            code: "W_POLICY_UNSEEN",
            severity: "warning",
            summary: "Policies could not see columns",
            message: `The service tells no columns of ${listed(unseen)}, so no policy has judged ${unseen.length === 1 ? "them" : "those tables"}. Have the schema discovered again, or look at the columns in the service.`,
          } as const,
        ]),
    ...(waiting.length === 0
      ? []
      : [
          {
            code: "I_POLICY_WAITS",
            severity: "info",
            summary: "Policies judge later",
            message: `The schemas of ${listed(waiting)} are not there yet, so no policy has judged them. apply judges them once they are discovered, before it changes them.`,
          } as const,
        ]),
  ];
}

function faultProblem({
  policy,
  told,
}: {
  readonly policy: Resource<PolicySpec>;
  readonly told: readonly (readonly [string, string])[];
}): Problem {
  const sorted = [...told].sort(([a], [b]) => byText(a, b));
  const [integration, text] = sorted[0] ?? ["", ""];
  const more = sorted.length === 1 ? "" : `, and could not judge ${sorted.length - 1} more`;
  return {
    code: "E_POLICY_MODULE",
    severity: "error",
    summary: "A policy module fails",
    message: `${policy.spec.module ?? policy.address} ${text}, when it was asked about integration ${JSON.stringify(integration)}${more}. A policy that can't judge stops the run. Its default export takes ({ integration, labels, schemas }) and returns [{ path, message }], an empty list where all is well.`,
    place: placeIn(policy, "/spec/module"),
    address: policy.address,
  };
}

function listed(names: readonly string[]): string {
  const sorted = [...names].sort(byText);
  const first = sorted.slice(0, shown).join(", ");
  return sorted.length > shown ? `${first} and ${sorted.length - shown} more` : first;
}
