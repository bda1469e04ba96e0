import { createHash } from "node:crypto";
import type { HttpRequest, SendOptions } from "../base/http/send.ts";
import { type Address, byText } from "../base/model/address.ts";
import { changeCount, eachChange, firstChange, sizeOf } from "../base/model/changes.ts";
import { policyFindings } from "../base/model/findings.ts";
import { canonicalJson } from "../base/model/json/json.ts";
import type { Pointer } from "../base/model/json/pointer.ts";
import { type Origin, type Plan, readySteps, stepsOf, unmanagedObjects, whyOf } from "../base/model/plan.ts";
import { isLoopback, unlistedHost } from "../base/model/settings/base-url.ts";
import type { NotifySettings } from "../base/model/settings/config.ts";
import type { Secret } from "../base/model/settings/secret.ts";
import { counted, durationText } from "../base/text/counts.ts";
import { joinParts, moreOf } from "../base/text/lists.ts";
import { spaced, wholePath } from "../base/text/paths.ts";
import { timeText, unmanagedCounts } from "../render/index.ts";
import { differencesOf, type NamedDifference } from "./differences.ts";

/** Of a webhook: its URL is a secret, because whoever has it can post to the channel. */
interface WebhookOptions extends Pick<SendOptions, "env" | "signal"> {
  /** Default: 10 s. */
  readonly timeoutMs?: number;
}

/** How requests to webhooks begin. */
export const jsonHeaders = { "content-type": "application/json; charset=utf-8", "user-agent": "dimsync" };

/**
 * Sends a request once, without following redirects. Returns why the webhook did not accept it, as a clause without any part of its URL;
 * undefined if it did. Only https, or http on loopback. Throws the signal's reason, and E_PROXY.
 */
export async function callWebhook(
  secret: Secret,
  requestTo: (url: URL) => Omit<HttpRequest, "url">,
  { timeoutMs = 10_000, ...options }: WebhookOptions,
): Promise<string | undefined> {
  const url = webhookUrl(secret.reveal());
  if (typeof url === "string") return url;
  const allowed = unlistedHost(url.href, options.env);
  if (allowed !== undefined) return `its host is not in ${allowed}, so nothing was sent; add it to the variable where dimsync runs`;
  const { sendRequest } = await import("../base/http/send.ts");
  const response = await sendRequest({ ...requestTo(url), url }, { timeoutMs, ...options, maxBodyBytes: 0 });
  if ("failure" in response) return `it could not be reached (${response.failure})`;
  if (response.status >= 300 && response.status < 400)
    return `it responded with status ${response.status}, a redirect, which dimsync does not follow; use the final URL`;
  return response.status >= 200 && response.status < 300 ? undefined : `it responded with status ${response.status}`;
}

/** The URL, or why it cannot be used. */
function webhookUrl(text: string): URL | string {
  if (!URL.canParse(text)) return "its secret is not a URL";
  const url = new URL(text);
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname))
    ? url
    : "its URL must begin with https:// (http is only allowed on loopback)";
}

/** A difference that the controller reverted. */
interface Reverted extends Pick<NamedDifference, "address" | "path" | "actor" | "at" | "event"> {
  /** If no event says when it was made: the last check that did not find it. */
  readonly after?: string;
  /** ISO 8601. */
  readonly doneAt: string;
}

interface NotificationInput {
  readonly target: string;
  /** Absent if the account could not be read. */
  readonly report?: Plan | undefined;
  /** The fingerprint of the previous report, if there was one. */
  readonly previous?: string | undefined;
  /** Why the check failed. */
  readonly error?: string | undefined;
  readonly repairs?: readonly Reverted[];
}

const maxLines = 10;
const maxSteps = 50;

/** A message for a webhook. */
export interface Notification {
  /** In the markup of Slack, the only member that is posted there. */
  readonly text: string;
  readonly [data: string]: unknown;
}

/** The body to post. */
export const notificationBody = (message: Notification, format: NonNullable<NotifySettings["format"]>): string =>
  JSON.stringify(format === "slack" ? { text: message.text } : message);

/** It contains no values from the account. */
export function notification({ target, report, previous, error, repairs }: NotificationInput): Notification {
  const lines = [
    ...(error === undefined ? [] : [`*The check of ${plain(target)} failed*: ${plain(error, 500)}`]),
    ...(report === undefined ? [] : driftLines(report)),
    ...(repairs ?? []).map((one) => `• repaired: ${plain(repairText(one), 500)}`),
  ];
  const of = { formatVersion: "1.0", kind: "DriftNotification", text: lines.join("\n"), target, error, repairs };
  if (report === undefined) return of;
  const { at, fingerprint, counts, origins, exit, byHand } = driftSummary(report);
  return {
    ...of,
    at,
    account: report.account,
    fingerprint,
    ...(previous === undefined ? {} : { previousFingerprint: previous }),
    exit,
    counts,
    origins,
    byHand: byHand.slice(0, maxSteps),
  };
}

/** "Schemas/Shop public.users.email hashed, changed by dana@example.com, readable for 12 min". */
function repairText({ address, path, actor, event = "", at, after, doneAt }: Reverted): string {
  const since = at ?? after;
  const most = at === undefined ? "at most " : "";
  const long = since === undefined ? "" : `readable for ${most}${durationText(Date.parse(doneAt) - Date.parse(since))}`;
  return joinParts([`${address}${shownPath(path)}`, actor === undefined ? event : `changed by ${actor}`, long], ", ");
}

