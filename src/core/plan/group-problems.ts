import { byText, integrationOfSchemas } from "../base/model/address.ts";
import { getOrAdd, groupBy } from "../base/model/maps.ts";
import type { Problem } from "../base/model/problem.ts";
import { counted } from "../base/text/counts.ts";
import { andMore } from "../base/text/lists.ts";
import { shellWord } from "../base/text/shell.ts";

/** How many other integrations a message names. The rest are counted. */
const shown = 3;

/**
 * Reports a problem of one line once, although many integrations have it: a name that is missing in
 * 700 shards is one mistake in one rule. The message is that of the first integration, followed by
 * the names and the number of the others. Other problems stay
 * unchanged.
 */
export function groupProblems(problems: readonly Problem[]): readonly Problem[] {
  return [
    ...groupFailedReads(problems.filter(({ read }) => read !== undefined)),
    ...groupByLine(problems.filter(({ read }) => read === undefined)),
  ];
}

/** One problem for all reads that failed for the same reason, such as a wrong key. The first request is reported, and the others are counted. */
function groupFailedReads(problems: readonly Problem[]): readonly Problem[] {
  const byCause = new Map<string, Map<string, Problem>>();
  for (const problem of problems) {
    const { call = "", cause = "" } = problem.read ?? {};
    getOrAdd(
      getOrAdd(byCause, cause, () => new Map<string, Problem>()),
      call,
      () => problem,
    );
  }
  return [...byCause.values()].flatMap((group) => {
    const [first, ...others] = [...group.keys()].sort(byText);
    const problem = first === undefined ? undefined : group.get(first);
    if (problem === undefined) return [];
    const wayOut = wayOutOf([...group.values()]);
    if (others.length === 0) return { ...problem, message: `${problem.message}${wayOut}` };
    const { address: _address, ...rest } = problem;
    const message = `${problem.message} ${counted(others.length, "more read")} failed or ${others.length === 1 ? "was" : "were"} not sent for the same reason: ${andMore(others, "read", { shown })}.${wayOut}`;
    return [{ ...rest, message }];
  });
}

/** How to run without the objects whose reads failed; "" if every read may fail. */
function wayOutOf(problems: readonly Problem[]): string {
  const addresses = [...new Set(problems.flatMap(({ address }) => address ?? []))].sort(byText);
  const isForAll = problems.some(
    ({ read, status }) => status === 401 || /^E_(?:SERVICE_UNREACHABLE|TIMEOUT|INTERRUPTED)\b/u.test(read?.cause ?? ""),
  );
  if (addresses.length === 0 || isForAll) return "";
  const options = addresses.slice(0, shown).map((address) => `--exclude ${shellWord(address)}`);
  return ` To leave ${addresses.length === 1 ? "it" : "them"} out: ${options.join(" ")}${addresses.length > shown ? " …" : ""}`;
}

function groupByLine(problems: readonly Problem[]): readonly Problem[] {
  const isOfSchemas = ({ place, address = "" }: Problem): boolean => place !== undefined && integrationOfSchemas(address) !== undefined;
  const byLine = groupBy(problems.filter(isOfSchemas), ({ code, severity, place }) =>
    JSON.stringify([code, severity, place?.file, place?.document, place?.pointer, place?.on ?? "value"]),
  );
  return [...problems.filter((problem) => !isOfSchemas(problem)), ...[...byLine.values()].flatMap(merged)];
}

function merged(group: readonly [Problem, ...Problem[]]): readonly Problem[] {
  const byAddress = new Map(group.map((problem) => [problem.address ?? "", problem]));
  // Several problems of one integration at one line are different problems, unless their messages
  // are equal, as for a RuleSet that is used twice.
  if (group.some(({ address, message }) => byAddress.get(address ?? "")?.message !== message)) return group;
  if (byAddress.size === 1) return [...byAddress.values()];
  const [first, ...others] = [...byAddress].sort(([a], [b]) => byText(a, b));
  if (first === undefined) return group;
  const [address, problem] = first;
  const labels = others.map(([other]) => integrationOfSchemas(other) ?? other);
  const count = labels.length === 1 ? "one more integration" : `${labels.length} more integrations`;
  return [
    {
      ...problem,
      message: `${problem.message} The same problem is in ${count}: ${andMore(labels, "integration", { shown })}.`,
      address,
    },
  ];
}
