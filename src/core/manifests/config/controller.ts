import { below, type Problem, problemAt, type SourceLocation } from "../../model/problem.ts";
import { type ControllerSettings, defaultKeepMs } from "../../model/settings/config.ts";
import { durationMs } from "../scalars.ts";
import type { TargetEntry } from "./file.ts";

const defaultEveryMs = 900_000;
const shortestEveryMs = 60_000;
const dayMs = 86_400_000;
const longestEveryMs = 7 * dayMs;
const longestKeepMs = 3650 * dayMs;

/** How the controller treats the target; undefined if it has no `controller`. `place` is that of `controller`. */
export function controllerSettings(
  { controller: entry, protected: isProtected = false }: Pick<TargetEntry, "controller" | "protected">,
  place: SourceLocation | undefined,
): { readonly controller?: ControllerSettings; readonly problems: readonly Problem[] } {
  if (entry === undefined) return { problems: [] };
  const { every, mode = "report", labels = {}, maintenance = [], history = {} } = entry;
  const everyMs = every === undefined ? defaultEveryMs : (durationMs(every) ?? defaultEveryMs);
  const keepMs = history.keep === undefined ? defaultKeepMs : (durationMs(history.keep) ?? defaultKeepMs);
  const wrongValue = (path: readonly string[], message: string): Problem =>
    problemAt(below(place, path), { code: "E_WRONG_VALUE", message });
  const isInRange = everyMs >= shortestEveryMs && everyMs <= longestEveryMs;
  return {
    controller: { everyMs, mode, labels, maintenance: maintenance.filter(({ timezone }) => isTimezone(timezone)), keepMs },
    problems: [
      ...maintenance.flatMap(({ timezone }, index) =>
        isTimezone(timezone)
          ? []
          : [
              wrongValue(
                ["maintenance", String(index), "timezone"],
                `There is no time zone ${JSON.stringify(timezone)}. Use a name such as Europe/Berlin, or remove timezone for UTC.`,
              ),
            ],
      ),
      ...(isInRange ? [] : [wrongValue(["every"], everyRange)]),
      ...(keepMs >= dayMs && keepMs <= longestKeepMs
        ? []
        : [wrongValue(["history", "keep"], "history.keep must be between 1d and 3650d.")]),
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

function isTimezone(timezone = "UTC"): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: timezone }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}
