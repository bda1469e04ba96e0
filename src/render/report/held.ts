import { changeCount } from "../../model/changes.ts";
import type { Action, Held } from "../../model/plan.ts";
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
  readonly held: Held;
}

export const heldOf = (held: readonly Held[]): readonly ReportHeld[] =>
  held.map((one) => {
    const { address, action = "update", waitsFor } = one;
    const text = waitsFor === undefined ? joinParts([action, changesText(one)], ", ") : waitsForText({ waitsFor }, visible);
    return { address, text, action, held: one };
  });

function changesText(held: Held): string {
  const [count, exposing] = [changeCount(held), changeCount(held, isAlarm)];
  const note = exposing === 0 ? "" : ` (${exposing} ${exposing === 1 ? "exposes" : "expose"})`;
  return count === 0 ? "" : `${counted(count, "change")}${note}`;
}

/** How to send what is held. */
export const heldNote = "Only changes that protect are sent (--protect-only). To send the others, run plan and apply without the flag.";
