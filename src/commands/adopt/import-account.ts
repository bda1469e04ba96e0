import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { cachedReads, type RunReads } from "../../engine/cached-reads.ts";
import { type Adoption, adopt, type NewDocument } from "../../import/adopt.ts";
import { adoptSchemas } from "../../import/adopt-schemas.ts";
import type { DocumentText } from "../../import/document-text.ts";
import { createFileSet, type FileChange } from "../../import/file-set.ts";
import { readAhead, readSchemas } from "../../import/read-schemas.ts";
import type { AccountView } from "../../kinds/kind.ts";
import { tablesToRead } from "../../kinds/schema-config/coverage.ts";
import { schemaConfig } from "../../kinds/schema-config/index.ts";
import type { Project } from "../../manifests/project.ts";
import { type Address, byText, toAddress } from "../../model/address.ts";
import { DimsyncError, ServiceError } from "../../model/errors.ts";
import type { LiveSchemas } from "../../model/live.ts";
import type { Resource } from "../../model/resource.ts";
import { writeAtomic } from "../../records/atomic.ts";
import { openBindings } from "../../records/bindings.ts";
import { acquireLock } from "../../records/lock.ts";
import { openAccount } from "../shared/account.ts";
import type { RunEnvironment } from "../shared/operations.ts";
import { readWorld } from "../shared/read-account.ts";

export interface ImportOptions {
  /** Absolute: relative paths in the project's places begin here. */
  readonly cwd: string;
  /** Absolute: where new files go. */
  readonly out: string;
  readonly dryRun: boolean;
  readonly literal: boolean;
  readonly isWanted: (address: Address) => boolean;
  /** Called when `isWanted` has been asked of everything there is; what it throws ends the import with nothing written. */
  readonly beforeWriting: () => void;
  /** Told of each file as soon as it is written, or would be. */
  readonly onFile: (change: FileChange) => void;
}

export interface Imported {
  /** Addresses of the manifests that stand for what was asked for. */
  readonly addresses: readonly Address[];
  readonly bound: ReadonlyMap<Address, string>;
  readonly notices: readonly string[];
  /** What could not be imported, and why. */
  readonly failures: readonly { readonly address: Address; readonly message: string }[];
}

/** So many integrations are read ahead of the one that is being written; no more are held at a time. */
const ahead = 4;

/**
 * Reads the account and writes manifests and bindings for what has none; updates those that differ. Only GET leaves the process. Throws
 * E_LOCKED (exit 6) while an apply runs, ServiceError where a list can't be read; one integration's schemas that can't be read are a failure, and the others go on.
 */
export async function importAccount(project: Project, options: ImportOptions, run: RunEnvironment): Promise<Imported> {
  const { settings } = project;
  // Ids must not change while an apply works with them, nor the other way round.
  const lock = options.dryRun
    ? undefined
    : await acquireLock(settings.folder, settings.target, { runId: randomUUID(), waitMs: 0, signal: run.signal });
  try {
    return await importUnlocked(project, options, run);
  } catch (error) {
    throw isSystemError(error)
      ? new DimsyncError("E_OUTPUT", `Import could not go on: ${error.message}. What it had written stays. Mend this, and import again.`, {
          cause: error,
        })
      : error;
  } finally {
    await lock?.release();
  }
}

/** A file or folder that can't be read or written; a service that can't be reached is a ServiceError. */
const isSystemError = (error: unknown): error is Error => error instanceof Error && !(error instanceof DimsyncError) && "syscall" in error;

async function importUnlocked(project: Project, options: ImportOptions, run: RunEnvironment): Promise<Imported> {
  const { settings } = project;
  const account = await openAccount(settings, { readOnly: true, env: run.env, signal: run.signal });
  try {
    const reads = cachedReads(account.client.asReadOnly());
    const bindings = await openBindings(settings.bindingsFile, settings.target);
    const { world, suspicions } = await readWorld(project, bindings.all(), reads);
    const tags = await Promise.all(world.tags.map(async (tag) => (await reads.tag(tag.id)) ?? tag));
    const boundElsewhere = await addressesOfOtherTargets(settings.bindingsFile, settings.target);
    const configs = new Map(
      schemaConfig.units(ofKind(world, "SchemaConfig"), world).units.map((unit) => [unit.liveId, unit.resource.address]),
    );
    const adoption = adopt({ world, tags, boundElsewhere, isWanted: options.isWanted, configOf: (id) => configs.get(id) });
    options.beforeWriting();
    const written = await writeFiles(project, options, adoption, identified(world, adoption), reads, boundElsewhere, run);
    if (!options.dryRun) await Promise.all([...adoption.bindings].map(([address, binding]) => bindings.set(address, binding)));
    return {
      addresses: [...written.addresses].sort(byText),
      bound: new Map([...adoption.bindings].map(([address, { id }]) => [address, id])),
      notices: [...suspicions, ...adoption.notices, ...written.notices],
      failures: written.failures,
    };
  } finally {
    await account.close();
  }
}

/** The world in which manifests that the adoption has found an object for mean that object. */
function identified(world: AccountView, { bindings }: Adoption): AccountView {
  const found = [...bindings].map(([address, { id }]) => [address, { state: "found", id, by: "binding" }] as const);
  return { ...world, identities: new Map([...world.identities, ...found]) };
}

/** Addresses that the bindings file has for other targets. */
async function addressesOfOtherTargets(file: string, target: string): Promise<ReadonlySet<Address>> {
  if (!existsSync(file)) return new Set();
  const { parse } = await import("yaml");
  const content: unknown = parse(readFileSync(file, "utf8"));
  const targets = (content as { readonly targets?: Readonly<Record<string, Readonly<Record<string, unknown>> | null>> }).targets ?? {}; // openBindings has checked it
  return new Set(Object.entries(targets).flatMap(([name, lines]) => (name === target ? [] : Object.keys(lines ?? {}))));
}

