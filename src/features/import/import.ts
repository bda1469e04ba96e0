import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { cachedReads, type RunReads } from "../../core/engine/reads/cached-reads.ts";
import { readAccount, readWhole } from "../../core/engine/reads/read-account.ts";
import { scopeOf } from "../../core/engine/scope.ts";
import { kindNamed, kinds, lists } from "../../core/kinds/index.ts";
import type { AccountView, Identity } from "../../core/kinds/kind.ts";
import { accountLists } from "../../core/kinds/lookup.ts";
import { isSchemaConfig } from "../../core/kinds/manifests.ts";
import { nameMatcher, namesMatcher } from "../../core/kinds/patterns/names.ts";
import { withIdentities } from "../../core/kinds/select.ts";
import { type LoadOptions, listTargets, loadProject, type Project } from "../../core/manifests/project.ts";
import { type Address, byText, kindOf, toAddress } from "../../core/model/address.ts";
import { DimsyncError, refuseErrors } from "../../core/model/errors.ts";
import type { Plan } from "../../core/model/plan.ts";
import type { Resource } from "../../core/model/resource.ts";
import { systemClock } from "../../core/model/runtime/clock.ts";
import type { Code } from "../../core/model/titles.ts";
import { withRecords } from "../../core/operations/open-records.ts";
import { planAccount } from "../../core/operations/plan.ts";
import { withReads } from "../../core/operations/reads.ts";
import type { RunEnvironment } from "../../core/operations/session.ts";
import type { RecordsRun, RecordsState } from "../../core/records/records.ts";
import { counted } from "../../core/text/counts.ts";
import { andMore, grouped } from "../../core/text/lists.ts";
import { didYouMean } from "../../core/text/suggest.ts";
import { type Adoption, adopt } from "./adopt.ts";
import { type ImportFolders, importFolders, newFilesIn } from "./folder.ts";
import { loadedBy, type OtherTarget, sharingWith } from "./other-targets.ts";
import { type Imported, type ImportedFile, type ImportReport, importedFile, importReport } from "./report.ts";
import { importSchemas, unitsById } from "./schemas/import-schemas.ts";
import { createWriter, type Writer } from "./writer.ts";

export interface ImportProjectOptions {
  /** Globs on addresses: "Integration/orders", "Tag/*". Empty or absent: everything. */
  readonly addresses?: readonly string[];
  /** Absolute path of the folder for new files; by default the first folder of the config's `manifests`. */
  readonly out?: string | undefined;
  /** Reports what would be written, and writes nothing. */
  readonly dryRun?: boolean;
  /** Writes schemas as a literal tree instead of rules. */
  readonly literal?: boolean;
}

/** `load`: how the project was loaded. */
type Options = ImportProjectOptions & { readonly load: LoadOptions };

interface ProjectImport {
  readonly report: ImportReport;
  /** How many manifests were written or found. */
  readonly manifests: number;
}

/**
 * Writes manifests and bindings for live objects, or updates them, and plans the result. What a manifest covers stays as it is. If the
 * schemas of an integration cannot be read, that is a failure in the report and the others continue. Sends GET only; writes files. Throws
 * ProblemsError, E_LOCKED while an apply runs, E_OUTPUT if a file cannot be written, and ServiceError if a list cannot be read.
 */
export async function importProject(project: Project, options: Options, run: RunEnvironment): Promise<ProjectImport> {
  const { load, addresses = [], dryRun = false } = options;
  const folders = importFolders(project, options.out);
  refuseProblems(project, folders);
  const others = await otherTargets(project, load, run);
  const files: ImportedFile[] = [];
  const imported = await withAccount(project, { dryRun, run }, (account) =>
    importFrom(account, project, { folders, others, options, run, onFile: (file) => files.push(file) }),
  );
  const plan = dryRun
    ? undefined
    : await planAfter(project, { load, addresses: addresses.length === 0 ? undefined : imported.addresses }, run);
  const report = importReport({ target: project.settings.target, files, imported, plan });
  return { report, manifests: imported.addresses.length };
}

