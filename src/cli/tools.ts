import { auditTool } from "../features/audit/tool.ts";
import { driftTool } from "../features/drift/tool.ts";
import { explainTool } from "../features/explain/tool.ts";
import { getTool } from "../features/get/tool.ts";
import { planTool } from "../features/plan/tool.ts";
import { registerTool } from "../features/register/tool.ts";
import { renderTool } from "../features/render/tool.ts";
import { validateTool } from "../features/validate/tool.ts";
import type { Tool } from "./tool.ts";

/** The tools that `dimsync mcp` serves. To offer a further one, add `tool.ts` to its feature and a line here. */
export const tools: readonly Tool[] = [validateTool, planTool, driftTool, explainTool, renderTool, getTool, registerTool, auditTool];
