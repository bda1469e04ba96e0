import { randomBytes } from "node:crypto";
import { realpath } from "node:fs/promises";
import { relative, sep } from "node:path";
import { GitError } from "../../base/git/process.ts";
import { repositoryTop } from "../../base/git/top.ts";
import { DimsyncError } from "../../base/model/errors.ts";
import { emptyContent } from "../facts.ts";
import { ContentError } from "../readers.ts";
import { recordsRefused, recordsUnclear, recordsUnreadable } from "../store-errors.ts";
import { parseRecords, printRecords } from "../text.ts";
import { commitMessage, writeCommit } from "./commit.ts";
import { land } from "./land.ts";
import type { RecordsRepository } from "./repository.ts";
import { type GitStoreOptions, loadTip, openStore } from "./store.ts";
import { readCommit } from "./tree.ts";

/**
 * Makes new, empty records at the ref, and returns their id. Records that were made before for the same
 * target of the same folder, and never used, are taken as they are. Throws E_RECORDS_EXIST (exit 1) if the ref has other content,
 * E_RECORDS_READ, E_RECORDS_REFUSED and E_RECORDS_UNCLEAR.
 */
export async function initGitRecords(options: Omit<GitStoreOptions, "id">): Promise<string> {
  const id = randomBytes(16).toString("hex");
  const store = openStore({ ...options, id });
  const repository = await store.repository(true);
  try {
    const subject = await subjectFor(options);
    const text = printRecords({ target: options.target, id }, emptyContent);
    const message = commitMessage({ subject, changes: [], runId: "init", runUrl: undefined, content: emptyContent });
    if ((await repository.tip()) !== undefined) return await unusedRecords(options, repository, subject);
    const commit = await writeCommit(repository.place, { text, parent: undefined, message, key: store.key });
    const landing = await land(repository, { commit, parent: undefined }, store);
    if (landing.outcome === "lost") return await unusedRecords(options, repository, subject);
    if (landing.outcome === "refused") throw recordsRefused(store, landing.words);
    if (landing.outcome === "unclear") throw recordsUnclear(store, landing.words);
  } catch (error) {
    throw error instanceof GitError ? recordsUnreadable(store, error.message, error) : error;
  }
  return id;
}

/** Names the target and the project's folder in the repository: two projects may have a target of the same name. */
async function subjectFor({ folder, target }: Pick<GitStoreOptions, "folder" | "target">): Promise<string> {
  const real = await realpath(folder);
  const inRepository = relative(repositoryTop(real) ?? real, real)
    .split(sep)
    .join("/");
  return `Create the records of the target ${target}${inRepository === "" ? "" : ` in ${inRepository}/`}`;
}

/** The id of records that were made with this subject and in which no run has written yet. Throws E_RECORDS_EXIST if there are others. */
async function unusedRecords(options: Omit<GitStoreOptions, "id">, repository: RecordsRepository, subject: string): Promise<string> {
  const found =
    (await repository.fetch()) === "missing"
      ? undefined
      : await readCommit(repository.place, repository.fetched).catch((error: unknown) => {
          throw error instanceof ContentError ? exists(options, "") : error;
        });
  const id = idIn(found?.text ?? "");
  const isUnused = found?.text === printRecords({ target: options.target, id }, emptyContent);
  if (id === "" || !isUnused || found?.subject !== subject) throw exists(options, id);
  await loadTip(openStore({ ...options, id }), true);
  return id;
}

/** "" if dimsync did not write the text. */
function idIn(text: string): string {
  try {
    return parseRecords(text).head.id;
  } catch (error) {
    if (!(error instanceof ContentError)) throw error;
    return "";
  }
}

function exists({ ref, remote, target }: Omit<GitStoreOptions, "id">, id: string): DimsyncError {
  const named = id === "" ? "which dimsync did not write" : `with the id ${id.slice(0, 40)}`;
  return new DimsyncError(
    "E_RECORDS_EXIST",
    `${ref} of ${remote} already has content, ${named}. If these are the records of this account, add \`records: { git: { ref: ${ref}, id: ${id === "" ? "ID" : id.slice(0, 40)} } }\` to the target ${target} in dimsync.yaml. Otherwise, choose another ref:`,
    { command: `dimsync records init --to git:${ref}-2` },
  );
}
