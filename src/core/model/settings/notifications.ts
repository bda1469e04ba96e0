import type { Receiver, WrittenController } from "../specs.generated.d.ts";
import type { SecretReference } from "./secret.ts";

export type { Receiver } from "../specs.generated.d.ts";

/** What the controller notifies of. */
export type AlertEvent = NonNullable<Receiver["on"]>[number];

/** Least severe first. */
export const alertSeverities = ["info", "warning", "error"] as const;
export type AlertSeverity = (typeof alertSeverities)[number];

export const weekdays = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;

/** A time that comes back, in which the events of an account wait. A window that ends before it begins ends on the next day. */
export type MaintenanceWindow = NonNullable<WrittenController["maintenance"]>[number];

export interface NotificationSettings {
  readonly receivers: readonly Receiver[];
  /** After this time, what is still not resolved is sent again. */
  readonly remindMs: number;
  /** Events with one cause that follow within this time are one message. */
  readonly groupMs: number;
  /** A URL that is requested as long as accounts are checked, so that its service notices if they are not. */
  readonly heartbeat?: { readonly url: SecretReference; readonly everyMs: number };
}
