import type { Action, Change, Held } from "../../model/plan.ts";
import { visible } from "../../text/control-characters.ts";
import { counted } from "../../text/counts.ts";
import { joinParts } from "../../text/lists.ts";
import { waitsForText } from "./changes/changes.ts";
import { isAlarm } from "./words.ts";

/** What `--protect-only` does not send of one object. */
export interface ReportHeld {
  /** Raw. */
  readonly address: string;
  /** "update, 3 changes (2 expose)", "waits for Asset/lake"; without control characters. */
  readonly text: string;
  readonly action: Action;
  readonly changes: readonly Change[];
}

export const heldOf = (held: readonly Held[]): readonly ReportHeld[] =>
  held.map(({ address, action = "update", changes, waitsFor }) => ({
    address,
    text: waitsFor === undefined ? joinParts([action, changesText(changes)], ", ") : waitsForText({ waitsFor }, visible),
    action,
    changes,
  }));

function changesText(changes: readonly Change[]): string {
  const exposing = changes.filter(isAlarm).length;
  const note = exposing === 0 ? "" : ` (${exposing} ${exposing === 1 ? "exposes" : "expose"})`;
  return changes.length === 0 ? "" : `${counted(changes.length, "change")}${note}`;
}

/** How to send what is held. */
export const heldNote = "Only changes that protect are sent (--protect-only). To send the others, run plan and apply without the flag.";
