import { declared, type FlagsOf, type GlobalFlags, type Options } from "../../cli/flags.ts";

// Prints the audit log of the account. For whoever asks who changed what.

const options = {
  "--since <time>": "A date, a date and time, or an age such as 24h or 7d",
  "--until <time>": "Same formats (default: now)",
  "--actor <email>": "Only entries of this user",
} as const satisfies Options;

export interface AuditFlags extends GlobalFlags, FlagsOf<typeof options> {}

export const auditCommand = declared({
  usage: "audit",
  description: "Print the audit log. Newest entries first. Sends only GET requests.",
  options,
  examples: ["dimsync audit --since 24h", "dimsync audit --since 2026-03-01 --actor dana@example.com"],
  load: async () => (await import("./command.ts")).runAudit,
});
