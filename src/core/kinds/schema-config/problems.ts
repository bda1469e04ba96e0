import { byHandStep } from "../../base/model/draft-steps.ts";
import { nodePointer } from "../../base/model/nodes.ts";
import type { DraftStep } from "../../base/model/plan.ts";
import { type Problem, problemAt } from "../../base/model/problem.ts";
import { levelNames } from "../../base/model/schema-tree.ts";
import { capitalized, ruleText } from "../../base/text/describe.ts";
import { nodeText } from "../../base/text/paths.ts";
import type { ProgramRule, RuleProgram, ValueSource } from "./compiled-config.ts";
import type { Evaluation, Refused, Unmet } from "./evaluation.ts";
import { sampleText } from "./rules/rule-stats.ts";
import type { SchemaConfigUnit } from "./units.ts";

/** What sets a value, as the subject of a sentence. */
export function sourceText(by: ValueSource | Pick<ProgramRule, "type" | "name">): string {
  if (by.type === "literal") return "The literal tree";
  return by.type === "rule" ? capitalized(ruleText(by.name)) : `${by.cause.rule}: ${by.mode}`;
}

/**
 * Errors that prevent requests for an integration, each at its line, with a few of the nodes and
 * their number.
 */
export function refusals(
  { unmatched }: RuleProgram,
  { refused, uncovered }: Pick<Evaluation, "refused" | "uncovered">,
  integration: string,
): readonly Problem[] {
  const ofUncovered = uncovered.flatMap((nodes, depth): readonly Problem[] => {
    const by = unmatched[depth];
    if (nodes.count === 0 || by === undefined) return [];
    const level = levelNames[depth] ?? "node";
    const [which, them] =
      nodes.count === 1
        ? [`the ${level} ${sampleText(nodes, level)} of ${integration}`, "it"]
        : [`${nodes.count} ${level}s of ${integration}: ${sampleText(nodes, level)}`, "them"];
    const message = `No rule or literal entry covers ${which}. Add a rule that sets or ignores ${them}, or change ${by.cause.rule}.`;
    return [problemAt(by.cause.place, { code: "E_UNMATCHED", message })];
  });
  return [...[...refused.values()].map((one) => disabledKey(one, integration)), ...ofUncovered];
}

function disabledKey({ role, by, cause, columns }: Refused, integration: string): Problem {
  const names = sampleText(columns, "column");
  const [which, them, tables] =
    columns.count > 1
      ? [`${columns.count} ${role} columns of ${integration}: ${names}`, "them", "their tables"]
      : [`the ${role} column ${names} of ${integration}`, "it", "the table"];
  return problemAt(cause.place, {
    code: "E_DISABLES_KEY",
    message: `${sourceText(by)} disables ${which}. Without ${them}, the service cannot replicate ${tables}. Hash ${them} instead, disable ${tables}, or leave ${them} enabled.`,
  });
}

type Named = Pick<SchemaConfigUnit, "address" | "name" | "manifests">;

/** `expect` entries that do not hold: no request changes these values, so they are fixed by hand. */
export function unmetSteps({ address, name: integration, manifests }: Named, unmet: readonly Unmet[]): readonly DraftStep[] {
  return unmet.map(({ path, key, expected, actual }) => {
    const node = `${levelNames[path.length - 1]} ${nodeText(path)} of ${integration}`;
    const advice =
      key === "isPrimaryKey"
        ? `Change the primary key in the source and have the service discover the schema again: ${node}`
        : `No request changes ${key}. Set it in the service's user interface: ${node}`;
    const values = `expected ${JSON.stringify(expected)}, ${actual === undefined ? "but it is not set" : `actual ${JSON.stringify(actual)}`}`;
    return byHandStep({
      address,
      path: nodePointer(path, key),
      manifests,
      expected,
      ...(actual === undefined ? {} : { actual }),
      instruction: `${advice} (${values}). Or correct spec.expect.`,
    });
  });
}
