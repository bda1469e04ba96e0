import { declared, type FlagsOf, type GlobalFlags, type Options } from "../../cli/flags.ts";

// Lists what happens to labelled columns. For data protection officers and auditors.

const options = {
  "--label <name>": { text: "Only columns with this label; repeatable", repeatable: true },
  "--integration <name>": { text: "Only integrations that match, such as 'shop-*'; repeatable", repeatable: true },
} as const satisfies Options;

export interface RegisterFlags extends GlobalFlags, FlagsOf<typeof options> {}

export const registerCommand = declared({
  usage: "register",
  description:
    "Print what happens to every labelled column. Shows the rule and the exemption that apply. Sends only GET requests. Exits with 3 if a column breaks an error policy.",
  options,
  load: async () => (await import("./command.ts")).runRegister,
});
