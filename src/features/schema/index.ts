import { declared } from "../../cli/declared.ts";
import type { FlagsOf, GlobalFlags, Options } from "../../cli/flags.ts";

// Prints JSON Schemas. For authors whose editor completes and checks YAML.

const options = {
  "--from-live": "Add the schema, table and column names of the account. Sends only GET requests",
  "--snapshot <file>": "Add the names in this snapshot; needs no API key and no network",
  "--integration <name>": { text: "Only the names of integrations that match, such as 'shop-*'; repeatable", repeatable: true },
} as const satisfies Options;

export interface SchemaFlags extends GlobalFlags, FlagsOf<typeof options> {}

export const schemaCommand = declared({
  usage: "schema [kind]",
  description: "Print a JSON Schema for editors. With the names of an account, editors complete schemas, tables and columns.",
  options,
  examples: ["dimsync schema SchemaConfig", "dimsync schema --from-live --integration 'shop-*'"],
  load: async () => (await import("./command.ts")).runSchema,
});
