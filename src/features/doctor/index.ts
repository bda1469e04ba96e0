import { declared } from "../../cli/flags.ts";

// Checks the set-up. For whoever sets dimsync up, or finds that it does not work.

export const doctorCommand = declared({
  usage: "doctor",
  description: "Check the key, service, records and jobs of CI",
  options: {},
  load: async () => (await import("./command.ts")).runDoctor,
});