/** A missing folder for manifests is not an error here: import creates it. */
function refuseProblems(project: Project, { shared, own = shared }: ImportFolders): void {
  const isMissing = !existsSync(shared) || !existsSync(own);
  refuseErrors(
    project.problems.filter(({ code }) => !(code === "E_PATH_NOT_FOUND" && isMissing)),
    project.locate,
  );
}

/** The manifests and bindings of the project's other targets. */
async function otherTargets({ settings }: Project, load: LoadOptions, { env }: RunEnvironment): Promise<readonly OtherTarget[]> {
  const names = (await listTargets(load)).filter((name) => name !== settings.target);
  return await Promise.all(
    names.map(async (target): Promise<OtherTarget> => {
      const other = await loadProject({ ...load, target });
      const { bindings } = await withRecords(other.settings, env, (records) => records.read());
      return { name: target, resources: other.resources, bindings };
    }),
  );
}

interface OpenAccount {
  readonly reads: RunReads;
  readonly state: RecordsState;
  /** Absent in a dry run. */
  readonly bind: RecordsRun["bind"] | undefined;
}

/** Runs `work` with the account and the records of a target, under its lease: apply must not create objects and bind them meanwhile. */
function withAccount<T>(
  project: Project,
  { dryRun, run }: { readonly dryRun: boolean; readonly run: RunEnvironment },
  work: (account: OpenAccount) => Promise<T>,
): Promise<T> {
  return withRecords(project.settings, run.env, async (records) => {
    const writes = dryRun ? undefined : await records.begin({ runId: randomUUID(), waitMs: 0, signal: run.signal });
    try {
      const state = writes === undefined ? await records.read() : writes.state();
      return await withReads(project, run, (reads) => work({ reads: cachedReads(reads), state, bind: writes?.bind }));
    } catch (error) {
      throw isSystemError(error) ? notWritten(error) : error;
    } finally {
      await writes?.release();
    }
  });
}

/** A file or folder that cannot be read or written. */
const isSystemError = (error: unknown): error is Error => error instanceof Error && !(error instanceof DimsyncError) && "syscall" in error;

const notWritten = (error: Error): DimsyncError =>
  new DimsyncError("E_OUTPUT", `Import stopped: ${error.message}. Files already written were kept. Fix the problem and run import again.`, {
    cause: error,
  });

interface ImportInput {
  readonly folders: ImportFolders;
  readonly others: readonly OtherTarget[];
  readonly options: Options;
  readonly run: RunEnvironment;
  readonly onFile: (file: ImportedFile) => void;
}

