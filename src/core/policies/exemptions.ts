import { matchesEveryName } from "../kinds/patterns/names.ts";
import type { Pointer } from "../model/json/pointer.ts";
import type { PolicyExemption } from "../model/resource.ts";

// An exemption lets data be readable that a policy protects. So it names what it is for, and it ends.

/** Whether it covers what nobody has looked at: every integration and every schema. */
export const isForAll = ({ integration, schema }: PolicyExemption): boolean =>
  [integration, schema].every((name) => name === undefined || matchesEveryName(name));

/** The last day that an exemption can have: the same day a year later. */
export const lastDay = (today: string): string => `${Number(today.slice(0, 4)) + 1}${today.slice(4)}`;

/** Whether an exemption has an effect on a day (YYYY-MM-DD); its last day is `expires`. One that covers everything, or lasts longer than a year, has none. */
export const isValidOn = (exemption: PolicyExemption, day: string): boolean =>
  exemption.expires >= day && exemption.expires <= lastDay(day) && !isForAll(exemption);

/** A violation at a path, and the exemption that lets it. */
export interface Exempt {
  readonly path: Pointer;
  readonly exemption: PolicyExemption;
}
