import { declared } from "../../cli/flags.ts";

// Explains which rule decides a column. For whoever asks "why is this hashed?".

export const explainCommand = declared({
  usage: "explain <address> [path]",
  description:
    "Explain which rule decides a table or column. The path is SCHEMA[.TABLE[.COLUMN]]. Shows every rule that matches, the live value and the last changes in the audit log.",
  examples: [
    "dimsync explain Schemas/orders public.customers.email",
    "dimsync explain Schemas/orders 'public.customers.\"contact.email\"'",
  ],
  load: async () => (await import("./command.ts")).runExplain,
});
