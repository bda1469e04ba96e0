import { below, type Problem, problemAt, type SourceLocation } from "../../model/problem.ts";
import type { ControllerSettings } from "../../model/settings/config.ts";
import type { TargetEntry } from "../../model/specs.generated.d.ts";
import { durationMs } from "../scalars.ts";

const defaultEveryMs = 900_000;
const shortestEveryMs = 60_000;
const longestEveryMs = 604_800_000;

/** How the controller treats the target; undefined if it has no `controller`. `place` is that of `controller`. */
export function controllerSettings(
  { controller: entry, protected: isProtected = false }: Pick<TargetEntry, "controller" | "protected">,
  place: SourceLocation | undefined,
): { readonly controller?: ControllerSettings; readonly problems: readonly Problem[] } {
  if (entry === undefined) return { problems: [] };
  const { every, mode = "report", labels = {} } = entry;
  const everyMs = every === undefined ? defaultEveryMs : (durationMs(every) ?? defaultEveryMs);
  const isInRange = everyMs >= shortestEveryMs && everyMs <= longestEveryMs;
  return {
    controller: { everyMs, mode, labels },
    problems: [
      ...(isInRange ? [] : [problemAt(below(place, ["every"]), { code: "E_WRONG_VALUE", message: everyRange })]),
      ...(isProtected && mode !== "report" ? [refusedMode(mode, place)] : []),
    ],
  };
}

const everyRange =
  "every must be between 1m and 7d: each check reads the whole account, and an account that is rarely checked can be exposed for long.";

const refusedMode = (mode: string, place: SourceLocation | undefined): Problem =>
  problemAt(below(place, ["mode"]), {
    code: "W_CONTROLLER_MODE",
    severity: "warning",
    message: `The target is protected, so it only accepts saved plans, and the controller has none: in mode ${mode} each repair is refused with E_PROTECTED. Use mode report, or remove protected: true to let the controller write.`,
  });
