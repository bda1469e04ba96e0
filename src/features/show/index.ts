import { declared } from "../../cli/flags.ts";

// Prints a saved plan, drift report or result again, in any format. For readers of a finished job.

export const showCommand = declared({
  usage: "show <file>",
  description: "Print a saved plan, drift report or result",
  examples: ["dimsync show plan.json", "dimsync show result.json -o html=result.html"],
  load: async () => (await import("./command.ts")).runShow,
});
