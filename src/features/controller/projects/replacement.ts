import { DimsyncError } from "../../../core/model/errors.ts";
import type { Database } from "../../../core/records/postgres/connection.ts";
import { iso } from "../../../core/records/postgres/connection.ts";
import { counted } from "../../../core/text/counts.ts";
import { andMore } from "../../../core/text/lists.ts";
import { rowsOf } from "../database/rows.ts";
import { shortDigest } from "./bundle.ts";
import type { Wanted } from "./register.ts";

// What a source wants is one bundle at a time. A push replaces it only if nobody else has in the meantime, if its commit follows the
// one that it replaces, and if no account is lost by accident.

/** What a source wants now. */
interface WantedBundle {
  readonly digest: string;
  readonly git_commit: string | null;
  readonly by: string | null;
  readonly at: string | null;
  /** Its accounts under control, sorted. */
  readonly targets: readonly string[];
}

/** Undefined before the first push of the source. */
async function readWanted(database: Database, source: string): Promise<WantedBundle | undefined> {
  const [wanted] = await rowsOf<WantedBundle>(
    database,
    `select s.digest, s.git_commit, p.by, ${iso("p.at")} as at,
      (select coalesce(json_agg(a.target order by a.target), '[]') from dimsync_controller.account a
        where a.source = s.name and a.removed_at is null) as targets
      from dimsync_controller.source s
      left join lateral (select by, at from dimsync_controller.push p where p.source = s.name order by p.id desc limit 1) p on true
      where s.name = $1`,
    [source],
  );
  return wanted;
}

export interface ReplacementOptions {
  /** Whether the history of the new commit contains this one; undefined if the clone does not have it. */
  readonly contains?: ((commit: string) => Promise<boolean | undefined>) | undefined;
  /** Why a bundle that does not follow the current one replaces it. */
  readonly force?: string | undefined;
  readonly allowRemoval?: boolean | undefined;
}

/** The digest that the bundle would replace; null for none. Throws E_PUSH_REFUSED if it must not replace it. */
export async function replacedBy(
  database: Database,
  next: Wanted & { readonly digest: string },
  options: ReplacementOptions,
): Promise<string | null> {
  const current = await readWanted(database, next.source);
  if (current === undefined) return null;
  if (current.digest !== next.digest) await checkReplacement(current, next, options);
  return current.digest;
}

async function checkReplacement(
  current: WantedBundle,
  next: Wanted,
  { contains, force, allowRemoval = false }: ReplacementOptions,
): Promise<void> {
  const targets = next.accounts.map(({ target }) => target);
  const removed = current.targets.filter((target) => !targets.includes(target));
  if (removed.length > 0 && !allowRemoval)
    throw refused(
      `${next.source} would lose ${counted(removed.length, "account")}: ${andMore(removed, "account")}. Nothing would check ${removed.length === 1 ? "it" : "them"} any more. If that is intended, add --allow-removal; the history is kept.`,
    );
  if (force !== undefined) return;
  const why = await whyNoSuccessor(current, next.commit, contains);
  if (why !== undefined)
    throw refused(
      `${describe(current)} is wanted now. ${why} It could undo reviewed changes of all accounts. If you want it anyway, add --force --reason TEXT.`,
    );
}

async function whyNoSuccessor(
  { git_commit: current }: WantedBundle,
  commit: string | undefined,
  contains: ReplacementOptions["contains"],
): Promise<string | undefined> {
  if (commit === undefined) return "The pushed project is not in a git repository, so dimsync cannot determine whether it is newer.";
  if (current === null || current === commit) return undefined;
  const isContained = await contains?.(current);
  if (isContained === true) return undefined;
  if (isContained === false) return `Commit ${commit.slice(0, 12)} does not follow it: it is older, or from another branch.`;
  return "This clone does not have that commit, so dimsync cannot determine whether the pushed one is newer. Fetch the history first (actions/checkout: fetch-depth: 0).";
}

const describe = ({ git_commit: commit, digest, by, at }: WantedBundle): string =>
  `${commit === null ? `Bundle ${shortDigest(digest)}` : `Commit ${commit.slice(0, 12)}`}${at === null ? "" : ` (pushed by ${by ?? "someone"} at ${at})`}`;

const refused = (message: string): DimsyncError => new DimsyncError("E_PUSH_REFUSED", message, { exit: 3 });

/** Someone else has pushed since the current bundle was read. */
export const replacedMeanwhile = (source: string): DimsyncError =>
  refused(`Another push of ${source} came first. Nothing was changed. Run the command again.`);

interface PushedBundle {
  readonly digest: string;
  readonly source: string;
  readonly kind: "push" | "rollback";
  readonly at: string;
  readonly by: string;
  readonly runUrl: string | null;
  readonly commit: string | null;
  readonly dirty: boolean;
  readonly reason: string | null;
  readonly accounts: readonly string[];
  /** Whether it is what the source wants now. */
  readonly isCurrent: boolean;
}

/** Every push and rollback, newest first. */
export const listPushes = (database: Database, limit: number): Promise<readonly PushedBundle[]> =>
  rowsOf<PushedBundle>(
    database,
    `select p.digest, p.source, p.kind, ${iso("p.at")} as at, p.by, p.run_url as "runUrl", p.git_commit as commit, coalesce(b.dirty, false) as dirty, p.reason,
      (select coalesce(json_agg(e ->> 'target' order by e ->> 'target'), '[]') from jsonb_array_elements(p.accounts) e) as accounts,
      p.id = (select max(id) from dimsync_controller.push q where q.source = p.source) as "isCurrent"
      from dimsync_controller.push p left join dimsync_controller.bundle b using (digest) order by p.id desc limit $1`,
    [limit],
  );
