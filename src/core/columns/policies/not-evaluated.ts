import { type Address, byText } from "../../base/model/address.ts";
import type { Problem } from "../../base/model/problem.ts";
import { andMore } from "../../base/text/lists.ts";

/** What policies could not check. It is reported, because otherwise it would look like "no findings". */
interface NotEvaluated {
  /** Tables without columns in the response: "public.users of orders". */
  readonly tables: readonly string[];
  /** Integrations whose SchemaConfig has errors, or whose schemas could not be read. */
  readonly skipped: readonly string[];
  /** The schemas of integrations that do not exist yet, or have none yet. */
  readonly waiting: readonly Address[];
}

export const notEvaluatedProblems = ({ tables, skipped, waiting }: NotEvaluated): readonly Problem[] => [
  ...aboutAll(skipped, "integration", {
    code: "W_POLICY_SKIPPED",
    severity: "warning",
    message: (integrations) =>
      `Policies were not evaluated on ${integrations}: the SchemaConfig has errors, or the schemas could not be read. This plan may violate policies there. Fix the errors and plan again.`,
  }),
  ...aboutAll(tables, "table", {
    code: "W_COLUMNS_UNKNOWN",
    severity: "warning",
    message: (shown) =>
      `The service returned no columns for ${shown}, so policies did not check ${tables.length === 1 ? "them" : "these tables"}. Have the service discover the schema again, or check the columns in its user interface.`,
  }),
  ...aboutAll(waiting, "object", {
    code: "I_POLICY_WAITS",
    severity: "info",
    message: (addresses) =>
      `The schemas of ${addresses} do not exist yet, so policies did not check them. apply checks them once they are discovered, before it changes them.`,
  }),
];

/** One problem about all of these, if there are any. */
const aboutAll = (
  names: readonly string[],
  one: string,
  { message, ...text }: Pick<Problem, "code" | "severity"> & { readonly message: (names: string) => string },
): readonly Problem[] => (names.length === 0 ? [] : [{ ...text, message: message(andMore([...names].sort(byText), one)) }]);
