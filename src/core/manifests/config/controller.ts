import { below, type Problem, problemAt, type SourceLocation } from "../../model/problem.ts";
import { type ControllerSettings, defaultKeepMs } from "../../model/settings/config.ts";
import type { NotificationSettings, Receiver } from "../../model/settings/notifications.ts";
import type { ConfigFile, TargetEntry } from "../../model/specs.generated.d.ts";
import type { Code } from "../../model/titles.ts";
import { durationMs } from "../scalars.ts";

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

/** Where the controller sends events; undefined if the config does not say it. `place` is that of the config. */
export function notificationSettings(
  { notify }: Pick<ConfigFile, "notify">,
  place: SourceLocation | undefined,
): { readonly notifications?: NotificationSettings; readonly problems: readonly Problem[] } {
  if (notify === undefined) return { problems: [] };
  const { receivers = [], remind, group, heartbeat, url, format } = notify;
  const problem = (code: Code, message: string, path?: string): Problem =>
    problemAt(below(place, ["notify", ...(path?.split(".") ?? [])]), { code, message });
  const problems: Problem[] = [];
  if (url === undefined && format !== undefined)
    problems.push(problem("E_MISSING_KEY", "format is that of the webhook in url. Add url, or remove format."));
  const duration = (
    name: string,
    value: number | string | undefined,
    [standard, least, most]: readonly [number, number, number],
  ): number => {
    const ms = value === undefined ? standard : (durationMs(value) ?? standard);
    if (ms < least || ms > most)
      problems.push(problem("E_WRONG_VALUE", `${name} must be between ${least / 1000}s and ${most / 1000}s.`, name));
    return ms;
  };
  const everyMs = duration("heartbeat.every", heartbeat?.every, [60_000, 60_000, dayMs]);
  const notifications = {
    receivers,
    remindMs: duration("remind", remind, [dayMs, 60_000, 30 * dayMs]),
    groupMs: duration("group", group, [60_000, 0, 600_000]),
    ...(heartbeat?.url === undefined ? {} : { heartbeat: { url: heartbeat.url, everyMs } }),
  };
  receivers.forEach((receiver, index) => {
    const fault = faultOf(receiver, receivers.slice(0, index));
    if (fault !== undefined) problems.push(problem(fault[0], fault[1], `receivers.${index}.${fault[2]}`));
  });
  const isUsed = [notify.receivers, remind, group, heartbeat].some((member) => member !== undefined);
  return { ...(isUsed ? { notifications } : {}), problems };
}

/** What the schema cannot say, and at which member. */
function faultOf(
  { name, type, key, secret }: Receiver,
  earlier: readonly Receiver[],
): readonly [code: Code, message: string, member: keyof Receiver] | undefined {
  if (earlier.some((other) => other.name === name))
    return ["E_WRONG_VALUE", `Another receiver is named ${JSON.stringify(name)} too. Each needs a name of its own.`, "name"];
  if (type !== "pagerduty" && key !== undefined)
    return [
      "E_UNKNOWN_KEY",
      "Only receivers of type pagerduty have a key. A json receiver can have secret, which signs its requests.",
      "key",
    ];
  if (type !== "json" && secret !== undefined)
    return ["E_UNKNOWN_KEY", "Only receivers of type json have secret, because the others do not check signatures.", "secret"];
  return undefined;
}
