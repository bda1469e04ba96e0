import { declared, type FlagsOf, type GlobalFlags, type Options } from "../../cli/flags.ts";

// Records which columns of the source have been reviewed. For teams that review new columns.

const options = {
  "--all": "Accept every new column, and remove every column that is gone",
} as const satisfies Options;

export interface CatalogFlags extends GlobalFlags, FlagsOf<typeof options> {}

export const catalogCommand = declared({
  usage: "catalog <task> [args...]",
  description:
    "Accept new columns after review. Task: accept [ADDRESS [SCHEMA.TABLE[.COLUMN]]]. Writes the catalog file that the config names. Sends only GET requests.",
  options,
  examples: [
    "dimsync catalog accept --all",
    "dimsync catalog accept Schemas/orders",
    "dimsync catalog accept Schemas/orders public.customers.national_id",
  ],
  load: async () => (await import("./command.ts")).runCatalog,
});
