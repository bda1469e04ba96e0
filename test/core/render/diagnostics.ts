import type { Validation } from "../../../src/core/base/model/plan.ts";
import type { Diagnostic } from "../../../src/core/base/model/problem.ts";

export const diagnostics: readonly Diagnostic[] = [
  {
    rule: "E_UNKNOWN_REFERENCE",
    severity: "error",
    summary: "Unknown reference",
    message:
      "Tag/pii lists Integration/order. No manifest and no integration in the account has that name. Did you mean Integration/orders?",
    address: "Tag/pii",
    file: "manifests/orders.yaml",
    line: 14,
    column: 22,
    excerpt: ["      - integration: order", "                     ^^^^^"],
  },
  {
    rule: "W_NO_MATCH",
    severity: "warning",
    summary: "Glob without a match",
    message:
      "The rule's pattern order_* matches no table of Integration/orders, so the rule does nothing. Fix the pattern, or set minMatches: 0.",
    file: "manifests/shops.yaml",
    line: 31,
    column: 9,
  },
  {
    rule: "E_AMBIGUOUS",
    severity: "error",
    summary: "Several live objects match",
    message: "Integration/orders could be Orders (8f1c) or Orders (77aa). Pin the right one.",
    address: "Integration/orders",
    command: "dimsync bind Integration/orders=8f1c",
  },
];

export const invalid: Validation = {
  kind: "Validation",
  manifests: 8,
  files: 4,
  findings: diagnostics,
  exit: { code: 1, reasons: ["problems"] },
};
