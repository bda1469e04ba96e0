import { declared, type FlagsOf, type GlobalFlags, type Options } from "../../cli/flags.ts";

// Writes manifests for an account that exists. For teams that adopt dimsync.

const options = {
  "--out <dir>": "Directory for new files",
  "--dry-run": "Show the changes to the files, but write nothing",
  "--terraform-state <file>": "Also take what a Terraform state (`terraform state pull`) declares; `-` is the standard input",
} as const satisfies Options;

export interface ImportFlags extends GlobalFlags, FlagsOf<typeof options> {}

export const importCommand = declared({
  usage: "import [address...]",
  description:
    "Write manifests and bindings for live objects. Adds to existing files, and leaves what a manifest covers as it is. Addresses can be globs; without any, everything is imported.",
  options,
  examples: ["dimsync import", "dimsync import 'Integration/*' --dry-run"],
  load: async () => (await import("./command.ts")).runImport,
});
