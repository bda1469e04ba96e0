import { join } from "node:path";
import type { Project } from "../../manifests/project.ts";
import type { Plan } from "../../model/plan.ts";
import { cacheFolder } from "../../records/files/cache-folder.ts";
import type { ReadLog } from "../../service/read-log.ts";
import { openAccount } from "../account.ts";
import { moduleFiles } from "../policy-modules.ts";
import { type Inputs, type Invocation, readInputs } from "./inputs.ts";
import { firstMemo, type Memo, readMemo, writeMemo } from "./memo-file.ts";
import { createResponses, type Read, type Responses } from "./responses.ts";

// A plan that reports nothing is often made again, with the same manifests and the same account. If all
// its inputs and all responses are byte for byte the same, its output is the same too, and nothing has to
// be parsed and compared.

/** The plan of a command line, and what is kept of the last such plan that reported nothing. */
export interface PlanMemo {
  /** For the session that makes the plan. */
  readonly readLog: ReadLog;
  /** The output of the last plan, if nothing has changed since. Sends the same requests. */
  readonly repeated: () => Promise<string | undefined>;
  /** Keeps the output of a plan, if it reports nothing. */
  readonly keep: (made: MadePlan) => void;
}

export interface MadePlan {
  readonly project: Project;
  readonly plan: Plan;
  readonly output: string;
}

/** Undefined if there is no private folder for it. */
export function openPlanMemo(invocation: Invocation): PlanMemo | undefined {
  const { cwd, env } = invocation.options;
  const folder = cacheFolder("plans", env);
  if (folder === undefined) return undefined;
  const name = `${nameOf(`${cwd}\n${invocation.text}`)}.json`;
  const last = readMemo(join(folder, name));
  let inputs: Inputs | undefined;
  const responses = createResponses(() => inputs !== undefined);
  return {
    readLog: responses.ofPlan,
    async repeated() {
      if (last === undefined || last.isUnfit === true) return undefined;
      inputs = await readInputs(invocation).catch(() => undefined);
      if (inputs === undefined) return undefined;
      const isSame = inputs.digest === last.inputs && (await isSameAccount(inputs, last.reads, responses, invocation));
      return isSame && inputs.areCurrent() ? last.output : undefined;
    },
    keep(made) {
      if (!reportsNothing(made.plan)) return;
      // Single plans do not pay for digests: the second one of its kind is the first that is kept.
      const memo = inputs === undefined ? undefined : memoOf(made, inputs, responses);
      if (memo !== undefined || last === undefined) writeMemo(folder, name, memo ?? firstMemo);
    },
  };
}

function memoOf({ project, plan, output }: MadePlan, inputs: Inputs, responses: Responses): Memo | undefined {
  if (responses.areTooLarge() || !dependsOnlyOn(inputs, project)) return { ...firstMemo, isUnfit: true };
  const reads = responses.reads(plan.calls.read);
  return reads !== undefined && inputs.areCurrent() ? { inputs: inputs.digest, reads, output } : undefined;
}

/** Requests what the last plan read, and compares the responses. Stops at the first difference. */
async function isSameAccount(
  { settings }: Inputs,
  reads: readonly Read[],
  responses: Responses,
  { options }: Invocation,
): Promise<boolean> {
  const { env, signal } = options;
  try {
    const { client, close } = await openAccount({ settings }, { readOnly: true, env, signal, readLog: responses.ahead });
    try {
      const [first, ...others] = reads;
      let isSame = true;
      const compare = async ([path, digest]: Read): Promise<void> => {
        await client.readAhead(path);
        isSame &&= responses.digestOf(path) === digest;
      };
      if (first !== undefined) await compare(first);
      const queue = others.values();
      const work = async (): Promise<void> => {
        for (const read of queue) if (isSame) await compare(read);
      };
      await Promise.all(Array.from({ length: settings.client.columnConcurrency }, work));
      // The output says how many requests were sent.
      return isSame && client.calls()["GET"] === reads.length;
    } finally {
      await close();
    }
  } catch {
    // The plan reports it.
    return false;
  }
}

const reportsNothing = (plan: Plan): boolean =>
  plan.exit.code === 0 &&
  plan.complete &&
  [plan.items, plan.manual, plan.blocked, plan.deferred, plan.held ?? [], plan.policy, plan.guards, plan.diagnostics].every(
    ({ length }) => length === 0,
  );

/** Policy modules can depend on anything. */
const dependsOnlyOn = ({ files }: Inputs, { sourceFiles, resources, settings, catalog }: Project): boolean =>
  catalog === undefined &&
  moduleFiles(resources, settings.folder).length === 0 &&
  sourceFiles.files.length === files.length &&
  sourceFiles.files.every((file, index) => file === files[index]);

/** A name of eight digits: FNV-1a. If two command lines have the same name, one replaces the memo of the other. */
function nameOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
