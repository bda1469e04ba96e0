import type { ControllerMode } from "../../../../core/model/settings/config.ts";
import type { Tone } from "../../../../core/render/blocks.ts";
import { base, type Content, chip, type Html, html } from "../../../../core/render/html/html.ts";
import { timeText } from "../../../../core/render/report/attribution.ts";
import { durationText } from "../../../../core/text/counts.ts";
import type { AccountState, Finding } from "../../views/status.ts";

/** Texts of states, without user text. */
export const stateTexts: Readonly<Record<AccountState, { readonly label: string; readonly tone: Tone; readonly meaning: string }>> = {
  exposed: { label: "exposed", tone: "bad", meaning: "The account protects less than the manifests or a policy require." },
  drifted: { label: "drifted", tone: "warn", meaning: "The account differs from the manifests." },
  failing: { label: "failing", tone: "warn", meaning: "The last run failed, so the current state is not known." },
  stale: { label: "stale", tone: "warn", meaning: "The account was not checked within three intervals." },
  suspended: { label: "suspended", tone: "info", meaning: "Checks are suspended." },
  "in-sync": { label: "in sync", tone: "good", meaning: "The account matches the manifests." },
  pending: { label: "pending", tone: "quiet", meaning: "The account has not been checked yet." },
};

export const stateChip = (state: AccountState): Html => chip(stateTexts[state].label, stateTexts[state].tone);

export const modeTexts: Readonly<Record<ControllerMode, string>> = {
  report: "The controller only reads the account.",
  protect: "The controller sends changes that protect data, within the guards.",
  apply: "The controller sends all changes of the bundle, within the guards.",
};

export const riskTones: Readonly<Record<Finding["risk"], Tone>> = {
  exposed: "bad",
  error: "bad",
  warning: "warn",
  stricter: "good",
  neutral: "quiet",
  info: "quiet",
};

/** "exposed", "manual", "policy: error". */
export const kindText = (kind: Finding["kind"], risk: Finding["risk"]): string =>
  kind === "change" ? risk : kind === "policy" ? `policy: ${risk}` : kind;

/** "4 min ago", "in 3 min", "now", with the time as its title; empty without a time. */
export function ageHtml(iso: string | undefined, now: Date): Html {
  if (iso === undefined) return html``;
  const ms = now.getTime() - Date.parse(iso);
  const text = Math.abs(ms) < 1000 ? "now" : ms > 0 ? `${durationText(ms)} ago` : `in ${durationText(-ms)}`;
  return html`<time datetime=${iso} title=${timeText(iso)}>${text}</time>`;
}

/** A git commit as people write it; empty without one. `dirty`: the project had changes that are not in it. */
export const commitHtml = ({ commit, dirty = false }: { readonly commit?: string; readonly dirty?: boolean }): Html =>
  commit === undefined
    ? html``
    : html`<code title=${commit}>${commit.slice(0, 7)}</code>${dirty && html` <span class="why">with uncommitted changes</span>`}`;

/** Zero is quiet, and left out on a narrow screen, so that other numbers stand out. */
export const numberHtml = (count: number, isAlarm = false): Content =>
  count === 0 ? html`<span class="quiet zero">0</span>` : isAlarm ? html`<strong class="alarm">${count}</strong>` : count;

/** A number and what it counts. `path`: what it links to if it is not 0. */
export function tile(count: number, text: string, { isAlarm = false, path = "" } = {}): Html {
  const content = html`<strong>${count}</strong> <span>${text}</span>`;
  return html`<li class=${isAlarm && count > 0 && "alarm"}>${path === "" || count === 0 ? html`<div>${content}</div>` : link(path, content)}</li>`;
}

export const accountHref = (name: string): string => `/accounts/${encodeURIComponent(name)}`;
/** The accounts that a cause affects. */
export const causeHref = (cause: string): string => `/?cause=${encodeURIComponent(cause)}#accounts`;
export const runHref = (id: string): string => `/runs/${encodeURIComponent(id)}`;
export const bundleHref = (digest: string): string => `/bundles/${encodeURIComponent(digest)}`;

/** `path`: of this page, "/accounts/prod". */
export const link = (path: string, text: Content): Html => html`<a href="${base}${path}">${text}</a>`;

/** A command, with a button that copies it; the button is only there with JavaScript. */
export const commandHtml = (text: string): Html =>
  html`<div class="command"><pre>${text}</pre><button type="button" class="copy">Copy</button></div>`;

/** For a line; the account's page has the whole message. */
export const firstSentence = (text: string): string => /^.*?[.!?](?=\s|$)/su.exec(text)?.[0] ?? text;
