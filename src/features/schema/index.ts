import { declared } from "../../cli/flags.ts";

// Prints JSON Schemas. For authors whose editor completes and checks YAML.

export const schemaCommand = declared({
  usage: "schema [kind]",
  description: "Print a JSON Schema for editors.",
  examples: ["dimsync schema SchemaConfig"],
  load: async () => (await import("./command.ts")).runSchema,
});
