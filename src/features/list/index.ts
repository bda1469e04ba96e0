import { declared } from "../../cli/declared.ts";

// Lists manifests with their ids and files. For whoever looks for the manifest of an object.

export const listCommand = declared({
  usage: "list [path...]",
  description: "List manifests with their live ids and files. Sends no request to the account.",
  examples: ["dimsync list", "dimsync list -o json"],
  load: async () => (await import("./command.ts")).runList,
});
