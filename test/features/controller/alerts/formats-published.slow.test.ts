import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { expect, onTestFinished, test } from "vitest";
import type { Receiver } from "../../../../src/core/model/settings/notifications.ts";
import { requestsFor } from "../../../../src/features/controller/alerts/formats.ts";
import type { AlertMessage } from "../../../../src/features/controller/alerts/message.ts";
import { alertAccount, alertEvents, alertMessage } from "./messages.ts";

const bodiesOf = (type: Receiver["type"], message: AlertMessage): readonly unknown[] =>
  requestsFor(message, { name: "r", type }, { secret: "0123456789abcdef0123456789abcdef", now: new Date(0) }).map(({ body }) =>
    JSON.parse(body),
  );

const error = { code: "E_TIMEOUT", message: "No response." };

/** A message of each event, with and without accounts, findings, a link and other optional members. */
const messages: readonly AlertMessage[] = [...alertEvents, "test" as const].flatMap((event) => [
  alertMessage({ event, resolves: event === "resolved" ? ["exposed"] : [], ended: ["0a0a"] }),
  alertMessage({ event, accounts: [], link: undefined, since: null, cause: "", error, receiver: "chat" }),
  alertMessage({
    event,
    isReminder: true,
    reminds: "0a0a",
    accounts: Array.from({ length: 40 }, (_, index) => alertAccount({ account: `shop-${index}`, actor: null, link: undefined, error })),
  }),
]);

const repository = dirname(createRequire(import.meta.url).resolve("../../../../package.json"));

/** What TypeScript says of values that are written as literals, so that members that the type lacks are errors too. */
function typeErrors(imported: string, type: string, values: readonly unknown[]): string {
  const folder = mkdtempSync(join(tmpdir(), "dimsync-types-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const text = values.map((value) => JSON.stringify(value)).join(",\n");
  writeFileSync(
    join(folder, "values.ts"),
    `import type { ${type} } from "${imported}";\nexport const values: readonly ${type}[] = [${text}];\n`,
  );
  const options = {
    strict: true,
    noEmit: true,
    module: "nodenext",
    moduleResolution: "nodenext",
    target: "es2023",
    lib: ["es2023"],
    types: [],
  };
  symlinkSync(join(repository, "node_modules"), join(folder, "node_modules"));
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({ compilerOptions: { ...options, skipLibCheck: true }, files: ["values.ts"] }),
  );
  writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
  const { stdout, stderr, status } = spawnSync(process.execPath, [join(repository, "node_modules/typescript/bin/tsc"), "-p", folder], {
    encoding: "utf8",
  });
  return status === 0 ? "" : stdout + stderr;
}

const memberOf = (value: unknown, name: string): unknown => (value as Readonly<Record<string, unknown>>)[name];

test("messages to Slack have the blocks that Slack publishes", () => {
  const blocks = messages.flatMap((message) => bodiesOf("slack", message)).flatMap((body) => memberOf(body, "blocks"));
  expect(blocks.length).toBeGreaterThan(messages.length);
  expect(typeErrors("@slack/types", "KnownBlock", blocks)).toBe("");
  expect(typeErrors("@slack/types", "KnownBlock", [{ type: "header", text: { type: "mrkdwn", text: "*x*" } }])).toContain("error TS");
  expect(typeErrors("@slack/types", "KnownBlock", [{ type: "divider", color: "red" }])).toContain("error TS");
});

test("messages to Teams have the cards that Microsoft publishes for Teams", () => {
  const cards = messages
    .flatMap((message) => bodiesOf("teams", message))
    .flatMap((body) => memberOf(body, "attachments"))
    .map((attachment) => memberOf(attachment, "content"));
  expect(cards).toHaveLength(messages.length);
  expect(typeErrors("@microsoft/teams.cards", "IAdaptiveCard", cards)).toBe("");
  const wrong = { type: "AdaptiveCard", version: "1.4", body: [{ type: "TextBlock", text: "x", color: "Red" }] };
  expect(typeErrors("@microsoft/teams.cards", "IAdaptiveCard", [wrong])).toContain("error TS");
});

const text = (maxLength: number) => ({ type: "string", minLength: 1, maxLength });
const closed = (required: readonly string[], properties: object) => ({
  ...{ type: "object", additionalProperties: false },
  ...{ required, properties },
});

/** Events API v2, as https://developer.pagerduty.com/docs/send-alert-event describes it: members, types and limits. */
const pagerDutyEvent = {
  ...closed(["routing_key", "event_action"], {
    routing_key: { type: "string", pattern: "^[0-9A-Za-z]{32}$" },
    event_action: { enum: ["trigger", "acknowledge", "resolve"] },
    dedup_key: text(255),
    client: text(1_024),
    client_url: { type: "string", format: "uri" },
    links: { type: "array", items: closed(["href"], { href: { type: "string", format: "uri" }, text: text(1_024) }) },
    images: { type: "array", items: closed(["src"], { src: { type: "string" }, href: { type: "string" }, alt: { type: "string" } }) },
    payload: closed(["summary", "source", "severity"], {
      summary: text(1_024),
      source: text(1_024),
      severity: { enum: ["critical", "error", "warning", "info"] },
      timestamp: { type: "string", format: "date-time" },
      component: text(1_024),
      group: text(1_024),
      class: text(1_024),
      custom_details: { type: "object" },
    }),
  }),
  if: { properties: { event_action: { const: "trigger" } } },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
  then: { required: ["payload"] },
  else: { required: ["dedup_key"] },
};

test("messages to PagerDuty are events of the Events API v2", () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  const validate = ajv.compile(pagerDutyEvent);
  const events = messages.flatMap((message) => bodiesOf("pagerduty", message));
  expect(new Set(events.map((event) => memberOf(event, "event_action")))).toEqual(new Set(["trigger", "resolve"]));
  for (const event of events) expect([event, validate(event) ? [] : validate.errors]).toEqual([event, []]);
  expect(validate({ ...(events[0] as object), severity: "error" })).toBe(false);
});
