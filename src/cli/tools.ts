import { auditTool } from "../features/audit/command.ts";
import { driftTool } from "../features/drift/command.ts";
import { explainTool } from "../features/explain/command.ts";
import { getTool } from "../features/get/command.ts";
import { planTool } from "../features/plan/command.ts";
import { registerTool } from "../features/register/command.ts";
import { renderTool } from "../features/render/command.ts";
import { validateTool } from "../features/validate/command.ts";
import type { Tool } from "./tool.ts";

/** The tools that `dimsync mcp` serves. To offer a further one, add it to its feature and a line here. That of validate has a file of its own, because validate must start fast. */
export const tools: readonly Tool[] = [validateTool, planTool, driftTool, explainTool, renderTool, getTool, registerTool, auditTool];
