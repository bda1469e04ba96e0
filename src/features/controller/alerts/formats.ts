import { createHmac } from "node:crypto";
import type { AlertSeverity, Receiver } from "../../../core/model/settings/notifications.ts";
import { printableJson, visible } from "../../../core/text/control-characters.ts";
import { moreOf } from "../../../core/text/lists.ts";
import { cutEnd } from "../../../core/text/values.ts";
import { type AlertMessage, factsOf, findingLines, isRouted, severityOf, titleOf } from "./message.ts";

/** A request to a receiver. Headers besides the content type. */
interface AlertRequest {
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface RequestOptions {
  /** The integration key of pagerduty, or what signs json. */
  readonly secret?: string | undefined;
  /** By the database's clock. */
  readonly now: Date;
}

type Format = (message: AlertMessage, receiver: Receiver, options: RequestOptions) => readonly AlertRequest[];

/** The requests that bring the message to the receiver, in their order. None if it has nothing to know. */
export const requestsFor: Format = (message, receiver, options) => formats[receiver.type](message, receiver, options);

const formats: Readonly<Record<Receiver["type"], Format>> = {
  json: (message, _receiver, options) => [signed(printableJson(JSON.stringify(jsonBody(message))), options)],
  slack: (message) => [{ body: JSON.stringify(slackBody(message)) }],
  teams: (message) => [{ body: JSON.stringify(teamsBody(message)) }],
  pagerduty: (message, receiver, { secret = "" }) =>
    pagerDutyEvents(message, receiver).map((event) => ({ body: JSON.stringify({ routing_key: secret, ...event }) })),
};

/** `X-Dimsync-Signature: t=UNIX,v1=HEX`, the HMAC-SHA256 of "UNIX.BODY": the time lets receivers refuse requests that others send again. */
function signed(body: string, { secret, now }: RequestOptions): AlertRequest {
  if (secret === undefined) return { body };
  const time = Math.floor(now.getTime() / 1000);
  const signature = createHmac("sha256", secret).update(`${time}.${body}`).digest("hex");
  return { body, headers: { "x-dimsync-signature": `t=${time},v1=${signature}` } };
}

function jsonBody(message: AlertMessage) {
  const { id, event, at, since, source, cause, resolves, isReminder, accounts, error, receiver, link } = message;
  return {
    formatVersion: "1.0",
    kind: "ControllerNotification",
    id,
    event,
    severity: severityOf(message),
    text: visible(titleOf(message)),
    at,
    since,
    source,
    cause,
    resolves,
    reminder: isReminder,
    accounts,
    error,
    receiver,
    link,
  };
}

// Names can be as long as they like, and receivers refuse long texts.
const lineCharacters = 300;
const shownLines = 10;

const linkText = "Open the status page";

const signs: Readonly<Record<AlertSeverity, string>> = { error: "🔴", warning: "🟠", info: "🟢" };

/** The text of the link, the findings, and the rest of them. */
function linesOf(message: AlertMessage): readonly string[] {
  const { lines, rest } = findingLines(message, shownLines);
  return [...lines.map((line) => cutEnd(visible(line), lineCharacters)), ...(rest > 0 ? [moreOf(rest, "finding")] : [])];
}

/**
 * Blocks of Slack (https://docs.slack.dev/reference/block-kit/blocks): names are elements of type text, in which nothing is markup. Only
 * `text`, which notifications show, has to be escaped.
 */
function slackBody(message: AlertMessage) {
  const title = `${signs[severityOf(message)]} ${visible(titleOf(message))}`;
  const text = (value: string, style?: "bold" | "code") => ({
    type: "text",
    text: value,
    ...(style === undefined ? {} : { style: { [style]: true } }),
  });
  const section = (...elements: readonly object[]) => ({ type: "rich_text_section", elements });
  const facts = factsOf(message).map(([label, value]) =>
    section(text(`${label}: `, "bold"), text(cutEnd(visible(value), lineCharacters)), text("\n")),
  );
  const lines = linesOf(message);
  const list = { type: "rich_text_list", style: "bullet", elements: lines.map((line) => section(text(line, "code"))) };
  const link = message.link === undefined ? [] : [section({ type: "link", url: message.link, text: linkText })];
  const elements = [...facts, ...(lines.length === 0 ? [] : [list]), ...link];
  return {
    text: cutEnd(escapedForSlack(title), 3_000),
    blocks: [
      { type: "header", text: { type: "plain_text", text: cutEnd(title, 150), emoji: false } },
      ...(elements.length === 0 ? [] : [{ type: "rich_text", elements }]),
    ],
  };
}

const escapedForSlack = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const teamsColors: Readonly<Record<AlertSeverity, string>> = { error: "Attention", warning: "Warning", info: "Good" };

/** An adaptive card (https://adaptivecards.io/schemas/adaptive-card.json). Text runs have no markup, other than text blocks. */
function teamsBody(message: AlertMessage) {
  const run = (text: string, more = {}) => ({ type: "TextRun", text, ...more });
  const block = (...inlines: readonly object[]) => ({ type: "RichTextBlock", inlines });
  const title = cutEnd(visible(titleOf(message)), lineCharacters);
  const content = {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    version: "1.4",
    // In markdown, so without names.
    fallbackText: "A notification of dimsync, which this client cannot show.",
    body: [
      block(run(title, { size: "Large", weight: "Bolder", color: teamsColors[severityOf(message)] })),
      ...factsOf(message).map(([label, text]) =>
        block(run(`${label}: `, { weight: "Bolder" }), run(cutEnd(visible(text), lineCharacters))),
      ),
      ...linesOf(message).map((line) => block(run(line, { fontType: "Monospace" }))),
    ],
    ...(message.link === undefined ? {} : { actions: [{ type: "Action.OpenUrl", title: linkText, url: message.link }] }),
  };
  return { type: "message", attachments: [{ contentType: "application/vnd.microsoft.card.adaptive", contentUrl: null, content }] };
}

/** Events that last open an incident, which ends with the message that resolves them (https://developer.pagerduty.com/docs/events-api-v2). */
function pagerDutyEvents(message: AlertMessage, receiver: Receiver): readonly object[] {
  const { ended, event, accounts, link, at, source, cause } = message;
  const resolved = ended.map((id) => ({ event_action: "resolve", dedup_key: dedupKey(id) }));
  const [first] = accounts;
  const isWanted = isRouted({ ...message, resolves: [], labels: first?.labels }, receiver);
  if (event === "resolved" || !isWanted) return resolved;
  const severity = pagerDutySeverities[event] ?? severityOf(message);
  const trigger = {
    event_action: "trigger",
    dedup_key: dedupKey(message.reminds ?? message.id),
    client: "dimsync",
    ...(link === undefined ? {} : { client_url: link, links: [{ href: link, text: linkText }] }),
    payload: {
      summary: cutEnd(visible(titleOf(message)), 1_024),
      severity,
      timestamp: at,
      class: event,
      source: cutEnd(visible(accounts.length === 1 && first !== undefined ? first.account : source), 1_024),
      ...(cause === "" ? {} : { group: cutEnd(visible(cause), 1_024) }),
      custom_details: {
        ...Object.fromEntries(factsOf(message).map(([label, text]) => [label.toLowerCase(), cutEnd(visible(text), lineCharacters)])),
        findings: linesOf(message),
      },
    },
  };
  return [...resolved, trigger];
}

const pagerDutySeverities: Partial<Readonly<Record<AlertMessage["event"], string>>> = { exposed: "critical" };

const dedupKey = (message: string): string => `dimsync-${message}`;
