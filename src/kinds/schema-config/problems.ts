import type { Address } from "../../model/address.ts";
import type { Difference } from "../../model/plan.ts";
import type { Problem } from "../../model/problem.ts";
import type { Program, Speaker } from "./compiled-config.ts";
import type { Evaluation } from "./evaluate.ts";
import type { Refused, Unmet } from "./evaluation.ts";
import { sampleText } from "./rule-stats.ts";
import { levelNames, nodePointer, nodeText } from "./tree.ts";

/** Who says it, as the subject of a sentence. */
export function speakerText(by: Speaker): string {
  if (by.type === "literal") return "The literal tree";
  return by.type === "rule" ? `Rule ${JSON.stringify(by.name)}` : `${by.cause.rule}: ${by.mode}`;
}

/** What makes an evaluation unfit to be sent, each at the line that is to blame, with a few of the nodes and the number of all. */
export function refusals(
  { unmatched }: Program,
  { refused, unmatched: nodesByDepth }: Pick<Evaluation, "refused" | "unmatched">,
  label: string,
): readonly Problem[] {
  const uncovered = nodesByDepth.flatMap((nodes, depth): readonly Problem[] => {
    const by = unmatched[depth];
    if (nodes.count === 0 || by === undefined) return [];
    const level = levelNames[depth];
    return [
      {
        code: "E_UNMATCHED",
        severity: "error",
        summary: `A ${level} that nothing covers`,
        message: `No rule and no literal covers ${nodes.count === 1 ? `the ${level} ${sampleText(nodes)} of ${label}` : `${nodes.count} ${level}s of ${label}: ${sampleText(nodes)}`}. Add a rule that sets or ignores ${nodes.count === 1 ? "it" : "them"}, or change ${by.cause.rule}.`,
        place: by.cause.place,
      },
    ];
  });
  return [...[...refused.values()].map((one) => disabled(one, label)), ...uncovered];
}

function disabled({ role, by, cause, columns }: Refused, label: string): Problem {
  const names = sampleText(columns);
  const [what, them, tables] =
    columns.count > 1
      ? [`${columns.count} ${role} columns of ${label}: ${names}`, "them", "their tables"]
      : [`the ${role} column ${names} of ${label}`, "it", "the table"];
  return {
    code: role === "cursor" ? "E_DISABLES_CURSOR" : "E_DISABLES_PRIMARY_KEY",
    severity: "error",
    summary: `Disables a ${role} column`,
    message: `${speakerText(by)} disables ${what}. Without ${them} ${tables} can't be replicated. Hash instead, disable the table, or leave ${them} out of the match.`,
    place: cause.place,
  };
}

/** Assertions that don't hold, as what a person has to do: the interface has no call that changes these members (interface §4.3). */
export function manualSteps(address: Address, label: string, unmet: readonly Unmet[]): Difference["manual"] {
  return unmet.map(({ path, key, expected, actual }) => {
    const what = `${levelNames[path.length - 1]} ${nodeText(path)} of ${label}`;
    const advice =
      key === "isPrimaryKey"
        ? "The primary key is the source's: change it there and have the schema discovered again"
        : `No call of the interface changes ${key}: set it in the service's own user interface`;
    return {
      address,
      path: nodePointer(path, key),
      expected,
      ...(actual === undefined ? {} : { actual }),
      instruction: `${advice} for ${what} (wanted: ${JSON.stringify(expected)}, ${actual === undefined ? "not set now" : `now: ${JSON.stringify(actual)}`}), or correct spec.expect.`,
    };
  });
}
