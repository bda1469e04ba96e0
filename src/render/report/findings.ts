import { manifestAddress } from "../../model/address.ts";
import type { Change, GuardFinding, Item, Plan, PolicyFinding } from "../../model/plan.ts";
import type { Diagnostic, Severity } from "../../model/problem.ts";
import type { ItemResult, Result } from "../../model/result.ts";
import { counted } from "../../text/counts.ts";
import { pathText, spaced, wholePath } from "../../text/paths.ts";
import { valueText } from "../../text/values.ts";
import type { Document } from "../document.ts";
import { groupByRule } from "./groups.ts";
import { wordingOf } from "./wording.ts";

/** Something in a document that a person or a scanner should see, at the manifest's line where one is known. */
export interface Finding {
  /** Stable name of what it is: "E_AMBIGUOUS", "policy/pii-must-be-hashed", "guard/maxCreates", "exposes", "drift", "manual". */
  readonly rule: string;
  /** What the rule means, without text of the user's. */
  readonly title: string;
  readonly severity: Severity;
  /** Full sentences; may hold any text, and line breaks. */
  readonly message: string;
  readonly address?: string;
  /** JSON Pointer into the live object. */
  readonly path?: string;
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
}

/** The findings that are there after apply. */
export const openFindings = (policy: readonly PolicyFinding[]): readonly PolicyFinding[] => policy.filter(({ state }) => state !== "fixed");

const order: readonly Severity[] = ["error", "warning", "info"];

/** All of a document, errors first, otherwise in the document's order. */
export function findingsOf(document: Document): readonly Finding[] {
  const all = document.kind === "Validation" ? document.diagnostics.map(ofDiagnostic) : [...ofFindings(document), ...ofSteps(document)];
  return order.flatMap((severity) => all.filter((entry) => entry.severity === severity));
}

function ofFindings({ diagnostics, policy, guards }: Pick<Plan, "diagnostics" | "policy" | "guards">): readonly Finding[] {
  return [...diagnostics.map(ofDiagnostic), ...openFindings(policy).map(ofPolicy), ...guards.filter(refuses).map(ofGuard)];
}

function ofDiagnostic({ code, summary, severity, message, command, address, file, line, column }: Diagnostic): Finding {
  const text = command === undefined ? message : `${message}\n${command}`;
  return { rule: code, title: summary, severity, message: text, ...defined({ address, file, line, column }) };
}

function ofPolicy({ policy, severity, address, path, message, file, line }: PolicyFinding): Finding {
  return {
    rule: `policy/${policy}`,
    title: "A policy of the project",
    severity,
    message: `${spaced(address, wholePath(path))}: ${message}`,
    ...defined({ address, path, file, line }),
  };
}

const refuses = ({ allowed }: GuardFinding): boolean => allowed === undefined;

function ofGuard({ guard, message }: GuardFinding): Finding {
  const lift = `To lift it, give a reason: --allow ${guard}="reason"`;
  return { rule: `guard/${guard}`, title: "A guard refuses", severity: "error", message: `${message}\n${lift}` };
}

function ofSteps(document: Plan | Result): readonly Finding[] {
  if (document.kind === "Result") return [...document.items.flatMap(ofOutcome), ...ofManual(document, [])];
  const causes = document.items;
  return [
    ...document.blocked.map(
      ({ address, code, message, command }): Finding => ({
        rule: code,
        title: "Blocked",
        severity: "warning",
        message: `${address} is blocked. ${message}${command === undefined ? "" : `\n${command}`}`,
        ...defined({ address }),
        ...placeOf(address, causes),
      }),
    ),
    ...document.items.flatMap((item) => ofItem(item, document)),
    ...ofManual(document, causes),
  ];
}

function ofManual({ manual }: Plan | Result, items: readonly Item[]): readonly Finding[] {
  return manual.map(({ id, address, path, expected, actual, instruction }) => {
    const name = path.slice(path.lastIndexOf("/") + 1);
    const values = [
      ...(actual === undefined ? [] : [`is ${valueText(actual, name)}`]),
      ...(expected === undefined ? [] : [`expected ${valueText(expected, name)}`]),
    ].join(", ");
    return {
      rule: "manual",
      title: "A difference that no call can repair",
      severity: "warning",
      message: `${spaced(address, wholePath(path))}${values === "" ? "" : ` ${values}`} (${id}). ${instruction}`,
      ...defined({ address, path }),
      ...placeOf(address, items),
    };
  });
}

/** Of a plan what exposes, of a report every difference: the changes of one rule at a time, at the rule's line. */
function ofItem(item: Item, plan: Plan): readonly Finding[] {
  const { address, action, changes } = item;
  const isReport = plan.kind === "DriftReport";
  const shown = isReport ? changes : changes.filter(({ risk }) => risk === "exposes");
  if (isReport && shown.length === 0 && action !== "bind")
    return [{ rule: "drift", title: "The account differs", severity: "warning", message: `${address} differs.`, address }];
  const wording = wordingOf(plan);
  return groupByRule(shown).map(({ first, changes: group }) => ({
    rule: isReport ? "drift" : "exposes",
    title: isReport ? "The account differs from the manifests" : "More data would flow, or more of it in clear",
    severity: "warning",
    message: `${address}: ${groupText(first, group)}${wording.risk[first.risk] === "" ? "" : ` (${wording.risk[first.risk]})`}`,
    address,
    path: first.path,
    ...defined({ file: first.cause?.file, line: first.cause?.line }),
  }));
}

function groupText(first: Change, group: readonly Change[]): string {
  const { node, leaf } = pathText(first.path);
  const name = first.path.slice(first.path.lastIndexOf("/") + 1);
  const value = (of: Change["before"]): string => (of === undefined ? "not known" : valueText(of, name));
  const what = group.length === 1 ? wholePath(first.path) : `${counted(group.length, "time")} ${leaf}, such as ${spaced(node, leaf)}`;
  return `${what}: ${value(first.before)} → ${value(first.after)}`;
}

const failedOutcomes = new Set(["failed", "unknown", "not-converged"]);

function ofOutcome({ outcome, address, code, message, changes }: ItemResult): readonly Finding[] {
  if (outcome === "done" || outcome === "recovered") return [];
  const cause = changes?.find((change) => change.cause !== undefined)?.cause;
  return [
    {
      rule: code ?? `outcome/${outcome}`,
      title: `Not applied: ${outcome}`,
      severity: failedOutcomes.has(outcome) ? "error" : "warning",
      message: `${address}: ${outcome}. ${message ?? ""}`.trim(),
      address,
      ...defined({ file: cause?.file, line: cause?.line }),
    },
  ];
}

/** Findings that carry no place of their own stand where another change of the same manifest is caused. */
function placeOf(address: string, items: readonly Item[]): { readonly file?: string; readonly line?: number } {
  const manifest = manifestAddress(address);
  const cause = items
    .filter((item) => manifestAddress(item.address) === manifest)
    .flatMap(({ changes }) => changes)
    .find((change) => change.cause !== undefined && change.cause.rule === undefined)?.cause;
  return defined({ file: cause?.file, line: cause?.line });
}

type Defined<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

/** The members that have a value: optional members may be absent and may not be undefined. */
function defined<T extends Readonly<Record<string, unknown>>>(members: T): Defined<T> {
  // What is left out is exactly what the type makes optional.
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Defined<T>;
}
