import { applyCommand } from "../features/apply/index.ts";
import { auditCommand } from "../features/audit/index.ts";
import { catalogCommand } from "../features/catalog/index.ts";
import { ciCommand } from "../features/ci/index.ts";
import { controllerCommand } from "../features/controller/index.ts";
import { doctorCommand } from "../features/doctor/index.ts";
import { driftCommand } from "../features/drift/index.ts";
import { explainCommand } from "../features/explain/index.ts";
import { getCommand } from "../features/get/index.ts";
import { importCommand } from "../features/import/index.ts";
import { initCommand } from "../features/init/index.ts";
import { planCommand } from "../features/plan/index.ts";
import { bindCommand, recordsCommand, resolveCommand, unbindCommand } from "../features/records/index.ts";
import { registerCommand } from "../features/register/index.ts";
import { schemaCommand } from "../features/schema/index.ts";
import { serveCommand } from "../features/serve/index.ts";
import { showCommand } from "../features/show/index.ts";
import { validateCommand } from "../features/validate/index.ts";
import type { Declared } from "./flags.ts";

// The command line has what this list has. No feature imports another one, so what one needs of another is handed in here.

const init = initCommand({
  importAccount: async (context) => (await import("../features/import/command.ts")).runImport(context, []),
  createRecords: async (context) =>
    void (await (await import("../features/records/move-records-command.ts")).runMove(context, "init", undefined)),
});
const apply = applyCommand(async () => (await import("../features/plan/command.ts")).runPlan);

/** The commands by the groups of the help, in its order. */
export const commandGroups: Readonly<Record<string, readonly Declared[]>> = {
  "Every day:": [init, importCommand, validateCommand, planCommand, apply, driftCommand, explainCommand, showCommand, catalogCommand],
  "Inspect:": [getCommand, registerCommand, auditCommand],
  "Records:": [bindCommand, unbindCommand, resolveCommand, recordsCommand],
  "Set up:": [doctorCommand, serveCommand, schemaCommand],
  "CI:": [ciCommand],
  "Controller:": [controllerCommand],
};
