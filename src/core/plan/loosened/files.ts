import type { Finding } from "../../base/model/plan.ts";
import type { Reads } from "../../base/model/service.ts";
import type { Account } from "../../kinds/index.ts";
import { observeAccount } from "../observe-account.ts";
import type { Review } from "./entry.ts";
import { newLoosened } from "./index.ts";

/** What manifests give up as far as files show it, for a job without a key. */
export async function loosenedInFiles(review: Review): Promise<readonly Finding[]> {
  const { base, head } = review;
  const accountOf = (project: Pick<Review["base"], "manifests" | "elsewhere" | "columnLabels">): Promise<Account> =>
    observeAccount({ project: { ...project, settings: head.settings }, comparable: [], records: noRecords, reads: noReads });
  const reviewed = { account: await accountOf(base), pairs: new Map(), locate: base.locate, isComplete: true, isNow: false, problems: [] };
  return newLoosened(review, await accountOf(head), reviewed).entries([]);
}

const noRecords = { bindings: new Map(), open: [], created: new Map() };

const unread = (): Promise<never> => Promise.reject(new Error("Nothing is read."));
const noReads: Reads = { list: unread, one: unread, schemas: unread, columns: unread, auditLogs: unread };
