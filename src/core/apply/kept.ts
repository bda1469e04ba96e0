import { type KeptIntegration, type KeptJson, keptById, keptJson, withoutPlanned } from "../base/model/kept.ts";
import { eachNode, nodePointer } from "../base/model/nodes.ts";
import type { Step } from "../base/model/plan.ts";
import { isGood } from "./step.ts";

interface KeptRun {
  /** What the plans of the rounds found kept, or send. */
  readonly found: readonly KeptJson[];
  readonly items: readonly Pick<Step, "outcome" | "liveId" | "changes">[];
}

/** What is kept after a run: what its plans found, what it has protected, and what is known of other integrations. */
export function keptAfter(known: KeptJson, { found, items }: KeptRun): KeptJson {
  const byId = new Map(keptById(known));
  const sent = new Map<string, Set<string>>();
  for (const { outcome, liveId, changes } of items)
    if (outcome !== undefined && isGood(outcome) && liveId !== undefined) sent.set(liveId, protectedIn(changes, sent.get(liveId)));
  const done = (id: string, one: KeptIntegration): KeptIntegration => {
    const ofId = sent.get(id);
    const schemas = withoutPlanned(one.schemas, (path, as) => ofId?.has(nodePointer(path, as)) === true);
    return schemas === one.schemas ? one : { ...one, schemas };
  };
  for (const kept of found) for (const [id, one] of keptById(kept)) byId.set(id, done(id, one));
  return keptJson(new Map([...byId].filter(([, { schemas }]) => schemas.size > 0)));
}

/** The nodes of the changes that protect. */
function protectedIn(changes: Step["changes"], known: Set<string> = new Set()): Set<string> {
  for (const entry of changes) {
    if ("path" in entry || entry.risk !== "protects") continue;
    const as = entry.field === "hashed" ? "hashed" : "disabled";
    for (const path of eachNode(entry.nodes)) known.add(nodePointer(path, as));
  }
  return known;
}
