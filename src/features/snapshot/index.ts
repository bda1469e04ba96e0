import { declared } from "../../cli/declared.ts";
import type { FlagsOf, GlobalFlags, Options } from "../../cli/flags.ts";

// Saves the live state to a file. For plans without an API key, such as those of forks.

const options = {
  "--out <file>": "File to write; compressed if larger than 1 MiB",
} as const satisfies Options;

export interface SnapshotFlags extends GlobalFlags, FlagsOf<typeof options> {}

export const snapshotCommand = declared({
  usage: "snapshot",
  description: "Save the live state to a file, without secrets. Plans can read it instead of the account.",
  options,
  examples: ["dimsync snapshot --out account.snapshot.gz", "dimsync plan --snapshot account.snapshot.gz"],
  load: async () => (await import("./command.ts")).runSnapshot,
});
