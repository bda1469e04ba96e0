import { declared } from "../../cli/flags.ts";

// Checks manifests without an account. For editors, pre-commit hooks and jobs without an API key.

export const validateCommand = declared({
  usage: "validate [path...]",
  description:
    "Check manifests without reading the account. Reports all problems at once. Paths replace the manifests that the config names.",
  examples: ["dimsync validate", "dimsync validate manifests/orders.yaml", "dimsync validate -o json=problems.json"],
  load: async () => (await import("./command.ts")).runValidate,
});
