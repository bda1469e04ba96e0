import { canonicalJson } from "../../model/json.ts";
import type { GuardFinding, PolicyFinding } from "../../model/plan.ts";
import { placeText } from "../cause-text.ts";
import { wholePath } from "../path-text.ts";
import { visible } from "../visible.ts";
import { severityColor } from "./diagnostics.ts";
import { alignRows, cell } from "./rows.ts";
import type { Screen } from "./screen.ts";
import { wrap } from "./wrap.ts";

const mostPlaces = 20;
const severitySigns = { error: "✗", warning: "⚠", info: "i" } as const;

/**
 * The findings of one policy with one message together: what it says once, then every place, and how to lift an error unless a guard says
 * so already; without guards (a drift report) there is nothing to lift, since nothing would run.
 */
export function policyBlocks(
  findings: readonly PolicyFinding[],
  guards: readonly GuardFinding[] | undefined,
  screen: Screen,
): readonly (readonly string[])[] {
  const groups = new Map<string, [PolicyFinding, ...PolicyFinding[]]>();
  for (const finding of findings) {
    const key = canonicalJson([finding.policy, finding.severity, finding.message, finding.file ?? "", finding.line ?? 0]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [finding]);
    else group.push(finding);
  }
  const { paint, verbose } = screen;
  const isLiftable = guards !== undefined && !guards.some(({ guard }) => guard === "policy");
  return [...groups.values()].map((group) => {
    const [first] = group;
    const shown = verbose ? group : group.slice(0, mostPlaces);
    const color = severityColor(first.severity, screen);
    const place = placeText(first);
    return [
      `${color(severitySigns[first.severity])} ${paint.bold(`Policy/${visible(first.policy)}`)}   ${color(first.severity)}${place === "" ? "" : paint.dim(`   ${place}`)}`,
      ...wrap(first.message, "    ", screen.width),
      ...alignRows(
        shown.map(({ address, path }) => [cell(visible(address)), cell(wholePath(path), paint.cyan)]),
        "    ",
      ),
      ...(shown.length < group.length ? [paint.dim(`    and ${group.length - shown.length} more places: -v shows them`)] : []),
      ...(first.severity === "error" && isLiftable ? liftLines("policy", screen) : []),
    ];
  });
}

export function guardLines({ guard, message, limit, actual, allowed }: GuardFinding, screen: Screen): readonly string[] {
  const { paint } = screen;
  const numbers = [actual === undefined ? "" : `${actual} found`, limit === undefined ? "" : `at most ${limit} allowed`].filter(
    (part) => part !== "",
  );
  const measure = numbers.length === 0 ? "" : `   ${numbers.join(", ")}`;
  const name = paint.bold(visible(guard));
  if (allowed !== undefined)
    return [
      `${paint.yellow("✓")} Guard ${name} lifted: ${visible(JSON.stringify(allowed))}${measure}`,
      ...wrap(message, "    ", screen.width),
    ];
  return [`${paint.red("✗")} Guard ${name} refuses${measure}`, ...wrap(message, "    ", screen.width), ...liftLines(guard, screen)];
}

function liftLines(guard: string, { paint }: Screen): readonly string[] {
  return ["    To lift it, give a reason; it is recorded in the result:", `      ${paint.cyan(`--allow ${visible(guard)}="reason"`)}`];
}
