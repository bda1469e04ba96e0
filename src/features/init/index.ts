import type { Context } from "../../cli/context.ts";
import { declared, type FlagsOf, type GlobalFlags, type Options } from "../../cli/flags.ts";
import type { NextSteps } from "./command.ts";

// Creates a project. For first-time users.

const options = {
  "--from-live": "Then import the account at DIMSYNC_BASE_URL",
  "--ci <system>": "Write jobs for github, gitlab or none (default: by the host of the git remote)",
  "--in-order": "In CI, apply the targets one after the other, in the order of dimsync.yaml",
  "--no-records": "Do not create records in the git remote",
} as const satisfies Options;

export interface InitFlags extends GlobalFlags, FlagsOf<typeof options> {}

export const initCommand = (next: NextSteps) =>
  declared({
    usage: "init [dir]",
    description:
      "Create a config, schemas, workflows and records. Existing files are not changed. The records of a new project are created in the git remote origin.",
    options,
    examples: [
      "dimsync init",
      "dimsync init -t dev -t prod --in-order",
      "DIMSYNC_BASE_URL=https://api.example.com DIMSYNC_API_KEY=... dimsync init sync --from-live",
    ],
    load: async () => {
      const { runInit } = await import("./command.ts");
      return (context: Context<InitFlags>, dir: string | undefined) => runInit(context, dir, next);
    },
  });
