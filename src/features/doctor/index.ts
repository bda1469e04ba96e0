import { declared } from "../../cli/declared.ts";
import type { FlagsOf, GlobalFlags, Options } from "../../cli/flags.ts";

// Checks the set-up. For whoever sets dimsync up, or finds that it does not work.

const options = {
  "--all-integrations": "Read the schemas of every integration, not only of one",
} as const satisfies Options;

export interface DoctorFlags extends GlobalFlags, FlagsOf<typeof options> {}

export const doctorCommand = declared({
  usage: "doctor",
  description: "Check the API key, service, clock and records",
  options,
  load: async () => (await import("./command.ts")).runDoctor,
});