function driftLines(report: Plan): readonly string[] {
  const { counts, exit } = driftSummary(report);
  const differences = differencesOf(report);
  const lines = differences.map(lineOf);
  const events = differences.map(({ event = "" }) => event);
  const rest = lines.length - maxLines;
  return [
    `*${!report.complete ? "Incomplete drift report" : exit === 0 ? "No drift" : "Drift"} in ${plain(report.target)}* (${plain(report.account)})`,
    countsText(counts),
    ...lines.slice(0, maxLines),
    ...(rest > 0 ? [`… ${moreOf(rest, "difference")}`] : []),
    ...[...new Set(events)]
      .filter((text) => text !== "")
      .slice(0, maxLines)
      .map((text) => plain(text)),
  ];
}

/** "2 differences, 1 exposed, 1 by hand". */
function countsText({ differences, exposed, byHand, policy, blocked }: ReturnType<typeof driftSummary>["counts"]): string {
  const of = [
    [differences, counted(differences, "difference")],
    [exposed, `${exposed} exposed`],
    [byHand, `${byHand} by hand`],
    [policy, counted(policy, "policy finding")],
    [blocked, `${blocked} not compared`],
  ] as const;
  return joinParts(
    of.map(([count, text]) => (count === 0 ? "" : text)),
    ", ",
  );
}

function lineOf({ address, what, isExposed, origin, actor, at = "" }: NamedDifference): string {
  const who = joinParts([origin === "conflict" ? "conflict" : "", actor === undefined ? "" : `${actor}, ${timeText(at)}`], "; ");
  return `• ${isExposed ? ":warning: " : ""}${code(address)} ${plain(what, 300)}${who === "" ? "" : ` (${plain(who)})`}`;
}

/** " public.users.email hashed". */
const shownPath = (path: string): string => (path === "" ? "" : ` ${wholePath(path)}`);

const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
/** Text of the account in the markup of Slack. */
const plain = (text: string, most = 200): string =>
  text.slice(0, most).replaceAll(unseen, "?").replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const code = (text: string): string => `\`${plain(text).replaceAll("`", "'")}\``;

/** A report in a few figures: counts, a fingerprint and the open steps by hand, but no values from the account. */
interface DriftSummary {
  /** ISO 8601: when the report was created. */
  readonly at: string;
  readonly target: string;
  readonly fingerprint: string;
  readonly exit: number;
  readonly counts: {
    /** Leaves that a request could fix, and missing objects. */
    readonly differences: number;
    /** Leaves that are less protected than declared, and what was kept hashed or disabled and cannot be shown to be so. */
    readonly exposed: number;
    readonly byHand: number;
    readonly blocked: number;
    readonly policy: number;
    /** Integrations and tags that no manifest covers. */
    readonly unmanaged: number;
    /** Columns of managed integrations that nothing covers. */
    readonly unmanagedColumns: number;
  };
  /** Differences per origin, steps by hand included. */
  readonly origins: Readonly<Record<Origin, number>>;
  readonly byHand: readonly { readonly id: string; readonly address: Address; readonly path: Pointer; readonly instruction: string }[];
}

export function driftSummary(report: Plan): DriftSummary {
  const items = readySteps(report).filter(({ verb }) => verb !== "bind");
  const byHand = stepsOf(report, "byHand");
  const origins: Record<Origin, number> = { config: 0, drift: 0, new: 0, conflict: 0, unknown: 0 };
  for (const step of [...items, ...byHand]) for (const entry of step.changes) origins[entry.origin ?? "unknown"] += sizeOf(entry);
  return {
    at: report.createdAt,
    target: report.target,
    fingerprint: fingerprintOf(report),
    exit: report.exit.code,
    counts: {
      differences: items.reduce((sum, item) => sum + (item.verb === "create" ? 1 : Math.max(1, changeCount(item))), 0),
      exposed: (report.counts.exposed ?? 0) + byHand.filter(({ obligation }) => obligation === true).length,
      byHand: byHand.length,
      blocked: stepsOf(report, "blocked").length,
      policy: policyFindings(report).length,
      unmanaged: unmanagedCounts(report.unmanaged).objects,
      unmanagedColumns: unmanagedCounts(report.unmanaged).columns,
    },
    origins,
    byHand: byHand.map((step) => ({
      id: step.id,
      address: step.address,
      path: firstChange(step).path,
      instruction: spaced(whyOf(step).message, whyOf(step).command ?? ""),
    })),
  };
}

/**
 * "sha256:…" of the differences: addresses, paths and values, in any order. Times, attribution and
 * the number of unmanaged columns do not count, because sources add columns all the time.
 */
function fingerprintOf(report: Plan): string {
  const facts = [
    ...readySteps(report)
      .filter(({ verb }) => verb !== "bind")
      .flatMap((item) => [
        ["step", item.address, item.verb],
        ...Array.from(eachChange(item), ({ path, before, after }) => ["change", item.address, path, before ?? null, after ?? null]),
      ]),
    ...stepsOf(report, "byHand").map((step) => ["byHand", step.id, firstChange(step).after ?? null, firstChange(step).before ?? null]),
    ...stepsOf(report, "blocked").map(({ address, why }) => ["blocked", address, why?.code ?? ""]),
    ...stepsOf(report, "waits").map(({ address }) => ["waits", address]),
    ...[...unmanagedObjects(report.unmanaged).values()].flat().map(({ id }) => ["unmanaged", id]),
    ...policyFindings(report).map(({ rule, severity, address, path }) => ["policy", rule, severity, address, path]),
    ["complete", report.complete],
  ];
  const hash = createHash("sha256");
  for (const fact of facts.map((each) => canonicalJson(each)).sort(byText)) hash.update(fact).update("\n");
  return `sha256:${hash.digest("hex")}`;
}
