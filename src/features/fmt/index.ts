import { declared } from "../../cli/declared.ts";
import type { FlagsOf, GlobalFlags, Options } from "../../cli/flags.ts";

// Formats manifests. For teams that review them.

const options = {
  "--check": "Change nothing; exit with 2 if a file would change",
} as const satisfies Options;

export interface FmtFlags extends GlobalFlags, FlagsOf<typeof options> {}

export const fmtCommand = declared({
  usage: "fmt [path...]",
  description: "Rewrite manifests in canonical form. Prints the names of changed files.",
  options,
  examples: ["dimsync fmt", "dimsync fmt --check manifests"],
  load: async () => (await import("./command.ts")).runFmt,
});
