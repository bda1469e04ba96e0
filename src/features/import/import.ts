import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { resolve } from "node:path";
import { type Address, byText, kindOf } from "../../core/base/model/address.ts";
import { DimsyncError, readOr, refuseErrors } from "../../core/base/model/errors.ts";
import type { LiveIntegration } from "../../core/base/model/live.ts";
import type { Manifest } from "../../core/base/model/manifest.ts";
import type { Plan } from "../../core/base/model/plan.ts";
import { systemClock } from "../../core/base/model/runtime/clock.ts";
import { counted } from "../../core/base/text/counts.ts";
import { andMore, grouped } from "../../core/base/text/lists.ts";
import { didYouMean, nearest, suggestion } from "../../core/base/text/suggest.ts";
import type { Account } from "../../core/kinds/index.ts";
import {
  accountLists,
  assets,
  integrations,
  isSchemaConfig,
  kindNamed,
  kindNames,
  kinds,
  lists,
  nameMatcher,
  namesMatcher,
  withIdentities,
} from "../../core/kinds/index.ts";
import type { LoadOptions, Project } from "../../core/manifests/index.ts";
import { boundaryOf, listTargets, loadProject, refuseOutside } from "../../core/manifests/index.ts";
import type { RunEnvironment } from "../../core/operations/index.ts";
import { planAccount, withReads, withRecords } from "../../core/operations/index.ts";
import type { RunReads } from "../../core/plan/index.ts";
import { cachedReads, readAccount, readWhole, scopeOf } from "../../core/plan/index.ts";
import type { RecordsRun, RecordsState } from "../../core/records/index.ts";
import { writeAtomic } from "../../core/records/index.ts";
import { type Adoption, adopt } from "./adopt.ts";
import { type ImportFolders, importFolders, newFilesIn } from "./folder.ts";
import {
  isInUse,
  type LimitedManifest,
  limitedManifests,
  loadedBy,
  manifestsElsewhere,
  type OtherTarget,
  sharedManifests,
} from "./other-targets.ts";
import { type Imported, type ImportedFile, type ImportReport, importedFile, importReport } from "./report.ts";
import { importSchemas, unitsById } from "./schemas/import-schemas.ts";
import { removedBlocks, type StateObject, type TerraformState } from "./terraform.ts";
import { createWriter, type Writer } from "./writer.ts";

export interface ImportProjectOptions {
  /** Globs on addresses: "Integration/orders", "Tag/*". Empty or absent: everything. */
  readonly addresses?: readonly string[];
  /** Absolute path of the folder for new files; by default the first folder of the config's `manifests`. */
  readonly out?: string | undefined;
  /** Reports what would be written, and writes nothing. */
  readonly dryRun?: boolean;
  /** What Terraform has managed until now. */
  readonly state?: TerraformState | undefined;
}

/** `load`: how the project was loaded. */
type Options = ImportProjectOptions & { readonly load: LoadOptions };

interface ProjectImport {
  readonly report: ImportReport;
  /** How many manifests were written or found. */
  readonly manifests: number;
}