async function importFrom({ reads, state, bind }: OpenAccount, project: Project, input: ImportInput): Promise<Imported> {
  const { folders, others, run, onFile } = input;
  const { load, addresses, dryRun = false, literal = false } = input.options;
  const selection = createSelection(addresses ?? []);
  const today = systemClock.now().toISOString().slice(0, 10);
  const { account: read, suspicions } = await readAccount(project, state, { reads, today });
  const hasDetails = project.settings.extended === true;
  const whole = lists.map(async (list) => [list.name, await readWhole(reads, { list, items: read.list(list).items, hasDetails })] as const);
  const account = { ...read, list: accountLists(new Map(await Promise.all(whole))) };
  const { target } = project.settings;
  const sharing = sharingWith(others);
  const newFiles = newFilesIn(folders, target, sharing.isInUse);
  const created = { targets: newFiles.targets, taken: new Set(project.elsewhere.map(({ address }) => address)) };
  const configs = new Map([...unitsById(account)].map(([id, { resource }]) => [id, resource.address]));
  const { isSelected } = selection;
  const mayBePinnedElsewhere = (resource: Resource): boolean => loadedBy(resource, others).length > 0;
  const adoption = adopt({ ...created, account, isSelected, mayBePinnedElsewhere, configOf: (id) => configs.get(id) });
  // Before anything is written.
  selection.refuseUnused();

  const { cwd } = load;
  const writer = createWriter(project, { cwd, newFiles, dryRun, onFile: (change) => onFile(importedFile(change, cwd)) });
  // Even if nothing is written: the config names the folders, and the project does not load without them.
  const { shared, own = shared } = folders;
  if (!dryRun) for (const path of [shared, own]) await mkdir(path, { recursive: true });
  const { signal, onProgress } = run;
  const bound = withBindings(account, adoption);
  const limited = limitedManifests({ account: bound, target, others, isSelected });
  const failures = [
    ...limited.flatMap(({ resource, targets }) => writer.setMetadata(resource, "targets", targets) ?? []),
    ...adoption.pins.flatMap(([resource, id]) => writer.setMetadata(resource, "id", pinsOf(resource, { [target]: id }, others)) ?? []),
  ];
  await writeObjects(writer, adoption);
  const schemas = await importSchemas(adoption, { ...created, reads, writer, sharing, account: bound, literal, signal, onProgress });
  if (bind !== undefined) await Promise.all([...adoption.bindings].map(([address, binding]) => bind(address, binding)));
  return {
    addresses: [...new Set([...adoption.addresses, ...schemas.addresses])].sort(byText),
    bound: new Map([...adoption.bindings].map(([address, { id }]) => [address, id])),
    notices: [...suspicions, ...adoption.notices, ...limitedNotices(limited, target), ...schemas.notices],
    failures: [...failures, ...schemas.failures],
  };
}

/** The pinned ids of a manifest in all targets that load it. */
const pinsOf = (
  resource: Resource,
  own: Readonly<Record<string, string>>,
  others: readonly OtherTarget[],
): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(
    loadedBy(resource, others).flatMap(({ name, resources }) => {
      const id = resources.find(({ address }) => address === resource.address)?.id;
      return id === undefined ? [] : [[name, id]];
    }),
  ),
  ...own,
});

/** "30 integrations of the manifests are not in dev: …", for objects. */
function limitedNotices(limited: readonly LimitedManifest[], target: string): readonly string[] {
  const ofObjects = limited.filter(({ resource }) => !isSchemaConfig(resource));
  return grouped(ofObjects, ({ resource: { kind }, targets }) => `${kind} ${targets.join()}`).map((group) => {
    const [{ resource, targets }] = group;
    const verb = group.length === 1 ? "is" : "are";
    const names = andMore(group.map((one) => one.resource.name));
    return `${counted(group.length, resource.kind.toLowerCase())} of the manifests ${verb} not in ${target}, so their manifests now have metadata.targets: [${targets.join(", ")}]: ${names}.`;
  });
}

/** The account in which the adopted manifests are identified with their objects. */
function withBindings(account: AccountView, { bindings }: Adoption): AccountView {
  const found = [...bindings].map(([address, { id }]) => [address, { state: "found", id, by: "binding" }] as const);
  return withIdentities(account, new Map([...account.identities, ...found]));
}

/** New manifests that have no place in the file of an integration. */
async function writeObjects(writer: Writer, { documents }: Adoption): Promise<void> {
  for (const { name } of kinds) {
    const ofKind = documents.filter(({ address, integration }) => integration === undefined && kindOf(address) === name);
    writer.add(`${name.toLowerCase()}s.yaml`, ofKind);
  }
  await writer.flush();
}

interface AfterImport {
  readonly load: LoadOptions;
  /** Undefined: all. */
  readonly addresses: readonly string[] | undefined;
}

/** Loads what was written and plans it. */
async function planAfter({ settings }: Project, { load, addresses }: AfterImport, run: RunEnvironment): Promise<Plan> {
  const project = await loadProject({ ...load, target: settings.target });
  return planAccount(project, addresses === undefined ? {} : { scope: scopeOf(addresses, [], namesMatcher) }, run);
}

