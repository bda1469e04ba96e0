import { dirname, join, resolve } from "node:path";
import { DimsyncError } from "../../base/model/errors.ts";
import { defined } from "../../base/model/json/json.ts";
import { below, type Problem, problemAt, type SourceLocation } from "../../base/model/problem.ts";
import { allowedName, parseBaseUrl, unlistedHost } from "../../base/model/settings/base-url.ts";
import {
  type ClientSettings,
  type ControllerSettings,
  defaultClient,
  defaultGuards,
  type Guards,
  type RecordsSettings,
  type Settings,
  ttls,
  type UnusableRecordsSettings,
} from "../../base/model/settings/config.ts";
import type { SecretReference } from "../../base/model/settings/secret.ts";
import type { ConfigFile, TargetEntry } from "../../base/model/specs.generated.d.ts";
import { durationMs } from "../../base/text/counts.ts";
import { shellWord } from "../../base/text/shell.ts";
import { type ConfigOptions, setting } from "./options.ts";

interface TargetOptions extends ConfigOptions {
  readonly targetName: string;
  readonly entry: TargetEntry;
  /** Of the config file. */
  readonly place: SourceLocation | undefined;
  readonly configPath: string | undefined;
  /** Errors in `records` of the target, which are reported already. */
  readonly recordsFaults: readonly Problem[];
}

/**
 * The settings of one target: flag > environment > target > config > default. The caller adds
 * connectors.
 */
export function makeSettings(
  config: ConfigFile,
  options: TargetOptions,
): { readonly settings: Settings; readonly problems: readonly Problem[] } {
  const { cwd, entry, targetName, configPath } = options;
  const { url, format } = entry.notify ?? config.notify ?? {};
  const folder = configPath === undefined ? resolve(cwd) : dirname(configPath);
  const { baseUrl, problems } = targetBaseUrl(options);
  const apiKey = usesEnvironmentKey(config, entry) ? apiKeyFromEnvironment(options) : undefined;
  const keyPlace = placeOf(options, "apiKey");
  const recordsPlace = placeOf(options, "records");
  const records: RecordsSettings =
    options.recordsFaults.length > 0
      ? { store: "unusable", problems: options.recordsFaults }
      : recordsSettings(entry.records, { target: targetName, place: recordsPlace });
  const { controller, problems: ofController } = controllerSettings(entry, placeOf(options, "controller"));
  const settings: Settings = {
    target: targetName,
    targets: Object.keys(config.targets ?? {}),
    ...(Object.keys(config.targets ?? {}).length > 1 ? { severalTargets: true } : {}),
    baseUrl,
    ...(entry.observed === true && baseUrl.startsWith("embedded:") ? { observed: true } : {}),
    ...(entry.service?.extended === true ? { extended: true } : {}),
    ...(entry.service?.lists === "complete" ? { completeLists: true } : {}),
    apiKey: apiKey ?? entry.apiKey,
    ...(apiKey !== undefined || entry.apiKey === undefined || keyPlace === undefined ? {} : { apiKeyPlace: keyPlace }),
    protected: entry.protected ?? false,
    defaults: { taggedBy: entry.defaults?.taggedBy ?? config.defaults?.taggedBy },
    guards: mergeGuards(config.guards, entry.guards),
    ...defined({ place: options.place, guardPlaces: guardPlaces(config, options) }),
    review: config.review ?? "report",
    client: mergeClient(config.client, entry.client),
    ignore: placed(config.ignore, { list: "ignore", required: ["address", "path", "reason"] }, options),
    allow: placed(config.allow, { list: "allow", required: ["guard", "reason", "until"] }, options),
    // Without its URL, which had a problem, there is nothing to notify.
    ...(url === undefined ? {} : { notify: { url, ...(format === undefined ? {} : { format }) } }),
    ...defined({ controller }),
    bindingsFile: resolve(folder, config.bindings ?? "dimsync.bindings.yaml"),
    ...(entry.catalog === undefined ? {} : { catalogFile: resolve(folder, entry.catalog) }),
    folder,
    records,
    ...(entry.records === undefined || recordsPlace === undefined ? {} : { recordsPlace }),
  };
  return {
    settings,
    problems: [
      ...problems,
      ...observedProblems(options),
      ...recordsProblems(records, targetName, config, recordsPlace),
      ...ofController,
      ...catalogProblems(config, options),
      ...(apiKey === undefined ? [] : overriddenKey(options)),
    ],
  };
}

/** An error if another target has the same catalog: ids of one account mean nothing in another. */
function catalogProblems({ targets = {} }: ConfigFile, options: TargetOptions): readonly Problem[] {
  const { entry, targetName } = options;
  const { catalog } = entry;
  const other = Object.entries(targets).find(
    ([name, one]) => name !== targetName && one.catalog !== undefined && catalog !== undefined && join(one.catalog) === join(catalog),
  );
  if (other === undefined) return [];
  const message = `The targets ${targetName} and ${other[0]} name the same catalog. Each target needs a file of its own, because ids of one account mean nothing in another.`;
  return [problemAt(placeOf(options, "catalog"), { code: "E_TARGETS_SHARE", message })];
}

