import type { Environment } from "../../core/model/settings/env.ts";
import type { StoreProbe } from "../../core/operations/stores-records.ts";
import type { GitProbe } from "../../core/records/git/probe.ts";
import type { PostgresProbe } from "../../core/records/postgres/probe.ts";
import { andMore } from "../../core/text/lists.ts";
import { type Check, fail, ok, warn } from "./check.ts";

/** Of the records at `version`. */
export function storeChecks(probe: StoreProbe, env: Environment, version: string): readonly Check[] {
  if (probe.store === "git") return gitChecks(probe.found, version);
  return probe.store === "postgres" ? postgresChecks(probe.found, version) : folderChecks(env);
}

function folderChecks({ GITHUB_ACTIONS: github, GITLAB_CI: gitlab }: Environment): readonly Check[] {
  const found = "Files on this machine. Other machines do not see them.";
  if (github !== "true" && gitlab !== "true") return [ok("records", found)];
  return [warn("records", `${found} A job that is killed can lead to a second create.`, "Move them: dimsync records migrate --to git")];
}

function gitChecks(probe: GitProbe, version: string): readonly Check[] {
  return [
    ok("records", `${probe.ref} was read at ${version.slice(0, 12)}, and has the id that dimsync.yaml names.`),
    sealCheck(probe),
    pushCheck(probe),
  ];
}

function sealCheck({ isSealed, hasKey }: GitProbe): Check {
  const check = "records seal";
  if (isSealed && hasKey) return ok(check, "The newest commit has a valid seal.");
  if (!isSealed) return ok(check, "The commits have no seal: everyone who may push can change them.");
  return warn(
    check,
    "The commits have a seal, and DIMSYNC_DIGEST_KEY is not set: it was not checked.",
    "plan and drift work. For apply, set DIMSYNC_DIGEST_KEY to the key of the other runs.",
  );
}

function pushCheck({ refused, ref }: GitProbe): Check {
  const check = "records write";
  if (refused === undefined)
    return ok(check, `A dry run of a push to ${ref} was accepted. It does not run hooks and rules of the server; only a write does.`);
  if (refused.isHidden)
    return warn(
      check,
      `The server hides ${ref} from those who push.`,
      `plan and drift work. For apply, use a branch: dimsync records migrate --to git:${ref.replace(/^refs\//u, "refs/heads/")}`,
    );
  return warn(
    check,
    `A dry run of a push to ${ref} was refused: ${refused.words}`,
    "plan and drift work. apply needs a token that may push: on GitHub, contents: write; on GitLab, a project token with write_repository.",
  );
}

function postgresChecks(probe: PostgresProbe, version: string): readonly Check[] {
  const { schema, serverVersion } = probe;
  const found = `The schema ${schema} in PostgreSQL ${serverVersion} was read at version ${version}, and has the id that dimsync.yaml names.`;
  return [ok("records", found), tlsCheck(probe), commitCheck(probe), writeCheck(probe), poolerCheck(probe)];
}

function tlsCheck({ tls }: PostgresProbe): Check {
  const check = "records TLS";
  if (tls === "verified") return ok(check, "The connection uses TLS, and the certificate is verified.");
  if (tls === "local") return ok(check, "No TLS: the database, or a proxy to it, is on this machine.");
  return warn(
    check,
    tls === "none"
      ? "sslmode turns TLS off: the network can read and change the records."
      : "sslmode=no-verify accepts any certificate: another server can pretend to be the database.",
    "Remove sslmode from the URL. For your own certificate authority, set NODE_EXTRA_CA_CERTS to its file.",
  );
}

function commitCheck({ synchronousCommit }: PostgresProbe): Check {
  const check = "records durability";
  if (synchronousCommit !== "off") return ok(check, `synchronous_commit is ${synchronousCommit}.`);
  return warn(
    check,
    "The server has synchronous_commit = off. dimsync turns it on for its own transactions.",
    "Turn it on in the server if other programs must not lose commits in a crash.",
  );
}

function writeCheck({ isReadOnly, missing, role, schema }: PostgresProbe): Check {
  const check = "records write";
  if (isReadOnly)
    return warn(
      check,
      "This server only accepts reads.",
      "plan and drift work. For apply, use the URL of the primary server, and a role that may write.",
    );
  if (missing.length === 0) return ok(check, `The role ${role} has the privileges that apply needs.`);
  return warn(
    check,
    `The role ${role} lacks ${andMore(missing, "privilege", { shown: 20 })}.`,
    `plan and drift work. For apply: grant select, insert, update, delete on all tables in schema ${schema} to ${role}`,
  );
}

function poolerCheck({ pooler }: PostgresProbe): Check {
  const check = "records pooler";
  if (pooler === "none") return ok(check, "The connection goes to the server directly.");
  if (pooler === "transaction") return ok(check, "There is a pooler that keeps transactions together.");
  return fail(
    check,
    "There is a pooler in statement mode, which refuses transactions.",
    "Use pool_mode = transaction or session in pgbouncer.",
  );
}
