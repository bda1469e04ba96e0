import { type Address, isRelation } from "../../base/model/address.ts";
import { isObject } from "../../base/model/json/json.ts";
import { fromPointer, type Pointer, toPointer } from "../../base/model/json/pointer.ts";
import { below, isError, type Problem, problemAt } from "../../base/model/problem.ts";
import type { IgnoreEntry } from "../../base/model/settings/config.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import type { Account, Pair } from "../../kinds/index.ts";
import { kindNamed, nameMatcher, namesMatcher } from "../../kinds/index.ts";
import type { Run } from "../run.ts";
import { everything, isCurrent, manifestsInScope } from "../scope.ts";
import { type KnownAddresses, schemasOfNames, unknownAllowances, unmatchedIgnores } from "./addresses.ts";
import { allowances } from "./allow.ts";
import type { Check, CheckInput, ComparedPair, Comparison } from "./check.ts";

/** Addresses of --only, --exclude, `ignore` and `allow` that match nothing. Unknown while manifests or reads fail. */
export function checkUnmatched({ run, account }: CheckInput): Check {
  const { project, scope, today, options } = run;
  const { ignore, allow } = project.settings;
  // What protects does not wait for a correction of these.
  if (account.isStopped || !account.isComplete || options.protectOnly === true) return {};
  const current = ignore.filter((entry) => isCurrent(entry, today));
  const paths = ignoredPaths(current, account);
  return {
    pair: paths.look,
    end(comparison) {
      const problems = [...account.problems, ...comparison.differences.flatMap((one) => one.problems)];
      if (problems.some(isError)) return {};
      if (scope === everything) {
        const known = knownAddresses(run, account, comparison);
        const unknown = unknownAllowances(allowances(allow, today).current, known);
        return { problems: [...unmatchedIgnores(current, known), ...paths.unmatched(), ...unknown] };
      }
      // What only manifests can match is checked before anything is read.
      const mayMatch = manifestsInScope(project.manifests, scope).some(({ kind }) => kindNamed(kind)?.schemas !== undefined);
      return { problems: mayMatch ? scope.problems([...project.manifests.map(({ address }) => address), ...comparison.parts]) : [] };
    },
  };
}

/** The addresses that a name in the config can mean. */
export function knownAddresses({ project, options }: Run, account: Account, { parts }: Pick<Comparison, "parts">): KnownAddresses {
  const { manifests, elsewhere, settings } = project;
  const addresses = (all: readonly { readonly address: Address }[] = []): readonly Address[] => all.map(({ address }) => address);
  const earlier = [...account.kept.values()].flatMap(({ identity: [name] }) => name ?? []);
  const others = [...elsewhere, ...(options.base?.manifests ?? [])];
  return {
    now: [...new Set([...parts.flatMap(account.addressesOf), ...addresses(manifests)])],
    others: [
      ...addresses(others),
      ...account.bindings.keys(),
      ...schemasOfNames([...earlier, ...account.kept.keys(), ...others.map(({ name }) => name)]),
    ],
    hasOtherTargets: settings.severalTargets === true,
  };
}

/** What of an object an `ignore` entry does not find, and what is there instead. */
interface Miss {
  readonly address: Address;
  /** The part of the entry's path above the missing name. */
  readonly above: Pointer;
  readonly name: string;
  readonly names: readonly string[];
}

/** Looks for the paths of `ignore` entries in the compared objects while these are in memory. */
function ignoredPaths(entries: readonly IgnoreEntry[], { addressesOf, list }: Account) {
  /** Entries that match an object, and whose path no such object has. */
  const missing = new Map<IgnoreEntry, Miss>();
  const open = new Map(
    entries
      .filter((entry) => entry.path !== "" && !isRelation(entry.address))
      .map((entry) => [entry, { isOf: namesMatcher([entry.address]), names: fromPointer(entry.path) }]),
  );
  return {
    look(one: ComparedPair): void {
      if (open.size === 0) return;
      const { kind, unit } = one;
      const live = one.live ?? (kind.list === undefined ? undefined : list(kind.list).byId.get(unit.liveId ?? ""));
      const addresses = addressesOf(unit.address);
      for (const [entry, { isOf, names }] of open) {
        if (!isOf(addresses)) continue;
        const miss = missIn(one, live, names);
        if (miss === undefined) {
          open.delete(entry);
          missing.delete(entry);
        } else if (miss.above.length > (missing.get(entry)?.above.length ?? -1)) missing.set(entry, miss);
      }
    },
    unmatched: (): readonly Problem[] => [...missing].map(missProblem),
  };
}

/** Members of a node that a response may lack. */
const nodeFields: ReadonlySet<string> = new Set(["enabled", "hashed", "syncMode", "cursorField"]);

/** Undefined if the object, or what its manifest declares, has the path, or if that is not known. */
function missIn({ kind, unit: { address, manifest } }: Pair, live: unknown, names: readonly string[]): Miss | undefined {
  if (live === undefined) return undefined;
  const { spec } = manifest;
  const isNode = kind.schemas !== undefined && nodeFields.has(names.at(-1) ?? "");
  const roots =
    kind.schemas === undefined
      ? [live, spec, { spec }, ...Object.values(spec as object).filter(isObject)]
      : [{ schemas: kind.schemas.tree(live) }];
  const matchers = (isNode ? names.slice(0, -1) : names).map((name) => nameMatcher([name]));
  const misses = roots.map((root) => depthOfMiss(root, matchers, 0));
  if (misses.includes(undefined)) return undefined;
  const [deepest = { depth: 0, names: [] }] = misses.filter((one) => one !== undefined).sort((a, b) => b.depth - a.depth);
  return { address, above: toPointer(names.slice(0, deepest.depth)), name: names[deepest.depth] ?? "", names: deepest.names };
}

function depthOfMiss(
  value: unknown,
  matchers: readonly ((name: string) => boolean)[],
  depth: number,
): { readonly depth: number; readonly names: readonly string[] } | undefined {
  const matches = matchers[depth];
  // An absent value is unknown, and the entries of a list have no names.
  if (matches === undefined || value === undefined || Array.isArray(value)) return undefined;
  const members = isObject(value) ? Object.entries(value) : [];
  let deepest = { depth, names: members.map(([name]) => name) as readonly string[] };
  for (const [, member] of members.filter(([name]) => matches(name))) {
    const miss = depthOfMiss(member, matchers, depth + 1);
    if (miss === undefined) return undefined;
    if (miss.depth > deepest.depth) deepest = miss;
  }
  return deepest;
}

function missProblem([{ place, reason }, { address, above, name, names }]: readonly [IgnoreEntry, Miss]): Problem {
  const where = above === "" ? "" : ` at ${above}`;
  const message = `${address} has no ${JSON.stringify(name)}${where}, so the entry ignores nothing (${reason}).${didYouMean(name, names)} Correct the path, or remove the entry.`;
  return problemAt(below(place, ["path"]), { code: "W_UNUSED", severity: "warning", message });
}