/**
 * Writes manifests and bindings for live objects, and plans the result. What a manifest covers stays as it is. If the
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
      return { name: target, manifests: other.manifests, bindings };
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

async function importFrom(open: OpenAccount, given: Project, input: ImportInput): Promise<Imported> {
  const { reads, bind } = open;
  const { folders, others, run, onFile } = input;
  const { load, addresses, dryRun = false, state } = input.options;
  const selection = createSelection(addresses ?? []);
  const { target } = given.settings;
  const newFiles = newFilesIn(folders, target, isInUse(others));
  const { isSelected } = selection;
  const adoptIn = async (project: Project) => {
    const created = { targets: newFiles.targets, taken: new Set(project.elsewhere.map(({ address }) => address)) };
    const { account, suspicions } = await wholeAccount(project, open);
    const configs = new Map([...unitsById(account)].map(([id, { manifest }]) => [id, manifest.address]));
    const mayBePinnedElsewhere = (manifest: Manifest): boolean => loadedBy(manifest, others).length > 0;
    const { stated, gone } = await statedObjects(state, account, reads);
    const adoption = adopt({ ...created, account, isSelected, stated, mayBePinnedElsewhere, configOf: (id) => configs.get(id) });
    return { project, created, account, suspicions, adoption, gone };
  };
  const elsewhere = manifestsElsewhere(given, others);
  const shared =
    elsewhere.length === 0
      ? []
      : sharedManifests(elsewhere, new Set((await adoptIn(withManifests(given, elsewhere))).adoption.addresses), target);
  const { project, created, account, suspicions, adoption, gone } = await adoptIn(
    withManifests(
      given,
      shared.map(({ manifest }) => manifest),
    ),
  );
  // Before anything is written.
  selection.refuseUnused();

  const { cwd } = load;
  const boundary = boundaryOf(project.settings.folder, { cwd, env: run.env });
  const writer = createWriter(project, { cwd, boundary, newFiles, dryRun, onFile: (change) => onFile(importedFile(change, cwd)) });
  // Even if nothing is written: the config names the folders, and the project does not load without them.
  const { shared: folder, own = folder } = folders;
  for (const path of [folder, own]) {
    refuseOutside(boundary, path);
    if (!dryRun) await mkdir(path, { recursive: true });
  }
  const { signal, onProgress } = run;
  const bound = withBindings(account, adoption);
  const missing = limitedManifests({ account: bound, target, others, isSelected });
  // An object that an incomplete list lacks may exist, and a manifest that is limited by mistake protects nothing there.
  const isUnsure = suspicions.length > 0;
  const limited = isUnsure ? [] : missing;
  const failures = [
    ...[...shared, ...limited].flatMap(({ manifest, targets }) => writer.setMetadata(manifest, "targets", targets) ?? []),
    ...adoption.pins.flatMap(([manifest, id]) => writer.setMetadata(manifest, "id", pinsOf(manifest, { [target]: id }, others)) ?? []),
  ];
  await writeObjects(writer, adoption);
  const schemas = await importSchemas(adoption, { ...created, reads, writer, account: bound, state, signal, onProgress });
  if (state !== undefined) {
    const path = resolve(project.settings.folder, "dimsync-removed.tf");
    refuseOutside(boundary, path);
    const after = removedBlocks(state);
    if (!dryRun) await writeAtomic(path, after);
    onFile(importedFile({ path, before: undefined, after, isMetadata: false }, cwd));
  }
  if (bind !== undefined) await Promise.all([...adoption.bindings].map(([address, binding]) => bind(address, binding)));
  return {
    addresses: [...new Set([...adoption.addresses, ...schemas.addresses])].sort(byText),
    bound: new Map([...adoption.bindings].map(([address, { id }]) => [address, id])),
    notices: [
      ...suspicions.map((one) => (isUnsure && missing.length > 0 ? `${one} ${notLimited(missing)}` : one)),
      ...adoption.notices,
      ...targetNotices(shared, (are) => `of other targets ${are} in ${target}, too`),
      ...targetNotices(limited, (are) => `of the manifests ${are} not in ${target}`),
      ...schemas.notices,
      ...(state?.notices ?? []),
    ],
    failures: [...failures, ...schemas.failures],
    ...(state === undefined ? {} : { state: { ...schemas.differences, missing: [...gone, ...schemas.differences.missing] } }),
  };
}

/** The objects of a state that are in the account, as far as it shows them, and the others as sentences. */
async function statedObjects(state: TerraformState | undefined, account: Account, reads: RunReads) {
  const { byId, items } = account.list(integrations);
  const used = new Set(items.flatMap(({ source, destination }) => [source?.id, destination?.id]));
  const find = async ({ kind, id }: StateObject): Promise<boolean> => {
    if (kind === kindNames.integration) return byId.has(id);
    if (used.has(id)) return true;
    // What cannot be read may be there.
    const asset = await readOr(
      () => reads.one(assets, id),
      (error) => error,
    );
    return asset !== undefined || reads.offers?.("GET /v1/assets/{id}") !== true;
  };
  const found = await Promise.all((state?.objects ?? []).map(async (one) => [one, await find(one)] as const));
  const known = new Set(found.map(([{ id }]) => id));
  const others = items.filter(({ id }) => !known.has(id));
  return {
    stated: found.flatMap(([one, isThere]) => (isThere ? [one] : [])),
    gone: found.flatMap(([one, isThere]) => (isThere ? [] : [goneText(one, one.kind === kindNames.integration ? others : [])])),
  };
}

