import { createTwoFilesPatch } from "diff";
import { type Address, byText } from "../../core/base/model/address.ts";
import { changeCount, eachChange, firstChange } from "../../core/base/model/changes.ts";
import { combineExits, type Exit } from "../../core/base/model/exit.ts";
import { openFindings } from "../../core/base/model/findings.ts";
import { defined } from "../../core/base/model/json/json.ts";
import { type Plan, type ReadyStep, readySteps, stepsOf } from "../../core/base/model/plan.ts";
import { diagnosticsIn, isError, type Problem } from "../../core/base/model/problem.ts";
import { counted } from "../../core/base/text/counts.ts";
import { andMore, joinParts } from "../../core/base/text/lists.ts";
import { pathText } from "../../core/base/text/paths.ts";
import { shellWord } from "../../core/base/text/shell.ts";
import { shownPath } from "../../core/manifests/index.ts";
import type { ImportFailure } from "./other-targets.ts";
import type { StateDifferences } from "./terraform.ts";
import type { FileChange } from "./writer.ts";

/** What was imported, and what was not. */
export interface Imported {
  /** Addresses of the manifests of everything that was selected. */
  readonly addresses: readonly Address[];
  readonly bound: ReadonlyMap<Address, string>;
  readonly notices: readonly string[];
  readonly failures: readonly ImportFailure[];
  /** How a state of Terraform and the account differ; absent without a state. */
  readonly state?: StateDifferences;
}

/** What `dimsync import -o json` prints. */
export interface ImportReport {
  readonly kind: "Import";
  readonly target: string;
  readonly dryRun: boolean;
  readonly files: readonly ImportedFile[];
  readonly bindings: Readonly<Record<Address, string>>;
  readonly notices: readonly string[];
  readonly failures: readonly ImportFailure[];
  readonly state?: StateDifferences;
  /**
   * What the plan after the import contains, one line each; absent after a dry run. Empty if the manifests match the account, or are
   * only stricter, which `notices` says.
   */
  readonly remaining?: readonly string[];
  /** How many changes that protect the plan after the import has; absent if none. */
  readonly stricter?: number;
  /** The command that accepts the differences into the manifests. */
  readonly command?: string;
  /** The errors of the plan after the import; absent if it has none. They can keep the manifests from being compared with the account. */
  readonly errors?: readonly Pick<Problem, "code" | "message" | "address" | "command">[];
  readonly exit: Exit;
}

export interface ImportedFile {
  /** As shown: relative to the working directory. */
  readonly path: string;
  readonly action: "created" | "changed";
  readonly lines: number;
  /** Unified; absent for a new file. */
  readonly diff?: string;
  /** Present if only metadata.targets and metadata.id changed. */
  readonly isMetadata?: true;
}

export function importedFile({ path, before, after, isMetadata }: FileChange, cwd: string): ImportedFile {
  const shown = shownPath(cwd, path);
  const lines = after.split("\n").length - 1;
  if (before === undefined) return { path: shown, action: "created", lines };
  const patch = createTwoFilesPatch(`a/${shown}`, `b/${shown}`, before, after, undefined, undefined, { context: 2 });
  return { path: shown, action: "changed", lines, diff: patch.replace(/^=+\n/u, ""), ...(isMetadata ? { isMetadata } : {}) };
}

interface ReportInput {
  readonly target: string;
  readonly files: readonly ImportedFile[];
  readonly imported: Imported;
  /** The plan after the import; undefined for a dry run. */
  readonly plan: Plan | undefined;
}

