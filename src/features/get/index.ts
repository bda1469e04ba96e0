import { declared } from "../../cli/flags.ts";

// Prints live objects. For whoever needs an id, and for agents.

export const getCommand = declared({
  usage: "get <kind> [id]",
  description:
    "Print live integrations, tags, users or schemas. With service.extended, an asset, too. The id can be the address of a bound manifest. Sends only GET requests.",
  examples: ["dimsync get integrations", "dimsync get schemas Integration/orders", "dimsync get user dana@example.com -o json"],
  load: async () => (await import("./command.ts")).runGet,
});
