import { describe, expect, test } from "vitest";
import type { Receiver } from "../../../../src/core/model/settings/notifications.ts";
import { isRouted, titleOf } from "../../../../src/features/controller/alerts/message.ts";
import { alertAccount, alertMessage } from "./messages.ts";

describe("an event is sent", () => {
  const exposed = { event: "exposed", resolves: [], labels: { team: "data" }, receiver: undefined } as const;
  const resolved = { ...exposed, event: "resolved", resolves: ["exposed"] } as const;
  const rows: Readonly<Record<string, readonly [boolean, Parameters<typeof isRouted>[0], Partial<Receiver>]>> = {
    "to a receiver without conditions": [true, exposed, {}],
    "to one that names it": [true, exposed, { on: ["exposed"] }],
    "not to one that names others": [false, exposed, { on: ["drifted"] }],
    "by severity": [true, exposed, { severity: "error" }],
    "not if it is less severe": [false, { ...exposed, event: "drifted" }, { severity: "error" }],
    "to one with a label of the account": [true, exposed, { labels: { team: "data" } }],
    "not to one with another label": [false, exposed, { labels: { team: "data", site: "oslo" } }],
    "whatever the labels are, if it is about no account": [
      true,
      { ...exposed, event: "no-worker", labels: undefined },
      { labels: { team: "data" } },
    ],
    "not to one that names what is resolved alone": [false, resolved, { on: ["exposed"] }],
    "to PagerDuty, which names what is resolved": [true, resolved, { on: ["exposed"], type: "pagerduty" }],
    "not to PagerDuty, which names something else": [false, resolved, { on: ["stale"], type: "pagerduty" }],
    "with the severity of what is resolved": [true, resolved, { severity: "error" }],
    "as resolved, if dimsync has repaired it": [true, { ...resolved, event: "repaired" }, { on: ["exposed", "resolved"] }],
    "not to the receiver that it is about": [false, { ...exposed, event: "undelivered", labels: undefined, receiver: "chat" }, {}],
    "only to one receiver, if it is a test": [false, { ...exposed, event: "test", receiver: "oncall" }, {}],
    "as a test whatever the receiver wants": [true, { ...exposed, event: "test" }, { on: ["stale"], severity: "error" }],
  };
  test.each(Object.entries(rows))("%s", (_name, [isSent, event, receiver]) => {
    expect(isRouted(event, { name: "chat", type: "json", ...receiver })).toBe(isSent);
  });
});

test("the title says what happened, and where", () => {
  const two = { accounts: [alertAccount(), alertAccount({ account: "oslo" })] };
  expect([
    titleOf(alertMessage()),
    titleOf(alertMessage(two)),
    titleOf(alertMessage({ ...two, event: "drifted", isReminder: true })),
    titleOf(alertMessage({ event: "resolved", resolves: ["exposed", "failing", "drifted"] })),
    titleOf(alertMessage({ event: "no-worker", accounts: [] })),
    titleOf(alertMessage({ event: "undelivered", accounts: [], receiver: "chat" })),
  ]).toEqual([
    "2 columns are exposed in prod",
    "4 columns are exposed in 2 accounts of example/config",
    "Still: 2 accounts of example/config differ from their manifests",
    "prod is no longer exposed, failing or different from its manifests",
    "No worker checks the accounts of example/config",
    "The receiver chat did not accept a message within a day",
  ]);
});
