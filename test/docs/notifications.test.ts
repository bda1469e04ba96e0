import { createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { isObject } from "../../src/core/model/json/json.ts";
import { requestsFor } from "../../src/features/controller/alerts/formats.ts";
import { severityOf } from "../../src/features/controller/alerts/message.ts";
import { alertEvents, alertMessage } from "../features/controller/alerts/messages.ts";

const page = readFileSync("docs/notifications.md", "utf8");

/** The first code block in the language. */
const block = (language: string): string => new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "msu").exec(page)?.[1] ?? "";

test("the table of events has all of them, with their severity", () => {
  const rows = [...page.matchAll(/^\| `([a-z-]+)` \| (info|warning|error) \|/gmu)].map(([, event, severity]) => [event, severity]);
  expect(rows).toEqual(expect.arrayContaining(alertEvents.map((event) => [event, severityOf({ event })])));
  expect(rows).toHaveLength(alertEvents.length);
});

/** Names of members, at any depth. */
const shape = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.slice(0, 1).map(shape);
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, name === "labels" ? {} : shape(member)]))
    : typeof value;
};

test("the example of JSON has the members of a message", () => {
  const receiver = { name: "r", type: "json" } as const;
  const [request] = requestsFor(alertMessage(), receiver, { now: new Date() });
  expect(shape(JSON.parse(block("json")))).toEqual(shape(JSON.parse(request?.body ?? "")));
});

test("the code that checks signatures accepts those of dimsync, and no others", () => {
  const code = block("js").replace(/^import .*$/mu, "");
  const isFromDimsync = new Function("createHmac", "timingSafeEqual", `${code}; return isFromDimsync;`)(createHmac, timingSafeEqual);
  const at = (now: Date) => {
    const [request] = requestsFor(alertMessage(), { name: "r", type: "json" }, { secret: "a-secret", now });
    return [request?.headers?.["x-dimsync-signature"], request?.body ?? ""];
  };
  const [header, body] = at(new Date());
  expect(isFromDimsync(header, body, "a-secret")).toBe(true);
  expect(isFromDimsync(header, `${body} `, "a-secret")).toBe(false);
  expect(isFromDimsync(header, body, "another")).toBe(false);
  expect(isFromDimsync(undefined, body, "a-secret")).toBe(false);
  expect(isFromDimsync(...at(new Date(0)), "a-secret")).toBe(false);
});

test("the example of receivers names events", () => {
  const names: readonly string[] = parse(block("yaml")).notify.receivers.flatMap(({ on = [] }: { readonly on?: readonly string[] }) => on);
  expect(alertEvents).toEqual(expect.arrayContaining([...names]));
});
