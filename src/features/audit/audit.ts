import { type AuditWindow, readAudit, unreadText } from "../../core/drift/audit.ts";
import type { AuditEntry } from "../../core/model/live.ts";
import { type AccountProject, withReadOnly } from "../../core/operations/account.ts";
import type { RunEnvironment } from "../../core/operations/session.ts";

/** Entries of the audit log, newest first. */
export interface AuditEntries {
  /** In the window, of the actor. */
  readonly totalItems: number;
  readonly items: readonly AuditEntry[];
  /** Why `items` does not have all entries, as a sentence. */
  readonly missing?: string;
}

/** Reads the audit log of an account; `actor`: only entries of this e-mail address. Only sends GET. Throws ServiceError. */
export async function auditEntries(
  project: AccountProject,
  { window, actor }: { readonly window: AuditWindow; readonly actor: string | undefined },
  run: Pick<RunEnvironment, "env" | "signal">,
): Promise<AuditEntries> {
  const log = await withReadOnly(project, run, (client) => readAudit(client, window, { signal: run.signal }));
  const isPartial = `The audit log has ${log.totalItems} entries in this window, but only the newest ${log.items.length} were read. Use a later --since.`;
  const missing = [...(log.complete ? [] : [isPartial]), ...unreadText(log)].join(" ");
  const wanted = actor?.toLowerCase();
  const items = wanted === undefined ? log.items : log.items.filter((entry) => entry.actor.email?.toLowerCase() === wanted);
  return {
    // The interface can't select by actor, so what was selected here is also counted here.
    totalItems: actor === undefined ? log.totalItems : items.length,
    items,
    ...(missing === "" ? {} : { missing }),
  };
}
