import { createHash, type Hash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { gitState } from "../../git/state.ts";
import { loadConfig } from "../../manifests/config/load.ts";
import { covers } from "../../manifests/discover.ts";
import { discoverManifests, type LoadOptions } from "../../manifests/project.ts";
import { version } from "../../model/runtime/version.ts";
import type { Settings } from "../../model/settings/config.ts";
import type { Environment } from "../../model/settings/env.ts";
import { readRecords } from "../records/open.ts";

/** What a plan depends on, except the account. */
export interface Inputs {
  /** Over the bytes of all files, the records, the state of git, the environment, the flags and the day. */
  readonly digest: string;
  readonly settings: Settings;
  /** Absolute paths, whether the file exists or not. */
  readonly files: readonly string[];
  /** Whether none of the files has changed since. */
  readonly areCurrent: () => boolean;
}

export interface Invocation {
  readonly options: LoadOptions;
  /** JSON of everything else that the output depends on: flags, and the terminal. */
  readonly text: string;
}

/** The inputs of a plan. Undefined if it depends on more than files and the account, or if the project has errors. */
export async function readInputs({ options, text }: Invocation): Promise<Inputs | undefined> {
  const config = await loadConfig(options);
  const { settings, problems } = config;
  if (settings === undefined || problems.length > 0 || !isSimple(settings)) return undefined;
  const { paths, problems: notFound } = await discoverManifests(config, options);
  if (notFound.length > 0) return undefined;
  const files = [...config.except, ...paths];
  const isCovered = (path: string): boolean => covers(config.wanted, config.folder, path);
  const git = gitState(settings.folder, { files, covers: isCovered }, { signal: options.signal });
  const stamps = files.map(stampOf);
  const hash = createHash("sha256");
  addText(hash, JSON.stringify([build, process.version, today(), options.cwd, text, environment(options.env)]));
  for (const file of files) addFile(hash, file);
  const records = await readRecords(settings, { env: options.env });
  // Open creates are settled with the audit log since they were sent, which is not an input.
  if (records.open.length > 0) return undefined;
  addText(hash, JSON.stringify(records, withMaps));
  addText(hash, JSON.stringify(await git) ?? "");
  return {
    ...{ digest: hash.digest("hex"), settings, files },
    areCurrent: () => files.every((file, index) => stampOf(file) === stamps[index]),
  };
}

/** Names the build: the bundler puts a digest of the code, and of what it imports, into the name of this file. */
const build = `${version} ${import.meta.url}`;

/** Other stores, catalogs and the embedded service have a state of their own. */
const isSimple = ({ records, catalogFile, baseUrl }: Settings): boolean =>
  records.store === "folder" && catalogFile === undefined && /^https?:/u.test(baseUrl);

/** Exemptions expire on a date. */
const today = (): string => new Date().toISOString().slice(0, 10);

/** Shells change these with each command. */
const changing: readonly string[] = ["_", "OLDPWD", "SHLVL"];
const environment = (env: Environment): readonly (readonly [string, string | undefined])[] =>
  Object.entries(env)
    .filter(([name]) => !changing.includes(name))
    .sort(([a], [b]) => (a < b ? -1 : 1));

const withMaps = (_: string, value: unknown): unknown => (value instanceof Map || value instanceof Set ? [...value] : value);

function addFile(hash: Hash, file: string): void {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch {
    addText(hash, `${file}: absent`);
    return;
  }
  addText(hash, `${file}: ${bytes.length}`);
  hash.update(bytes);
}

/** With its length, so that two texts are never mistaken for two others. */
function addText(hash: Hash, text: string): void {
  const bytes = Buffer.from(text);
  hash.update(`${bytes.length}:`).update(bytes);
}

/** Changes with every write to the file. */
function stampOf(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false, bigint: true });
  return stats === undefined ? "" : `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`;
}