/** Where the config has this member of the target. */
const placeOf = ({ place, targetName }: TargetOptions, member: string): SourceLocation | undefined =>
  below(place, ["targets", targetName, member]);

/** Entries of a list of the config, with their places, except those that lost a required member because of a problem. */
const placed = <T extends object>(
  entries: readonly T[] | undefined,
  { list, required }: { readonly list: string; readonly required: readonly (keyof T & string)[] },
  { place }: TargetOptions,
) =>
  (entries ?? []).flatMap((entry, index) =>
    required.every((member) => Object.hasOwn(entry, member))
      ? [{ ...entry, ...defined({ place: below(place, [list, String(index)]) }) }]
      : [],
  );

/** Where each guard is set: for the target, else for all. */
function guardPlaces({ guards = {} }: ConfigFile, { entry, place, targetName }: TargetOptions): Settings["guardPlaces"] {
  if (place === undefined) return undefined;
  const at = (names: readonly string[], path: readonly string[]) =>
    Object.fromEntries(names.flatMap((name) => [[name, below({ ...place, on: "key" }, [...path, name])]]));
  return { ...at(Object.keys(guards), ["guards"]), ...at(Object.keys(entry.guards ?? {}), ["targets", targetName, "guards"]) };
}

/** "" if there is none, or if it cannot be used. */
function targetBaseUrl(options: TargetOptions): { readonly baseUrl: string; readonly problems: readonly Problem[] } {
  const fromEnvironment = setting(options.env, "DIMSYNC_BASE_URL");
  const written = fromEnvironment ?? options.entry.baseUrl;
  if (written === undefined) return { baseUrl: "", problems: [] };
  const fault = faultOfBaseUrl(written) ?? refusedHost(written, options.env);
  if (fault === undefined) return { baseUrl: written.startsWith("embedded:") ? written : written.replace(/\/+$/u, ""), problems: [] };
  const place = fromEnvironment === undefined ? placeOf(options, "baseUrl") : undefined;
  const message = fromEnvironment === undefined ? fault.message : `DIMSYNC_BASE_URL: ${fault.message}`;
  return { baseUrl: "", problems: [problemAt(place, { code: fault.code, message })] };
}

/** The account at a URL answers as it does. The environment's URL may replace an embedded one for a run. */
function observedProblems(options: TargetOptions): readonly Problem[] {
  const { observed, baseUrl = "" } = options.entry;
  if (observed !== true || baseUrl.startsWith("embedded:")) return [];
  const message =
    "observed needs a baseUrl such as embedded:account.json: it says how the embedded service answers. Remove it, or correct baseUrl.";
  return [problemAt(placeOf(options, "observed"), { code: "E_WRONG_VALUE", message })];
}

/** The embedded service sends nothing over the network. A loopback address does: other users of the machine can listen there. */
function refusedHost(baseUrl: string, env: ConfigOptions["env"]) {
  const allowed = baseUrl.startsWith("embedded:") ? undefined : unlistedHost(baseUrl, env);
  if (allowed === undefined) return undefined;
  return {
    code: "E_HOST_NOT_ALLOWED" as const,
    message: `The host ${allowedName(baseUrl)} is not in ${allowed}, so it does not get the API key. Correct baseUrl, or add the host to the variable where dimsync runs.`,
  };
}

/** The environment has a key. If the target has another one, that is easily overlooked. */
function overriddenKey(options: TargetOptions): readonly Problem[] {
  const key = options.entry.apiKey?.$secret;
  const place = placeOf(options, "apiKey");
  if (key === undefined || place === undefined || key.env === "DIMSYNC_API_KEY") return [];
  const message =
    "DIMSYNC_API_KEY or DIMSYNC_API_KEY_FILE is set, and the environment takes precedence over the target. Unset it to use the target's key.";
  return [problemAt(place, { code: "W_API_KEY_OVERRIDDEN", severity: "warning", message })];
}

interface TargetPlace {
  readonly target: string;
  /** Of `records`. */
  readonly place: SourceLocation | undefined;
}

function recordsSettings(records: TargetEntry["records"], at: TargetPlace): RecordsSettings {
  if (records?.postgres !== undefined) {
    const { url, schema = "dimsync", id } = records.postgres;
    const named = { store: "postgres" as const, url, schema, ttlMs: ttls.postgres };
    return id === undefined ? notCreated(named, at) : { ...named, id };
  }
  if (records?.git === undefined) return { store: "folder" };
  const { ref, id, remote = "origin" } = records.git;
  const named = { store: "git" as const, ref, remote, ttlMs: ttls.git };
  return id === undefined ? notCreated(named, at) : { ...named, id };
}