export function importReport({ target, files, imported, plan }: ReportInput): ImportReport {
  const remaining = plan === undefined ? undefined : linesOf(plan);
  const errors = plan === undefined ? [] : diagnosticsIn(plan).filter(isError);
  const isAcceptable = plan !== undefined && stepsOf(plan, "byHand").length + readySteps(plan).filter(differs).length > 0;
  const stricter = (plan === undefined ? [] : readySteps(plan)).filter(isStricter);
  const exits: Exit[] = [];
  if ((imported.state?.missing ?? []).length > 0) exits.push({ code: 1, reasons: ["not-in-account"] });
  if (imported.failures.length > 0) exits.push({ code: 1, reasons: ["failures"] });
  if (errors.length > 0) exits.push({ code: 1, reasons: ["errors"] });
  if (remaining !== undefined && remaining.length > 0) exits.push({ code: 1, reasons: ["not-empty"] });
  return {
    kind: "Import",
    target,
    dryRun: plan === undefined,
    files: [...files].sort((a, b) => byText(a.path, b.path)),
    bindings: Object.fromEntries([...imported.bound].sort(([a], [b]) => byText(a, b))),
    notices: [...imported.notices, ...(plan === undefined ? [] : [...stricterNotices(stricter, target), ...policyNotices(plan)])],
    failures: imported.failures,
    ...defined({ state: imported.state }),
    ...(remaining === undefined ? {} : { remaining }),
    ...(stricter.length === 0 ? {} : { stricter: changesIn(stricter) }),
    ...(errors.length === 0
      ? {}
      : { errors: errors.map(({ rule: code, message, address, command }) => ({ code, message, ...defined({ address, command }) })) }),
    ...(isAcceptable ? { command: `dimsync drift --resolve accept -t ${shellWord(target)}` } : {}),
    exit: combineExits(exits),
  };
}

/** Whether all that the item changes protects more than the account does. */
const isStricter = ({ changes }: ReadyStep): boolean => changes.length > 0 && changes.every(({ risk }) => risk === "protects");

const differs = (item: ReadyStep): boolean => item.verb !== "bind" && !isStricter(item);

const changesIn = (items: readonly ReadyStep[]): number => items.reduce((sum, item) => sum + changeCount(item), 0);

const pathsOf = (item: ReadyStep, textOf: (path: string) => string): string =>
  andMore([...new Set(Array.from(eachChange(item), ({ path }) => textOf(path)))], "node");

/** One for all of them: the first rules for a second account are stricter than all of it. */
function stricterNotices(stricter: readonly ReadyStep[], target: string): readonly string[] {
  const [only] = stricter;
  if (only === undefined) return [];
  const changes = changesIn(stricter);
  return [
    stricter.length === 1
      ? `${only.address} is stricter than the account, and import leaves that as it is. Apply would protect ${pathsOf(only, dottedPath)}.`
      : `${andMore(
          stricter.map(({ address }) => address),
          "object",
        )} are stricter than the account, and import leaves that as it is. Apply would make ${counted(changes, "change")} that ${changes === 1 ? "protects" : "protect"}; dimsync plan -t ${shellWord(target)} shows them.`,
  ];
}

const mostNodes = 5;

/** What the imported state breaks, by policy of severity error. */
function policyNotices(plan: Plan): readonly string[] {
  const errors = openFindings(plan).filter(isError);
  return [...new Set(errors.map(({ rule }) => rule))].map((policy) => {
    const findings = errors.filter(({ rule }) => rule === policy);
    const nodes = findings.map(({ address, path }) => joinParts([address, dottedPath(path)], " "));
    return `${policy} is violated by what the account has: ${andMore(nodes, "node", { shown: mostNodes })}. ${findings[0]?.message ?? ""}`.trim();
  });
}

const dottedPath = (path: string): string => pathText(path).node || path;

/** Everything in the plan that is not an error, a bind or stricter: what import did not get right, or what differed before. */
function linesOf(plan: Plan): readonly string[] {
  return [
    ...readySteps(plan)
      .filter(differs)
      .map((item) => `${item.address}: ${item.verb} ${pathsOf(item, (path) => path)}`),
    ...plan.steps.flatMap((step) => {
      const { address, standing, waitsFor = [], why } = step;
      if (standing === "byHand") return `${address}: ${firstChange(step).path}: ${why?.message ?? ""}`;
      if (standing === "blocked") return `${address}: ${why?.code ?? ""}: ${why?.message ?? ""}`;
      return standing === "waits" ? `${address}: waits for ${waitsFor.join(", ")}` : [];
    }),
  ];
}
