import { type Address, byText } from "../model/address.ts";
import { groupBy } from "../model/maps.ts";
import type { Problem } from "../model/problem.ts";
import { type PolicySpec, problemIn, type Resource } from "../model/resource.ts";
import { andMore } from "../text/lists.ts";

/**
 * Something that policies could not check. It is reported as a problem, because otherwise it would
 * look like "no findings".
 */
export type NotEvaluated =
  /** A policy's module failed; `reason` is the end of a sentence that begins with the name of the module. */
  | { readonly type: "module"; readonly policy: Resource<PolicySpec>; readonly integration: string; readonly reason: string }
  /** The service returned no columns for the table: "public.users of orders". */
  | { readonly type: "columns"; readonly table: string }
  /** Its SchemaConfig has errors, or its schemas could not be read. */
  | { readonly type: "skipped"; readonly integration: string }
  /** The integration or its schema does not exist yet. */
  | { readonly type: "waits"; readonly address: Address };

export function notEvaluatedProblems(all: readonly NotEvaluated[]): readonly Problem[] {
  const tables = all.flatMap((one) => (one.type === "columns" ? [one.table] : []));
  const skipped = all.flatMap((one) => (one.type === "skipped" ? [one.integration] : []));
  const waiting = all.flatMap((one) => (one.type === "waits" ? [one.address] : []));
  return [
    ...moduleProblems(all),
    ...(skipped.length === 0 ? [] : [skippedProblem(skipped)]),
    ...(tables.length === 0 ? [] : [columnsProblem(tables)]),
    ...(waiting.length === 0 ? [] : [waitsProblem(waiting)]),
  ];
}

const skippedProblem = (integrations: readonly string[]): Problem => ({
  code: "W_POLICY_SKIPPED",
  severity: "warning",
  message: `Policies were not evaluated on ${andMore([...integrations].sort(byText))}: the SchemaConfig has errors, or the schemas could not be read. This plan may violate policies there. Fix the errors and plan again.`,
});

const columnsProblem = (tables: readonly string[]): Problem => ({
  code: "W_POLICY_UNSEEN",
  severity: "warning",
  message: `The service returned no columns for ${andMore([...tables].sort(byText))}, so policies did not check ${tables.length === 1 ? "them" : "these tables"}. Have the service discover the schema again, or check the columns in its user interface.`,
});

const waitsProblem = (addresses: readonly Address[]): Problem => ({
  code: "I_POLICY_WAITS",
  severity: "info",
  message: `The schemas of ${andMore([...addresses].sort(byText))} do not exist yet, so policies did not check them. apply checks them once they are discovered, before it changes them.`,
});

/** One problem per policy, with the first integration by name. */
function moduleProblems(all: readonly NotEvaluated[]): readonly Problem[] {
  const failed = all.filter((one) => one.type === "module");
  return [...groupBy(failed, ({ policy }) => policy.address)]
    .sort(([a], [b]) => byText(a, b))
    .map(([, failures]) => {
      const [{ policy }] = failures;
      const byIntegration = new Map(failures.map(({ integration, reason }) => [integration, reason]));
      const [[integration, reason] = ["", ""], ...others] = [...byIntegration].sort(([a], [b]) => byText(a, b));
      const more = others.length === 0 ? "" : ` and ${others.length} more`;
      return problemIn(policy, "/spec/module", {
        code: "E_POLICY_MODULE",
        message: `${policy.spec.module ?? policy.address} ${reason}. It was run for integration ${JSON.stringify(integration)}${more}. The run stops, because a policy that could not run must not look like one without findings. The module's default export must be a function of ({ integration, labels, schemas }) that returns a list of { path, message }.`,
      });
    });
}