interface Written {
  readonly addresses: ReadonlySet<Address>;
  readonly notices: readonly string[];
  readonly failures: Imported["failures"];
}

async function writeFiles(
  project: Project,
  options: ImportOptions,
  adoption: Adoption,
  world: AccountView,
  reads: RunReads,
  boundElsewhere: ReadonlySet<Address>,
  run: RunEnvironment,
): Promise<Written> {
  const { cwd, out, dryRun, literal } = options;
  const files = createFileSet((path) => (existsSync(path) ? readFileSync(path, "utf8") : undefined));
  const addresses = new Set(adoption.addresses);
  const notices: string[] = [];
  const failures: { address: Address; message: string }[] = [];
  const resourceAt = new Map<Address, Resource>(project.resources.map((resource) => [resource.address, resource]));
  const units = new Map(schemaConfig.units(ofKind(world, "SchemaConfig"), world).units.map((unit) => [unit.liveId, unit]));
  const takenNames = new Set(ofKind(world, "SchemaConfig").map(({ name }) => name));
  // Where the plan looks, import has to look too.
  const lookedInto = (id: string) => (live: LiveSchemas) => {
    const unit = units.get(id);
    return unit === undefined ? [] : tablesToRead(unit.program, live, undefined);
  };

  const flush = async (): Promise<void> => {
    if (dryRun) return;
    for (const change of files.take()) {
      await mkdir(dirname(change.path), { recursive: true });
      await writeAtomic(change.path, change.after);
      options.onFile(change);
    }
  };
  const append = (path: string, documents: readonly DocumentText[]): void => files.append(path, documents, header(project, path));
  const change = ({ resource, spec, untyped }: Adoption["changed"][number]): void => {
    const path = resolve(cwd, resource.place.file);
    if (spec !== resource.spec && !files.change(path, resource.place, resource.spec, spec))
      failures.push({
        address: resource.address,
        message: `${resource.place.file} is written in a form that import can't change in place (a value from a variable, or an anchor that others use). Edit it by hand.`,
      });
    files.mention(path, resource.place, untyped);
  };
  const fileOf = (integration: string): string => {
    const known = resourceAt.get(toAddress("Integration", integration));
    return known === undefined ? join(out, "integrations", `${integration}.yaml`) : resolve(cwd, known.place.file);
  };

  // Places count documents from the beginning of a file: what is there is changed before anything is added behind it.
  for (const one of adoption.changed) change(one);
  for (const [kind, file] of [
    ["Asset", "assets.yaml"],
    ["Tag", "tags.yaml"],
  ] as const) {
    const documents = adoption.documents.filter(({ address, integration }) => integration === undefined && address.startsWith(`${kind}/`));
    if (documents.length > 0) append(join(out, file), documents);
  }
  // Also where nothing is written: the project names the folder, and can't be loaded without it.
  if (!dryRun) await mkdir(out, { recursive: true });
  await flush();

  let done = 0;
  const total = adoption.integrations.length;
  run.onProgress?.({ type: "phase", phase: "read", round: 1, total });
  for await (const outcome of readAhead(adoption.integrations, ahead, ({ live }) => readSchemas(reads, live.id, lookedInto(live.id)))) {
    run.signal.throwIfAborted();
    const { live, name } = outcome.item;
    if ("error" in outcome && !(outcome.error instanceof ServiceError)) throw outcome.error;
    const own = adoption.documents.filter(({ integration }) => integration === name);
    const [integrations, others] = [own.filter(isIntegration), own.filter((document) => !isIntegration(document))];
    const schemaDocuments: DocumentText[] = [];
    if ("error" in outcome)
      failures.push({ address: toAddress("SchemaConfig", name), message: outcome.error instanceof Error ? outcome.error.message : "" });
    else if (outcome.read !== undefined) {
      const unit = units.get(live.id);
      if (unit !== undefined) addresses.add(unit.resource.address);
      // What it has learned of this integration's names is not needed again.
      units.delete(live.id);
      const adopted = adoptSchemas({
        name,
        live: outcome.read,
        unit,
        world,
        literal,
        boundElsewhere,
        takenNames,
      });
      if (adopted.type === "notice") notices.push(adopted.notice);
      if (adopted.type === "changed") change(adopted.changed);
      if (adopted.type === "new") {
        takenNames.add(adopted.configName);
        schemaDocuments.push(adopted.document);
        addresses.add(adopted.document.address);
      }
    }
    const documents = [...integrations, ...schemaDocuments, ...others];
    if (documents.length > 0) append(fileOf(name), documents);
    await flush();
    run.onProgress?.({ type: "step", phase: "read", done: ++done, total, label: toAddress("Integration", name) });
  }
  if (dryRun) for (const made of files.take()) options.onFile(made);
  return { addresses, notices, failures };
}

const isIntegration = ({ address }: NewDocument): boolean => address.startsWith("Integration/");

const ofKind = (world: AccountView, kind: "SchemaConfig"): readonly Resource[] =>
  world.resources.filter((resource) => resource.kind === kind);

/** Tells editors where the schema is, if `dimsync init` put it there. */
function header({ settings }: Project, path: string): string {
  const schema = join(settings.folder, "schema", "manifest.schema.json");
  if (!existsSync(schema)) return "";
  return `# yaml-language-server: $schema=${relative(dirname(path), schema).split(sep).join("/")}\n`;
}
