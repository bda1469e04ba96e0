import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { cachedReads, type RunReads } from "../engine/reads/cached-reads.ts";
import { readAccount, readWhole } from "../engine/reads/read-account.ts";
import { kinds, lists } from "../kinds/index.ts";
import type { AccountView } from "../kinds/kind.ts";
import { accountLists } from "../kinds/lookup.ts";
import { withIdentities } from "../kinds/select.ts";
import type { Project } from "../manifests/project.ts";
import { type Address, byText, kindOf } from "../model/address.ts";
import { DimsyncError } from "../model/errors.ts";
import type { OnProgress } from "../model/runtime/progress.ts";
import type { Reads } from "../model/service.ts";
import type { Records, RecordsRun, RecordsState } from "../records/records.ts";
import { type Adoption, adopt } from "./adopt.ts";
import type { ImportFailure } from "./failure.ts";
import { type OtherTarget, ownFolderAdvice, sharingWith } from "./other-targets.ts";
import { importSchemas, unitsById } from "./schemas/import-schemas.ts";
import { createWriter, type Folder, type Writer, type WriterOptions } from "./writer.ts";

export interface ImportOptions extends WriterOptions {
  /** Writes schemas as a literal tree instead of rules. */
  readonly literal: boolean;
  readonly isSelected: (address: Address) => boolean;
  /** Called after `isSelected` has seen every address; if it throws, nothing is written. */
  readonly beforeWriting: () => void;
}

export interface ImportSession {
  readonly records: Records;
  /** The project's other targets: import writes nothing that changes what they plan. */
  readonly otherTargets: readonly OtherTarget[];
  /** Runs `work` with reads of the account. */
  readonly withReads: <T>(work: (reads: Reads) => Promise<T>) => Promise<T>;
  /** YYYY-MM-DD: `ignore` entries expire. */
  readonly today: string;
  readonly signal: AbortSignal;
  readonly onProgress?: OnProgress | undefined;
}

export interface Imported {
  /** Addresses of the manifests of everything that was selected. */
  readonly addresses: readonly Address[];
  readonly bound: ReadonlyMap<Address, string>;
  readonly notices: readonly string[];
  readonly failures: readonly ImportFailure[];
}

/**
 * Reads the account, and writes manifests and bindings for objects without. What a manifest covers stays
 * as it is. Sends GET only. If the schemas of an integration cannot be read, that is a failure
 * in the result and the others continue. Throws E_LOCKED (exit 6) while an apply runs, E_OUTPUT if
 * a file cannot be written, and ServiceError if a list cannot be read.
 */
export async function importAccount(project: Project, options: ImportOptions, session: ImportSession): Promise<Imported> {
  // Apply must not create objects and bind them meanwhile.
  const writes = options.dryRun ? undefined : await session.records.begin({ runId: randomUUID(), waitMs: 0, signal: session.signal });
  try {
    const state = writes === undefined ? await session.records.read() : writes.state();
    return await session.withReads((reads) => importFrom(cachedReads(reads), project, { options, session, state, bind: writes?.bind }));
  } catch (error) {
    throw isSystemError(error) ? notWritten(error) : error;
  } finally {
    await writes?.release();
  }
}

/** A file or folder that cannot be read or written. */
const isSystemError = (error: unknown): error is Error => error instanceof Error && !(error instanceof DimsyncError) && "syscall" in error;

const notWritten = (error: Error): DimsyncError =>
  new DimsyncError("E_OUTPUT", `Import stopped: ${error.message}. Files already written were kept. Fix the problem and run import again.`, {
    cause: error,
  });

export interface ImportRun {
  readonly options: ImportOptions;
  readonly session: ImportSession;
  readonly state: RecordsState;
  /** Absent in a dry run. */
  readonly bind: RecordsRun["bind"] | undefined;
}

async function importFrom(reads: RunReads, project: Project, run: ImportRun): Promise<Imported> {
  const { options, session, state, bind } = run;
  const { account: read, suspicions } = await readAccount(project, state, { reads, today: session.today });
  const whole = lists.map(async (list) => [list.name, await readWhole(reads, list, read.list(list).items)] as const);
  const account = { ...read, list: accountLists(new Map(await Promise.all(whole))) };
  const known = sharingWith(session.otherTargets);
  const sharing = options.folders.isSharedChosen ? { ...known, inUse: [] } : known;
  const hasOwnFolder = options.folders.own !== undefined;
  const folder: Folder = sharing.inUse.length > 0 ? "own" : "shared";
  const configs = new Map([...unitsById(account)].map(([id, { resource }]) => [id, resource.address]));
  const canCreate = folder === "shared" || hasOwnFolder;
  const { isSelected } = options;
  const adoption = adopt({ account, sharing, canCreate, isSelected, configOf: (id) => configs.get(id) });
  options.beforeWriting();

  const writer = createWriter(project, options);
  await writeObjects(writer, adoption, { folder, options });
  const schemas = await importSchemas(adoption, {
    reads,
    writer,
    sharing,
    folder,
    hasOwnFolder,
    account: withBindings(account, adoption),
    literal: options.literal,
    signal: session.signal,
    onProgress: session.onProgress,
  });
  if (bind !== undefined) await Promise.all([...adoption.bindings].map(([address, binding]) => bind(address, binding)));
  const advice = adoption.isLimited || schemas.isLimited ? [ownFolderAdvice(project.settings.target)] : [];
  return {
    addresses: [...new Set([...adoption.addresses, ...schemas.addresses])].sort(byText),
    bound: new Map([...adoption.bindings].map(([address, { id }]) => [address, id])),
    notices: [...suspicions, ...adoption.notices, ...schemas.notices, ...advice],
    failures: [...adoption.failures, ...schemas.failures],
  };
}

/** The account in which the adopted manifests are identified with their objects. */
function withBindings(account: AccountView, { bindings }: Adoption): AccountView {
  const found = [...bindings].map(([address, { id }]) => [address, { state: "found", id, by: "binding" }] as const);
  return withIdentities(account, new Map([...account.identities, ...found]));
}

interface Objects {
  readonly folder: Folder;
  readonly options: ImportOptions;
}

/** New manifests that have no place in the file of an integration. */
async function writeObjects(writer: Writer, { documents }: Adoption, { folder, options }: Objects): Promise<void> {
  for (const { name } of kinds) {
    const ofKind = documents.filter(({ address, integration }) => integration === undefined && kindOf(address) === name);
    writer.add(folder, `${name.toLowerCase()}s.yaml`, ofKind);
  }
  // Even if nothing is written: the config names the folders, and the project does not load without them.
  const { shared, own = shared } = options.folders;
  if (!options.dryRun) for (const path of [shared, own]) await mkdir(path, { recursive: true });
  await writer.flush();
}
