import { guardNames } from "../engine/checks/guards.ts";
import { everything, scopeOf } from "../engine/scope.ts";
import type { PlanOptions } from "../engine/session.ts";
import { nameMatcher, namesMatcher } from "../kinds/patterns/names.ts";
import { DimsyncError } from "../model/errors.ts";
import type { IgnoreEntry } from "../model/settings/config.ts";
import { didYouMean } from "../text/suggest.ts";
import type { PlanFlags } from "./flags.ts";

/** The engine's options from the flags that plan, drift and apply share. Throws E_USAGE. */
export function planOptions(
  flags: Pick<
    PlanFlags,
    "only" | "exclude" | "allow" | "writeSecrets" | "assumeCompleteLists" | "protectOnly" | "ignore" | "listUnmanaged"
  > &
    Partial<Pick<PlanFlags, "failOn">>,
): PlanOptions {
  const matches = typeof flags.writeSecrets === "string" ? nameMatcher([flags.writeSecrets]) : undefined;
  return {
    scope: flags.only.length + flags.exclude.length === 0 ? everything : scopeOf(flags.only, flags.exclude, namesMatcher),
    writeSecrets: (address) => flags.writeSecrets === true || matches?.(address) === true,
    allow: new Map(flags.allow.map(allowance)),
    ignore: flags.ignore.map(ignored),
    // With --fail-on unmanaged, the report must name them.
    ...(flags.listUnmanaged === true || flags.failOn?.some((words) => words.includes("unmanaged")) === true ? { listUnmanaged: true } : {}),
    ...(flags.assumeCompleteLists === true ? { assumeCompleteLists: true } : {}),
    ...(flags.protectOnly === true ? { protectOnly: true } : {}),
  };
}

function allowance(text: string): readonly [string, string] {
  const at = text.indexOf("=");
  const name = at === -1 ? text : text.slice(0, at);
  const reason = at === -1 ? "" : text.slice(at + 1).trim();
  const names: readonly string[] = guardNames;
  if (!names.includes(name))
    throw new DimsyncError("E_USAGE", `Unknown guard ${JSON.stringify(name)}. Guards: ${names.join(", ")}.${didYouMean(name, names)}`);
  if (reason === "")
    throw new DimsyncError("E_USAGE", `--allow needs a reason, which is recorded in the result: --allow ${name}="reason".`);
  return [name, reason];
}

/** `--ignore ADDRESS[:/path]`: the address can be a glob; the path includes everything below it. */
function ignored(text: string): IgnoreEntry {
  const at = text.indexOf(":");
  const [address, path] = at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
  if (!address.includes("/") || (path !== "" && !path.startsWith("/")))
    throw new DimsyncError(
      "E_USAGE",
      `Invalid --ignore ${JSON.stringify(text)}. Use ADDRESS or ADDRESS:/path, such as Tag/pii:/description.`,
    );
  return { address, path, reason: "--ignore", until: undefined };
}
