import { expect, test } from "vitest";
import type { MaintenanceWindow } from "../../../../src/core/model/settings/notifications.ts";
import { isInMaintenance } from "../../../../src/features/controller/alerts/silence.ts";

// 2027-01-31 is a Sunday.
const night: MaintenanceWindow = { from: "22:00", to: "02:00" };
const rows: Readonly<Record<string, readonly [boolean, MaintenanceWindow, string]>> = {
  "at its first minute": [true, night, "2027-01-31T22:00:00Z"],
  "not a minute before": [false, night, "2027-01-31T21:59:59Z"],
  "after midnight": [true, night, "2027-02-01T01:59:59Z"],
  "not at its end": [false, night, "2027-02-01T02:00:00Z"],
  "on its day": [true, { ...night, days: ["sun"] }, "2027-01-31T23:00:00Z"],
  "on the day after, if it began on its day": [true, { ...night, days: ["sun"] }, "2027-02-01T01:00:00Z"],
  "not after midnight of its day": [false, { ...night, days: ["sun"] }, "2027-01-31T01:00:00Z"],
  "within a day": [true, { from: "09:00", to: "17:00" }, "2027-01-31T12:00:00Z"],
  "in its time zone": [true, { ...night, timezone: "America/New_York" }, "2027-02-01T04:00:00Z"],
  "not in another one": [false, { ...night, timezone: "America/New_York" }, "2027-01-31T23:00:00Z"],
};

test.each(Object.entries(rows))("maintenance, %s", (_name, [isInside, window, now]) => {
  expect(isInMaintenance([window], new Date(now))).toBe(isInside);
});
