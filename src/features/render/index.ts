import { declared } from "../../cli/declared.ts";
import type { FlagsOf, GlobalFlags, Options } from "../../cli/flags.ts";

// Prints manifests with variables and rules resolved. For authors of variables and rules.

const options = {
  "--expand": "Replace the rules of schema configurations with the resulting settings of the account's tables and columns",
  "--snapshot <file>": "With --expand: read this snapshot instead of the account",
} as const satisfies Options;

export interface RenderFlags extends GlobalFlags, FlagsOf<typeof options> {}

export const renderCommand = declared({
  usage: "render [address]",
  description: "Print manifests with variables filled in. Secrets stay references.",
  options,
  examples: ["dimsync render", "dimsync render SchemaConfig/shops --expand"],
  load: async () => (await import("./command.ts")).runRender,
});
