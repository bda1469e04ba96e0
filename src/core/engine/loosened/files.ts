import type { Account } from "../../kinds/kind.ts";
import type { Loosened } from "../../model/plan.ts";
import type { Reads } from "../../model/service.ts";
import { observeAccount } from "../observe.ts";
import type { Review } from "./entry.ts";
import { checkLoosened } from "./index.ts";

/** What manifests give up as far as files show it, for a job without a key. */
export async function loosenedInFiles(review: Review): Promise<readonly Loosened[]> {
  const { base, head } = review;
  const accountOf = async (project: Pick<Review["base"], "manifests" | "elsewhere" | "columnLabels">): Promise<Account> =>
    (await observeAccount({ project: { ...project, settings: head.settings }, compared: [], records: noRecords, reads: noReads })).account;
  const [account, before] = [await accountOf(head), await accountOf(base)];
  const { locate } = base;
  const view = { account: before, unitByObject: new Map(), locate, ignored: before.ignored, isComplete: true, isNow: false };
  return checkLoosened(review, { account }, view).entries([]);
}

const noRecords = { bindings: new Map(), open: [], created: new Map() };

const unread = (): Promise<never> => Promise.reject(new Error("Nothing is read."));
const noReads: Reads = { list: unread, one: unread, schemas: unread, columns: unread, auditLogs: unread };
