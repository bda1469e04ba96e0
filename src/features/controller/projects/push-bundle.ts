import type { Project } from "../../../core/manifests/project.ts";
import { DimsyncError } from "../../../core/model/errors.ts";
import type { Database } from "../../../core/records/postgres/connection.ts";
import { rowsOf } from "../database/rows.ts";
import { type BundleContent, bundleDigest, pack } from "./bundle.ts";
import {
  accountEntries,
  type PushRecord,
  type RegisteredAccount,
  registerAccounts,
  type SourceNotifications,
  sourceNotifications,
  type Wanted,
} from "./register.ts";
import { type ReplacementOptions, replacedBy, replacedMeanwhile } from "./replacement.ts";

interface PushOptions extends ReplacementOptions, Pick<PushRecord, "by" | "runUrl"> {
  readonly projects: readonly Project[];
}

export interface Pushed {
  readonly digest: string;
  readonly accounts: readonly RegisteredAccount[];
}

/**
 * Stores the bundle and makes it the desired state of its targets. Throws E_BUNDLE if a target's records are not in this database, and
 * E_PUSH_REFUSED if it must not replace the current one.
 */
export async function pushBundle(
  database: Database,
  content: BundleContent,
  { projects, by, runUrl, ...options }: PushOptions,
): Promise<Pushed> {
  for (const project of projects) await checkRecords(database, content.source, project);
  const digest = bundleDigest(content);
  const accounts = accountEntries(projects);
  const { source, commit } = content;
  const notifications = sourceNotifications(projects[0]?.settings, content.folder !== undefined);
  const wanted = { source, accounts, digest, commit, notifications };
  const replaces = await replacedBy(database, wanted, options);
  const packed = pack(content);
  await database.query(
    `insert into dimsync_controller.bundle (digest, source, git_commit, tool_version, content, bytes, pushed_by, dirty)
      values ($1, $2, $3, $4, decode($5, 'base64'), $6, $7, $8) on conflict (digest) do nothing`,
    [
      digest,
      content.source,
      content.commit ?? null,
      content.toolVersion,
      packed.toString("base64"),
      packed.length,
      by,
      content.dirty === true,
    ],
  );
  return { digest, accounts: await register(database, wanted, { kind: "push", by, replaces, runUrl, reason: options.force }) };
}

async function register(database: Database, wanted: Wanted, push: PushRecord): Promise<readonly RegisteredAccount[]> {
  const registered = await registerAccounts(database, wanted, push);
  if (registered.length === 0) throw replacedMeanwhile(wanted.source);
  return registered;
}

interface RollbackOptions extends Pick<ReplacementOptions, "allowRemoval">, Pick<PushRecord, "by" | "runUrl"> {
  readonly reason: string;
}

interface OldPush {
  readonly digest: string;
  readonly source: string;
  readonly git_commit: string | null;
  readonly accounts: Wanted["accounts"];
  readonly notify: SourceNotifications | null;
  /** False if the content was deleted, because it is old. */
  readonly is_stored: boolean;
}

/** Makes a bundle that was pushed before the wanted one again. `prefix`: of its digest. Throws E_BUNDLE and E_PUSH_REFUSED. */
export async function rollBack(database: Database, prefix: string, { by, reason, runUrl, allowRemoval }: RollbackOptions): Promise<Pushed> {
  const found = await rowsOf<OldPush>(
    database,
    `select distinct on (p.digest) p.digest, p.source, p.git_commit, p.accounts, p.notify, b.digest is not null as is_stored
      from dimsync_controller.push p left join dimsync_controller.bundle b using (digest)
      where starts_with(p.digest, $1) or starts_with(p.digest, 'sha256:' || $1) order by p.digest, p.id desc limit 2`,
    [prefix],
  );
  const [old] = found;
  if (old === undefined || found.length > 1 || !old.is_stored)
    throw new DimsyncError(
      "E_BUNDLE",
      `${old === undefined ? "No bundle has" : found.length > 1 ? "Several bundles have" : "The controller has deleted the content of the bundle with"} the digest ${JSON.stringify(prefix)}. List the bundles:`,
      { command: "dimsync controller bundles" },
    );
  const { digest, source, git_commit, accounts, notify } = old;
  const wanted = { source, accounts, digest, commit: git_commit ?? undefined, notifications: notify ?? undefined };
  const replaces = await replacedBy(database, wanted, { force: reason, allowRemoval });
  return { digest, accounts: await register(database, wanted, { kind: "rollback", by, replaces, runUrl, reason }) };
}

/** The store with the config's id must be in the controller's own database: losing it then stops writes at once. */
async function checkRecords(database: Database, source: string, { settings: { records, target } }: Project): Promise<void> {
  if (records.store !== "postgres") return;
  const refused = (why: string): DimsyncError =>
    new DimsyncError("E_BUNDLE", `${why} Targets under control use the database of the controller. Move the records of ${target}:`, {
      command: `dimsync records migrate -t ${target} --to postgres`,
    });
  const [found] = await rowsOf<{ readonly exists: boolean }>(
    database,
    "select to_regclass(quote_ident($1) || '.store') is not null as exists",
    [records.schema],
  );
  if (found?.exists !== true) throw refused(`The controller's database has no schema ${records.schema} with records.`);
  const schema = `"${records.schema.replaceAll('"', '""')}"`;
  const [store] = await rowsOf<{ readonly id: string }>(database, `select id from ${schema}.store`);
  if (store?.id !== records.id)
    throw refused(
      `The records of target ${target} have the id ${records.id}, and those in the controller's database ${store?.id ?? "none"}.`,
    );
  const [other] = await rowsOf<{ readonly source: string }>(
    database,
    "select source from dimsync_controller.account where target = $1 and source <> $2 and removed_at is null and digest is not null limit 1",
    [target, source],
  );
  if (other !== undefined)
    throw new DimsyncError(
      "E_BUNDLE",
      `The source ${other.source} has a target ${target} too, and both would share its records, because records are kept by the name of the target. Rename one of the targets, or push with --source ${other.source} if it is the same project.`,
    );
}
