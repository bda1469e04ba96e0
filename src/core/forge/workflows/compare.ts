import { isObject } from "../../model/json/json.ts";
import { read } from "../../yaml/read.ts";

/** What a difference says, by the member of a workflow whose values decide who runs what, when, and with which rights. */
const watched: ReadonlyMap<string, string> = new Map([
  ["branches", "branches"],
  ["paths", "paths"],
  ["paths-ignore", "paths-ignore"],
  ["target", "targets"],
  ["DIMSYNC_TARGET", "targets"],
  ["DIMSYNC_ALLOWED_HOSTS", "DIMSYNC_ALLOWED_HOSTS"],
  ["DIMSYNC_APPLIED_BRANCH", "DIMSYNC_APPLIED_BRANCH"],
  ["DIMSYNC_API_KEY", "DIMSYNC_API_KEY"],
  ["fetch-depth", "fetch-depth"],
  ["GIT_DEPTH", "GIT_DEPTH"],
]);

/**
 * How a workflow for GitHub or GitLab differs from the one that `init` would write, as parts of a sentence: events, branches, permissions, targets, hosts,
 * keys, commands, and actions that are not pinned to a commit. Other edits do not count.
 */
export function workflowDifferences(text: string, expected: string): readonly string[] {
  const { documents, problems } = read(text);
  if (problems.length > 0) return ["it is not valid YAML"];
  const [now, wanted] = [factsOf(documents), factsOf(read(expected).documents)];
  return [...new Set([...wanted.keys(), ...now.keys()])].flatMap((fact) => {
    const [has, should] = [now.get(fact) ?? new Set<string>(), wanted.get(fact) ?? new Set<string>()];
    const extra = [...has].filter((value) => !should.has(value)).join(", ");
    const missing = [...should].filter((value) => !has.has(value)).join(", ");
    if (extra === "") return missing === "" ? [] : [`${fact}: ${missing} is missing`];
    return [`${fact}: ${extra}${missing === "" ? ", which init does not write" : ` instead of ${missing}`}`];
  });
}

type Facts = ReadonlyMap<string, ReadonlySet<string>>;

function factsOf(value: unknown): Facts {
  const facts = new Map<string, Set<string>>();
  const add = (fact: string, text: string): void => void facts.set(fact, (facts.get(fact) ?? new Set()).add(text));
  const walk = (at: unknown, key: string): void => {
    const fact = watched.get(key);
    if (fact !== undefined) for (const text of scalarsIn(at)) add(fact, text);
    else if (key === "on")
      for (const event of isObject(at) ? Object.keys(at) : scalarsIn(at)) if (event === "pull_request_target") add("event", event);
    if (key === "permissions")
      for (const text of isObject(at) ? Object.entries(at).map((entry) => entry.join(": ")) : scalarsIn(at)) add(key, text);
    if (key === "uses" && typeof at === "string" && !/^\.\/|@(?:[0-9a-f]{40}|sha256:[0-9a-f]{64})$/u.test(at))
      add("actions that are not pinned", at);
    if (typeof at === "string") {
      for (const [name] of at.matchAll(/dimsync@[^\s"']+/gu)) add("version", name);
      for (const [, task = ""] of at.matchAll(/dimsync"? (ci \w+)/gu)) add("command", task);
    }
    if (Array.isArray(at)) for (const one of at) walk(one, key === "on" ? "" : key);
    else if (isObject(at)) for (const [name, one] of Object.entries(at)) walk(one, name);
  };
  walk(value, "");
  return facts;
}

/** The scalars in a value, as text. */
function scalarsIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(scalarsIn);
  return isObject(value) ? Object.values(value).flatMap(scalarsIn) : [String(value)];
}
