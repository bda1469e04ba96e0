import { join } from "node:path";
import { DimsyncError } from "../model/errors.ts";
import { own } from "../model/json/json.ts";
import { appendLog, readLog } from "./files/append-log.ts";
import { reasonOf } from "./files/fs-errors.ts";
import { ensureStateFolder, stateFolder } from "./state-folder.ts";

export interface AppliedPlan {
  readonly planId: string;
  readonly runId: string;
  /** ISO 8601 */
  readonly at: string;
}

export interface AppliedPlans {
  readonly file: string;
  /** All applications on this machine, oldest first. Throws as `wasApplied` does. */
  readonly all: () => Promise<readonly AppliedPlan[]>;
  /** The first application of the plan on this machine, if any. Throws E_APPLIED_FILE (exit 5) if the record cannot be read. */
  readonly wasApplied: (planId: string) => Promise<AppliedPlan | undefined>;
  /**
   * Await it before the first write of a saved plan. Resolves when the mark is on disk. Throws
   * E_PLAN_APPLIED (exit 5) if any process has marked it before, and E_APPLIED_FILE (exit 5) if the
   * mark cannot be written: then send nothing.
   */
  readonly markApplied: (planId: string, runId: string) => Promise<void>;
}

/** `.dimsync/applied.ndjson` below the project's folder: a saved plan is applied once. The file is created with the first mark. */
export function appliedPlans(folder: string): AppliedPlans {
  const file = join(stateFolder(folder), "applied.ndjson");
  const all = async (): Promise<readonly AppliedPlan[]> => {
    const lines = await readLog(file).catch((error: unknown) => {
      throw unusable(file, reasonOf(error), error);
    });
    if ("broken" in lines) throw unusable(file, `line ${lines.broken} is not a JSON object`);
    return lines.map(({ number, entry }) => {
      const planId = own(entry, "planId");
      if (typeof planId !== "string") throw unusable(file, `line ${number} names no plan`);
      return { planId, runId: String(own(entry, "runId")), at: String(own(entry, "at")) };
    });
  };
  const wasApplied = async (planId: string): Promise<AppliedPlan | undefined> => (await all()).find((plan) => plan.planId === planId);
  const refuseTwice = async (planId: string): Promise<undefined> => {
    const before = await wasApplied(planId);
    if (before === undefined) return;
    throw new DimsyncError(
      "E_PLAN_APPLIED",
      `This plan was applied before, by the run ${before.runId} at ${before.at}. A saved plan can be applied only once, because a repeated create makes a second object. Make a new plan.`,
      { exit: 5 },
    );
  };
  return {
    file,
    all,
    wasApplied,
    async markApplied(planId, runId) {
      try {
        await ensureStateFolder(folder);
        // Checked under the lock of the log, so that one of two processes with the same plan is refused.
        await appendLog(file, { planId, runId, at: new Date().toISOString() }, () => refuseTwice(planId));
      } catch (error) {
        if (error instanceof DimsyncError) throw error;
        throw unusable(file, reasonOf(error), error);
      }
    },
  };
}

const unusable = (file: string, why: string, cause?: unknown): DimsyncError =>
  new DimsyncError(
    "E_APPLIED_FILE",
    `The record of applied plans ${file} cannot be used: ${why}. Without it, a plan could be applied twice, so nothing was sent. Fix the file or its folder, or delete the file and make a new plan.`,
    { exit: 5, cause },
  );
