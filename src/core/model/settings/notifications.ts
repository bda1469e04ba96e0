import type { SecretReference } from "./secret.ts";

/** What the controller notifies of. Those of `conditions` last until they are resolved. */
export const alertEvents = [
  "exposed",
  "drifted",
  "repaired",
  "protection-stopped",
  "failing",
  "stale",
  "no-worker",
  "bundle-refused",
  "account-removed",
  "resolved",
  "undelivered",
] as const;
export type AlertEvent = (typeof alertEvents)[number];

/** Least severe first. */
export const alertSeverities = ["info", "warning", "error"] as const;
export type AlertSeverity = (typeof alertSeverities)[number];

export const receiverTypes = ["json", "slack", "teams", "pagerduty"] as const;

export const weekdays = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;

/** A time that comes back, in which the events of an account wait. */
export interface MaintenanceWindow {
  /** On which it begins. Default: all. */
  readonly days?: readonly (typeof weekdays)[number][];
  /** "22:00". A window that ends before it begins ends on the next day. */
  readonly from: string;
  readonly to: string;
  /** As in the IANA database. Default: UTC. */
  readonly timezone?: string;
  readonly reason?: string;
}

/** Where events are sent. Everything that grants access is a secret. */
export interface Receiver {
  readonly name: string;
  readonly type: (typeof receiverTypes)[number];
  /** Of the webhook. PagerDuty has a default. */
  readonly url?: SecretReference;
  /** The integration key of PagerDuty. */
  readonly key?: SecretReference;
  /** Signs each request; for json only. */
  readonly secret?: SecretReference;
  /** Default: all events. */
  readonly on?: readonly AlertEvent[];
  /** The least severe event that is sent. Default: info. */
  readonly severity?: AlertSeverity;
  /** Labels that the account must have. */
  readonly labels?: Readonly<Record<string, string>>;
}

export interface NotificationSettings {
  readonly receivers: readonly Receiver[];
  /** After this time, what is still not resolved is sent again. */
  readonly remindMs: number;
  /** Events with one cause that follow within this time are one message. */
  readonly groupMs: number;
  /** A URL that is requested as long as accounts are checked, so that its service notices if they are not. */
  readonly heartbeat?: { readonly url: SecretReference; readonly everyMs: number };
}
