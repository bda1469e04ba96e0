import { randomBytes } from "node:crypto";
import { GitError } from "../../git/process.ts";
import { DimsyncError } from "../../model/errors.ts";
import { emptyState } from "../facts.ts";
import { recordsRefused, recordsUnclear, recordsUnreadable } from "../store-errors.ts";
import { writeCommit } from "./commit.ts";
import { supportedFormat } from "./content.ts";
import { land } from "./land.ts";
import { commitMessage } from "./message.ts";
import { type GitStoreOptions, openStore } from "./store.ts";

/**
 * Makes new, empty records at the ref, and returns their id. Throws E_RECORDS_EXIST (exit 1) if the ref
 * exists, E_RECORDS_READ, E_RECORDS_REFUSED and E_RECORDS_UNCLEAR.
 */
export async function initGitRecords(options: Omit<GitStoreOptions, "id">): Promise<string> {
  const id = randomBytes(16).toString("hex");
  const store = openStore({ ...options, id });
  const repository = await store.repository(true);
  const files = new Map([
    ["format", `${supportedFormat}\n`],
    ["id", `${id}\n`],
    ["epoch", "0\n"],
  ]);
  const subject = `Create the records of the target ${store.target}`;
  const message = commitMessage({ subject, facts: [], before: emptyState, runId: "init", runUrl: undefined, epoch: 0 });
  try {
    if ((await repository.tip()) !== undefined) throw exists(store.place);
    const { id: commit } = await writeCommit(repository.place, { files, before: undefined, parent: undefined, message, key: store.key });
    const landing = await land(repository, { commit, parent: undefined }, store.patienceMs);
    if (landing.outcome === "lost") throw exists(store.place);
    if (landing.outcome === "refused") throw recordsRefused(store, landing.words);
    if (landing.outcome === "unclear") throw recordsUnclear(store, landing.words);
  } catch (error) {
    throw error instanceof GitError ? recordsUnreadable(store, error.message, error) : error;
  }
  return id;
}

const exists = (place: string): DimsyncError =>
  new DimsyncError(
    "E_RECORDS_EXIST",
    `There are records at ${place} already. Name them in dimsync.yaml with their id, which \`git log\` and \`dimsync records show\` print, or choose another ref.`,
  );
