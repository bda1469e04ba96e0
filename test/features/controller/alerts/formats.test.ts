import { describe, expect, test } from "vitest";
import type { Receiver } from "../../../../src/core/model/settings/notifications.ts";
import { requestsFor } from "../../../../src/features/controller/alerts/formats.ts";
import type { AlertMessage } from "../../../../src/features/controller/alerts/message.ts";
import { alertAccount, alertMessage } from "./messages.ts";

const bodiesOf = (type: Receiver["type"], message: AlertMessage, receiver: Partial<Receiver> = {}) =>
  requestsFor(message, { name: "r", type, ...receiver }, { secret: "key", now: new Date(0) }).map(({ body }) => JSON.parse(body));

/** Names that are markup, commands, controls or too long. */
const hostile = [
  "<!channel>",
  "[link](https://evil.example.com)",
  "*bold* `code`",
  "\u202egnp.exe\u0007\n",
  "@everyone",
  "x".repeat(10_000),
].map((name) =>
  alertMessage({
    cause: name,
    source: name,
    accounts: Array.from({ length: 40 }, (_, index) =>
      alertAccount({
        account: `${name}${index}`,
        actor: name,
        findings: [
          { address: `Tag/${name}`, path: `/${name}`, risk: "exposed", cause: name, actor: name, since: "2027-01-31T03:00:00.000Z" },
        ],
      }),
    ),
  }),
);

/** Every member with this name, at any depth. */
const members = (value: unknown, name: string): readonly unknown[] => {
  if (Array.isArray(value)) return value.flatMap((each) => members(each, name));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => [...(key === name ? [member] : []), ...members(member, name)]);
};

test("a message of each type", () => {
  for (const type of ["json", "slack", "teams", "pagerduty"] as const) expect(bodiesOf(type, alertMessage())).toMatchSnapshot(type);
});

describe("names of others are text", () => {
  // https://docs.slack.dev/reference/block-kit/blocks
  test("in Slack, within its limits", () => {
    for (const message of hostile) {
      const [{ text, blocks }] = bodiesOf("slack", message);
      expect(text).not.toMatch(/[<>\p{Cc}\p{Cf}]/u);
      expect(text.length).toBeLessThanOrEqual(3_000);
      expect(blocks[0].text).toMatchObject({ type: "plain_text", emoji: false });
      expect(blocks[0].text.text.length).toBeLessThanOrEqual(150);
      expect(blocks[1].type).toBe("rich_text");
      expect(members(blocks, "type")).not.toContain("mrkdwn");
      expect(JSON.stringify(blocks).length).toBeLessThan(13_000);
    }
  });
  // https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors: 28 KB
  test("in Teams, within its limits", () => {
    for (const message of hostile) {
      const [body] = bodiesOf("teams", message);
      expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(28_000);
      // Text blocks and facts have markup, text runs have none.
      expect(new Set(members(body.attachments, "type"))).toEqual(new Set(["AdaptiveCard", "RichTextBlock", "TextRun", "Action.OpenUrl"]));
      for (const text of members(body, "text")) expect(text).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    }
  });
  // https://developer.pagerduty.com/docs/events-api-v2/trigger-events
  test("in PagerDuty, within its limits", () => {
    for (const message of hostile) {
      const [body] = bodiesOf("pagerduty", message);
      for (const text of [body.payload.summary, body.payload.source, body.payload.group]) expect(text.length).toBeLessThanOrEqual(1_024);
      expect(body.dedup_key.length).toBeLessThanOrEqual(255);
      expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(512 * 1024);
    }
  });
});

describe("PagerDuty", () => {
  const actions = (message: AlertMessage, receiver: Partial<Receiver> = {}) =>
    bodiesOf("pagerduty", message, receiver).map(({ event_action, dedup_key }) => `${event_action} ${dedup_key}`);
  const rows: Readonly<Record<string, readonly [readonly string[], AlertMessage, Partial<Receiver>?]>> = {
    "opens an incident": [["trigger dimsync-5c1d"], alertMessage()],
    "repeats it": [["trigger dimsync-0a0a"], alertMessage({ isReminder: true, reminds: "0a0a" })],
    "ends it": [["resolve dimsync-0a0a"], alertMessage({ event: "resolved", resolves: ["exposed"], ended: ["0a0a"] })],
    "says what dimsync has repaired": [
      ["resolve dimsync-0a0a", "trigger dimsync-5c1d"],
      alertMessage({ event: "repaired", resolves: ["exposed"], ended: ["0a0a"] }),
    ],
    "only ends it, if it does not want to know that": [
      ["resolve dimsync-0a0a"],
      alertMessage({ event: "repaired", resolves: ["exposed"], ended: ["0a0a"] }),
      { on: ["exposed"] },
    ],
    "gets nothing if nothing was open": [[], alertMessage({ event: "resolved", resolves: ["exposed"] })],
  };
  test.each(Object.entries(rows))("%s", (_name, [expected, message, receiver]) => {
    expect(actions(message, receiver)).toEqual(expected);
  });
});
