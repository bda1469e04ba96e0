import type { Cause } from "../model/plan.ts";
import { visible } from "./visible.ts";

/** "pii-email, manifests/pii.yaml:9", with the reason in brackets where wanted. */
export function causeText(cause: Cause, withReason: boolean): string {
  const place = placeText(cause);
  const rule = cause.rule === undefined ? place : `${visible(cause.rule)}, ${place}`;
  return withReason && cause.reason !== undefined ? `${rule} (${visible(cause.reason)})` : rule;
}

/** "manifests/pii.yaml:9:3", as far as known; "" without a file. */
export function placeText(place: { readonly file?: string; readonly line?: number; readonly column?: number }): string {
  if (place.file === undefined) return "";
  return [visible(place.file), place.line, place.line === undefined ? undefined : place.column]
    .filter((part) => part !== undefined)
    .join(":");
}
