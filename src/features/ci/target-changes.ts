import { readFileSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { type LoadOptions, loadProject, type Project } from "../../core/manifests/project.ts";
import { shownPath } from "../../core/manifests/source.ts";
import { ProblemsError } from "../../core/model/errors.ts";
import { canonicalJson, type JsonValue } from "../../core/model/json/json.ts";
import { toPointer } from "../../core/model/json/pointer.ts";
import type { Problem } from "../../core/model/problem.ts";
import { secretsIn } from "../../core/model/settings/secret.ts";
import { atBase, type ProjectPlace, placeOf } from "../../core/operations/base.ts";

/** What decides which secrets a run reads, where it sends them, and which code runs beside them. */
interface Reach {
  /** By the name of the member in dimsync.yaml. */
  readonly members: Readonly<Record<(typeof memberNames)[number], string>>;
  /** The commands of secrets. */
  readonly commands: string;
  /** The texts of the files that commands name, by path, relative to the config. */
  readonly code: ReadonlyMap<string, string>;
}

const memberNames = ["baseUrl", "apiKey", "records", "connectors"] as const;

/**
 * An error for a target that reaches other secrets, hosts or code than at `ref`, the branch that apply watches: the author of a pull request could have changed
 * it to get the API key, or to show the plan of another account. Undefined if it is unchanged. Throws E_BASE_REF, E_BASE_UNREADABLE and E_NO_GIT.
 */
export async function targetChange(project: Project, ref: string, options: LoadOptions): Promise<Problem | undefined> {
  const now = reachOf(project);
  // Without a usable config there is no such target at the ref.
  const before = await atBaseOf(placeOf(project), { ref, options }, async (there) => reachOf(await loadProject(there)));
  const changed = before === undefined ? ["it is new, or its configuration was not valid before"] : differences(before, now);
  return changed.length === 0 ? undefined : problemOf(project, changed, options.cwd);
}

/** What `work` finds at the branch that apply watches; undefined if the config there cannot be used. */
const atBaseOf = <T>(
  place: ProjectPlace,
  at: { readonly ref: string; readonly options: LoadOptions },
  work: (there: LoadOptions) => Promise<T>,
): Promise<T | undefined> => atBase(place, at, (there) => orUnusable(work(there)));

async function orUnusable<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ProblemsError) return undefined;
    throw error;
  }
}

function reachOf({ settings, resources }: Project): Reach {
  const { baseUrl, apiKey, records, connectors, folder } = settings;
  const commands = secretsIn([apiKey, records, resources.map(({ spec }) => spec)]).flatMap(({ $secret: { exec } }) =>
    exec === undefined ? [] : [exec],
  );
  const members = { baseUrl, apiKey: apiKey ?? null, records, connectors };
  return {
    members: mapValues(members, (value) => canonicalJson(value as JsonValue)),
    commands: canonicalJson(commands),
    // Programs with an absolute path, such as /usr/bin/vault, are the machine's.
    code: new Map(commands.flat().flatMap((word) => (isAbsolute(word) ? [] : textOf(folder, word)))),
  };
}

const mapValues = <K extends string, T, U>(record: Readonly<Record<K, T>>, map: (value: T) => U): Readonly<Record<K, U>> =>
  Object.fromEntries(Object.entries<T>(record).map(([key, value]) => [key, map(value)])) as Record<K, U>; // fromEntries loses the keys

/** The text of a file by its path, if it exists. */
function textOf(folder: string, path: string): readonly (readonly [path: string, text: string])[] {
  try {
    return [[path, readFileSync(resolve(folder, path), "latin1")]];
  } catch {
    return [];
  }
}

function differences(before: Reach, now: Reach): readonly string[] {
  const paths = [...new Set([...before.code.keys(), ...now.code.keys()])].sort();
  return [
    ...memberNames.filter((name) => before.members[name] !== now.members[name]),
    ...(before.commands === now.commands ? [] : ["the command of a secret"]),
    ...paths.filter((path) => before.code.get(path) !== now.code.get(path)),
  ];
}

function problemOf({ settings: { target }, configFile }: Project, changed: readonly string[], cwd: string): Problem {
  const member = changed.find((one) => memberNames.some((name) => name === one)) ?? "";
  const pointer = member === "connectors" ? "/connectors" : toPointer(["targets", target, ...(member === "" ? [] : [member])]);
  return {
    code: "E_TARGET_CHANGED",
    severity: "error",
    message: `Target ${JSON.stringify(target)} differs from the branch that apply watches: ${changed.join(", ")}. A pull request could send the API key elsewhere with it, or show the plan of another account, so no secret was read and there is no plan. Review this change. The plan is made after the merge; someone who has the key can make it now on their own machine with dimsync plan.`,
    ...(configFile === undefined ? {} : { place: { file: shownPath(cwd, configFile), document: 0, pointer, on: "key" } }),
  };
}
