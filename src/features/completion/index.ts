import { declared } from "../../cli/declared.ts";

// Prints completion scripts. For people who work in a shell.

export const completionCommand = declared({
  usage: "completion <shell>",
  description: "Print a completion script. Shells: bash, zsh, fish.",
  examples: ["source <(dimsync completion bash)", "dimsync completion fish | source"],
  load: async () => (await import("./command.ts")).runCompletion,
});
