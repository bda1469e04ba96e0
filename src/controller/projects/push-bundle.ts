import { gzipSync } from "node:zlib";
import type { Project } from "../../manifests/project.ts";
import { DimsyncError } from "../../model/errors.ts";
import type { Database } from "../../records/postgres/connection.ts";
import { type BundleContent, bundleDigest } from "../bundle-content.ts";
import { rowsOf } from "../database/rows.ts";
import { accountEntry, type RegisteredAccount, registerAccounts } from "./register.ts";

export interface PushedBundle {
  readonly digest: string;
  readonly accounts: readonly RegisteredAccount[];
}

/** Stores the bundle and makes it the desired state of its targets. Throws E_BUNDLE if a target's records are not in this database. */
export async function pushBundle(
  database: Database,
  content: BundleContent,
  { projects, by }: { readonly projects: readonly Project[]; readonly by: string },
): Promise<PushedBundle> {
  for (const project of projects) await checkRecords(database, content.source, project);
  const digest = bundleDigest(content);
  const zipped = gzipSync(JSON.stringify(content)).toString("base64");
  await database.query(
    `insert into dimsync_controller.bundle (digest, source, git_commit, tool_version, content, bytes, pushed_by, dirty)
      values ($1, $2, $3, $4, decode($5, 'base64'), $6, $7, $8) on conflict (digest) do nothing`,
    [
      digest,
      content.source,
      content.commit ?? null,
      content.toolVersion,
      zipped,
      Math.round((zipped.length * 3) / 4),
      by,
      content.dirty === true,
    ],
  );
  const accounts = projects.flatMap(({ settings }) => accountEntry(settings) ?? []);
  const { source, commit } = content;
  return { digest, accounts: await registerAccounts(database, { source, accounts, digest, commit }) };
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
