import { relative } from "node:path";
import { createTwoFilesPatch } from "diff";
import { policyAddress } from "../kinds/manifests.ts";
import { type Address, byText } from "../model/address.ts";
import { eachChange } from "../model/changes.ts";
import { combineExits, type Exit } from "../model/exit.ts";
import type { Item, Plan } from "../model/plan.ts";
import { andMore, joinParts } from "../text/lists.ts";
import { pathText } from "../text/paths.ts";
import { shellWord } from "../text/shell.ts";
import type { ImportFailure } from "./failure.ts";
import type { FileChange } from "./file-set.ts";
import type { Imported } from "./run.ts";

/** What `dimsync import -o json` prints. */
export interface ImportReport {
  readonly kind: "Import";
  readonly target: string;
  readonly dryRun: boolean;
  readonly files: readonly ImportedFile[];
  readonly bindings: Readonly<Record<Address, string>>;
  readonly notices: readonly string[];
  readonly failures: readonly ImportFailure[];
  /**
   * What the plan after the import contains, one line each; absent after a dry run. Empty if the manifests match the account, or are
   * only stricter, which `notices` says.
   */
  readonly remaining?: readonly string[];
  /** The command that accepts the differences into the manifests. */
  readonly command?: string;
  readonly exit: Exit;
}

export interface ImportedFile {
  /** As shown: relative to the working directory. */
  readonly path: string;
  readonly action: "created" | "changed";
  readonly lines: number;
  /** Unified; absent for a new file. */
  readonly diff?: string;
}

export function importedFile({ path, before, after }: FileChange, cwd: string): ImportedFile {
  const shown = relative(cwd, path);
  const lines = after.split("\n").length - 1;
  if (before === undefined) return { path: shown, action: "created", lines };
  const patch = createTwoFilesPatch(`a/${shown}`, `b/${shown}`, before, after, undefined, undefined, { context: 2 });
  return { path: shown, action: "changed", lines, diff: patch.replace(/^=+\n/u, "") };
}

export interface ReportInput {
  readonly target: string;
  readonly files: readonly ImportedFile[];
  readonly imported: Imported;
  /** The plan after the import; undefined for a dry run. */
  readonly plan: Plan | undefined;
}

export function importReport({ target, files, imported, plan }: ReportInput): ImportReport {
  const remaining = plan === undefined ? undefined : linesOf(plan);
  const stricter = plan?.items.filter(isStricter) ?? [];
  const isAcceptable = plan !== undefined && plan.manual.length + plan.items.filter(differs).length > 0;
  const exits: Exit[] = [];
  if (imported.failures.length > 0) exits.push({ code: 1, reasons: ["failures"] });
  if (remaining !== undefined && remaining.length > 0) exits.push({ code: 1, reasons: ["not-empty"] });
  return {
    kind: "Import",
    target,
    dryRun: plan === undefined,
    files: [...files].sort((a, b) => byText(a.path, b.path)),
    bindings: Object.fromEntries([...imported.bound].sort(([a], [b]) => byText(a, b))),
    notices: [...imported.notices, ...stricter.map(stricterNotice), ...(plan === undefined ? [] : policyNotices(plan))],
    failures: imported.failures,
    ...(remaining === undefined ? {} : { remaining }),
    ...(isAcceptable ? { command: `dimsync drift --resolve accept -t ${shellWord(target)}` } : {}),
    exit: combineExits(exits),
  };
}

/** Whether all that the item changes protects more than the account does. */
const isStricter = ({ changes }: Item): boolean => changes.length > 0 && changes.every(({ risk }) => risk === "protects");

const differs = (item: Item): boolean => item.action !== "bind" && !isStricter(item);

const pathsOf = (item: Item): string => andMore([...eachChange(item)].map(({ path }) => path));

const stricterNotice = (item: Item): string =>
  `${item.address} is stricter than the account, and import leaves that as it is. Apply would protect ${pathsOf(item)}.`;

const mostNodes = 5;

/** What the imported state breaks, by policy of severity error. */
function policyNotices({ policy }: Plan): readonly string[] {
  const errors = policy.filter(({ severity, state }) => severity === "error" && state !== "fixed");
  return [...new Set(errors.map((finding) => finding.policy))].map((name) => {
    const findings = errors.filter((finding) => finding.policy === name);
    const nodes = findings.map(({ address, path }) => joinParts([address, dottedPath(path)], " "));
    return `${policyAddress(name)} is violated by what the account has: ${andMore(nodes, { shown: mostNodes })}. ${findings[0]?.message ?? ""}`.trim();
  });
}

const dottedPath = (path: string): string => pathText(path).node || path;

/** Everything in the plan that is not a bind and not stricter: what import did not get right, or what differed before. */
function linesOf({ items, manual, blocked, deferred, diagnostics }: Plan): readonly string[] {
  return [
    ...diagnostics
      .filter(({ severity }) => severity === "error")
      .map(({ code, message, address }) => `${address ?? "plan"}: ${code}: ${message}`),
    ...items.filter(differs).map((item) => `${item.address}: ${item.action} ${pathsOf(item)}`),
    ...manual.map(({ address, path, instruction }) => `${address}: ${path}: ${instruction}`),
    ...blocked.map(({ address, code, message }) => `${address}: ${code}: ${message}`),
    ...deferred.map(({ address, waitsFor }) => `${address}: waits for ${waitsFor.join(", ")}`),
  ];
}
