import { declared } from "../../cli/declared.ts";
import type { FlagsOf, GlobalFlags, Options } from "../../cli/flags.ts";

// Compares two accounts. For teams that keep staging and production alike.

const options = {
  "--from <target|file>": "Target or snapshot file",
  "--to <target|file>": "Target or snapshot file",
} as const satisfies Options;

export interface CompareFlags extends GlobalFlags, FlagsOf<typeof options> {}

export const compareCommand = declared({
  usage: "compare",
  description: "Compare two targets or snapshots. Exits with 2 if they differ.",
  options,
  examples: ["dimsync compare --from staging --to prod", "dimsync compare --from account.snapshot.gz --to prod"],
  load: async () => (await import("./command.ts")).runCompare,
});