/** The addresses that the user asked for. */
interface Selection {
  /** Without patterns: every address. */
  readonly isSelected: (address: Address) => boolean;
  /** Throws E_UNKNOWN_ADDRESS for a pattern that matched no address so far. */
  readonly refuseUnused: () => void;
}

/** `patterns` are globs on addresses: "Integration/orders", "Tag/*". */
function createSelection(patterns: readonly string[]): Selection {
  const wanted = patterns.map((pattern) => ({ pattern, matches: nameMatcher([pattern]), isUsed: false }));
  const seen = new Set<Address>();
  return {
    isSelected: (address) => {
      seen.add(address);
      const matching = wanted.filter(({ matches }) => matches(address));
      for (const one of matching) one.isUsed = true;
      return wanted.length === 0 || matching.length > 0;
    },
    refuseUnused: () => {
      const unused = wanted.find(({ isUsed }) => !isUsed)?.pattern;
      if (unused === undefined) return;
      throw new DimsyncError(
        "E_UNKNOWN_ADDRESS",
        `No object in the account would get the address ${JSON.stringify(unused)}.${didYouMean(unused, [...seen])} To see all addresses:`,
        { command: "dimsync import --dry-run" },
      );
    },
  };
}

// An account rarely has all objects of another one. Manifests whose objects only other targets have get metadata.targets, and a pinned id
// becomes a map: no file has to be moved, and nothing is blocked.

/** What a manifest gets in its metadata. */
interface LimitedManifest {
  readonly resource: Resource;
  /** metadata.targets */
  readonly targets: readonly string[];
}

interface LimitInput {
  /** With the objects of the import. */
  readonly account: AccountView;
  readonly target: string;
  readonly others: readonly OtherTarget[];
  readonly isSelected: (address: Address) => boolean;
}

const missingCodes: ReadonlySet<Code> = new Set([
  "E_INTEGRATION_MISSING",
  "E_TAG_MISSING",
  "E_UNBOUND",
  "E_SHARED_IDENTITY",
  "E_DEPENDENCY",
]);

/** Whether the account does not have the object of a manifest. */
const isMissing = (identity: Identity | undefined): boolean =>
  identity?.state === "gone" || (identity?.state === "blocked" && missingCodes.has(identity.code));

/** The manifests whose objects other targets have, and this one does not. */
function limitedManifests({ account, target, others, isSelected }: LimitInput): readonly LimitedManifest[] {
  const { resources, identities } = account;
  const isKnownElsewhere = (resource: Resource): boolean =>
    loadedBy(resource, others).some(({ bindings }) => bindings.has(resource.address) || resource.id !== undefined);
  const missing = new Set(
    resources.filter((one) => isMissing(identities.get(one.address)) && isKnownElsewhere(one)).map(({ address }) => address),
  );
  const refersTo = (resource: Resource): readonly Address[] =>
    (kindNamed(resource.kind)?.references(resource) ?? []).flatMap(({ kind, name, isOneOfMany }) =>
      isOneOfMany ? [] : [toAddress(kind, name)],
    );
  const isOfMissing = (resource: Resource): boolean =>
    isSchemaConfig(resource) && refersTo(resource).some((address) => missing.has(address));
  // What stays needs what it refers to.
  for (const resource of resources)
    if (!missing.has(resource.address) && !isOfMissing(resource)) for (const address of refersTo(resource)) missing.delete(address);
  return resources.flatMap((resource) => {
    if (!isSelected(resource.address) || !(missing.has(resource.address) || isOfMissing(resource))) return [];
    const targets = (resource.targets ?? loadedBy(resource, others).map(({ name }) => name)).filter((name) => name !== target);
    return targets.length === 0 ? [] : [{ resource, targets }];
  });
}
