import type { Problem } from "../../model/problem.ts";
import type { Evaluation } from "./evaluate.ts";
import type { Refused } from "./judgement.ts";
import { levelNames } from "./node.ts";
import type { Program, Speaker } from "./program.ts";
import { sampleText } from "./sample.ts";

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