const notCreated = (named: NonNullable<UnusableRecordsSettings["named"]>, { target, place }: TargetPlace): UnusableRecordsSettings => ({
  store: "unusable",
  named,
  problems: [
    problemAt(place, {
      code: "E_RECORDS_NOT_CREATED",
      message:
        "`records` has no id: the store has not been created. dimsync does nothing without its records. Create them; this adds the id:",
      command: `dimsync records init -t ${shellWord(target)}`,
    }),
  ],
});

function recordsProblems(
  records: RecordsSettings,
  targetName: string,
  config: ConfigFile,
  place: SourceLocation | undefined,
): readonly Problem[] {
  if (records.store === "unusable") return records.named === undefined ? [] : records.problems;
  // Targets share the tables of a database.
  if (records.store !== "git") return [];
  const sameStore = Object.entries(config.targets ?? {}).find(([name, { records: other }]) => {
    const found = recordsSettings(other, { target: name, place: undefined });
    return name !== targetName && found.store === "git" && found.ref === records.ref && found.remote === records.remote;
  });
  if (sameStore === undefined) return [];
  return [
    problemAt(below(place, ["git", "ref"]), {
      code: "E_TARGETS_SHARE",
      message: `The targets ${targetName} and ${sameStore[0]} name the same ref. Each target needs a ref of its own, because ids of one account mean nothing in another.`,
    }),
  ];
}

/**
 * With several targets, the key of the environment belongs to those that name it: the others are other accounts, and a branch could add one that
 * is not.
 */
const usesEnvironmentKey = ({ targets = {} }: ConfigFile, { apiKey }: TargetEntry): boolean =>
  Object.keys(targets).length <= 1 || apiKey?.$secret.env === "DIMSYNC_API_KEY";

/** A reference, so that the key is read only when a client is created. */
function apiKeyFromEnvironment({ env, cwd }: ConfigOptions): SecretReference | undefined {
  if (setting(env, "DIMSYNC_API_KEY") !== undefined) return { $secret: { env: "DIMSYNC_API_KEY" } };
  const file = setting(env, "DIMSYNC_API_KEY_FILE");
  return file === undefined ? undefined : { $secret: { file: resolve(cwd, file) } };
}

function mergeGuards(...layers: readonly ConfigFile["guards"][]): Guards {
  return Object.assign({}, defaultGuards, ...layers) as Guards; // the schema allows no other members
}

/** Later layers win over earlier ones. */
function mergeClient(...layers: readonly ConfigFile["client"][]): ClientSettings {
  const { timeoutSeconds, settleSeconds, schemaWaitSeconds, ...counts }: Record<string, number | string> = Object.assign({}, ...layers);
  const durations = {
    timeoutMs: durationMs(timeoutSeconds),
    settleMs: durationMs(settleSeconds),
    schemaWaitMs: durationMs(schemaWaitSeconds),
  };
  // The schema allows no other members.
  const set = { ...counts, ...defined(durations) } as Partial<ClientSettings>;
  return { ...defaultClient, ...defined({ columnConcurrency: set.concurrency }), ...set };
}

/** It does not quote the URL, which may contain a password. */
function faultOfBaseUrl(text: string): Pick<Problem, "code" | "message"> | undefined {
  if (text === "embedded:") return { code: "E_BASE_URL", message: "embedded: must be followed by the path of a file." };
  try {
    if (!text.startsWith("embedded:")) parseBaseUrl(text);
    return undefined;
  } catch (error) {
    if (error instanceof DimsyncError) return error;
    throw error;
  }
}

const defaultEveryMs = 900_000;
const shortestEveryMs = 60_000;
const longestEveryMs = 604_800_000;

/** How the controller treats the target; undefined if it has no `controller`. `place` is that of `controller`. */
function controllerSettings(
  { controller: entry, protected: isProtected = false }: Pick<TargetEntry, "controller" | "protected">,
  place: SourceLocation | undefined,
): { readonly controller?: ControllerSettings; readonly problems: readonly Problem[] } {
  if (entry === undefined) return { problems: [] };
  const { every, mode = "report", labels = {} } = entry;
  const everyMs = every === undefined ? defaultEveryMs : (durationMs(every) ?? defaultEveryMs);
  const isInRange = everyMs >= shortestEveryMs && everyMs <= longestEveryMs;
  return {
    controller: { everyMs, mode, labels },
    problems: [
      ...(isInRange ? [] : [problemAt(below(place, ["every"]), { code: "E_WRONG_VALUE", message: everyRange })]),
      ...(isProtected && mode !== "report" ? [refusedMode(mode, place)] : []),
    ],
  };
}

const everyRange =
  "every must be between 1m and 7d: each check reads the whole account, and an account that is rarely checked can be exposed for long.";

const refusedMode = (mode: string, place: SourceLocation | undefined): Problem =>
  problemAt(below(place, ["mode"]), {
    code: "W_CONTROLLER_MODE",
    severity: "warning",
    message: `The target is protected, so it only accepts saved plans, and the controller has none: in mode ${mode} each repair is refused with E_PROTECTED. Use mode report, or remove protected: true to let the controller write.`,
  });
