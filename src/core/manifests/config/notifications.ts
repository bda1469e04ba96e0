import { below, type Problem, problemAt, type SourceLocation } from "../../model/problem.ts";
import type { NotificationSettings, Receiver } from "../../model/settings/notifications.ts";
import type { Code } from "../../model/titles.ts";
import { durationMs } from "../scalars.ts";
import type { ConfigFile } from "./file.ts";

const day = 86_400_000;

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
  const everyMs = duration("heartbeat.every", heartbeat?.every, [60_000, 60_000, day]);
  const notifications = {
    receivers,
    remindMs: duration("remind", remind, [day, 60_000, 30 * day]),
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
