import { groupBy } from "../model/maps.ts";
import { isError, type Problem } from "../model/problem.ts";
import { counted } from "../text/counts.ts";

const mostOfFile = 100;

/**
 * At most 100 problems of each file, errors first, and one that says how many more there are: the
 * position of each one takes time to find, and nobody reads thousands.
 */
export function limitProblems(problems: readonly Problem[]): readonly Problem[] {
  if (problems.length <= mostOfFile) return problems;
  return [...groupBy(problems, ({ place }) => place?.file)].flatMap(([file, ofFile]) =>
    file === undefined ? ofFile : limited(file, ofFile),
  );
}

function limited(file: string, problems: readonly Problem[]): readonly Problem[] {
  if (problems.length <= mostOfFile) return problems;
  const sorted = [...problems.filter(isError), ...problems.filter((problem) => !isError(problem))];
  const [first, ...rest] = sorted.slice(mostOfFile);
  const count = rest.length + 1;
  const more: Problem = {
    code: "E_MORE_PROBLEMS",
    severity: first?.severity ?? "error",
    message: `${file} has ${counted(count, "more problem")}. Fix those above first, then run dimsync again.`,
    place: { file, document: 0, pointer: "" },
  };
  return [...sorted.slice(0, mostOfFile), more];
}