function goneText({ address, id, name: wanted }: StateObject, others: readonly LiveIntegration[]): string {
  const names = new Map(others.map((one) => [one.name, one]));
  const twin = names.get(nearest(wanted, names.keys()) ?? "");
  return `${address} ${JSON.stringify(wanted)} (${id}).${twin === undefined ? "" : suggestion(wanted, twin.name, ` (${twin.id})`)}`;
}

const notLimited = (missing: readonly LimitedManifest[]): string =>
  `So metadata.targets of ${counted(missing.length, "manifest")} of other targets stays as it is. Compare the number with the service.`;

/** The account with the project's manifests, and with whole objects in its lists. The client keeps what was read. */
async function wholeAccount(project: Project, { reads, state }: OpenAccount): ReturnType<typeof readAccount> {
  const today = systemClock.now().toISOString().slice(0, 10);
  const { account, suspicions } = await readAccount(project, state, { reads, today });
  const hasDetails = project.settings.extended === true;
  const whole = lists.map(
    async (list) => [list.name, await readWhole(reads, { list, items: account.list(list).items, hasDetails })] as const,
  );
  return { account: { ...account, list: accountLists(new Map(await Promise.all(whole))) }, suspicions };
}

/** The project as if these manifests of other targets were in this one, too. */
function withManifests(project: Project, more: readonly Manifest[]): Project {
  const added = new Set(more.map(({ address }) => address));
  return {
    ...project,
    manifests: [...project.manifests, ...more].sort((a, b) => byText(a.address, b.address)),
    elsewhere: project.elsewhere.filter(({ address }) => !added.has(address)),
  };
}

/** The pinned ids of a manifest in all targets that load it. */
const pinsOf = (
  manifest: Manifest,
  own: Readonly<Record<string, string>>,
  others: readonly OtherTarget[],
): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(
    loadedBy(manifest, others).flatMap(({ name, manifests }) => {
      const id = manifests.find(({ address }) => address === manifest.address)?.id;
      return id === undefined ? [] : [[name, id]];
    }),
  ),
  ...own,
});

/** "30 integrations of the manifests are not in dev, …", for objects. `what`: the words after the count, from "is" or "are". */
function targetNotices(changed: readonly LimitedManifest[], what: (are: string) => string): readonly string[] {
  const ofObjects = changed.filter(({ manifest }) => !isSchemaConfig(manifest) && kindNamed(manifest.kind)?.imported !== undefined);
  return grouped(ofObjects, ({ manifest: { kind }, targets }) => `${kind} ${targets.join()}`).map((group) => {
    const [{ manifest, targets }] = group;
    const names = andMore(
      group.map((one) => one.manifest.name),
      manifest.kind.toLowerCase(),
    );
    return `${counted(group.length, manifest.kind.toLowerCase())} ${what(group.length === 1 ? "is" : "are")}, so ${group.length === 1 ? "its" : "their"} manifests now have metadata.targets: [${targets.join(", ")}]: ${names}.`;
  });
}

/** The account in which the adopted manifests are identified with their objects. */
function withBindings(account: Account, { bindings }: Adoption): Account {
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
