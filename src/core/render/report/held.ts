import { changeCount } from "../../base/model/changes.ts";
import type { Step } from "../../base/model/plan.ts";
import { counted } from "../../base/text/counts.ts";
import { andMore, joinParts } from "../../base/text/lists.ts";
import { muted, name, type Section } from "../blocks.ts";
import { isAlarm } from "./words.ts";

/** What `--protect-only` does not send. */
export const heldSection = (all: readonly Step[]): Section => ({
  id: "held",
  title: "Held by --protect-only",
  count: all.length,
  part: "work",
  isFolded: true,
  noun: "step",
  entries: all.map((of) => ({
    sign: "-",
    tone: "warn",
    head: [[name(of.address)], [muted(heldText(of))]],
    ...(changeCount(of) === 0
      ? {}
      : {
          changes: {
            of: of,
            title: `Held changes of ${of.address}`,
            isKey: false,
          },
        }),
  })),
  notes: [[heldNote]],
});

/** "update, 3 changes (2 expose)", "waits for Asset/lake" */
const heldText = (held: Step): string =>
  held.waitsFor === undefined ? joinParts([held.verb, changesText(held)], ", ") : `waits for ${andMore(held.waitsFor, "object")}`;

function changesText(held: Step): string {
  const [count, exposing] = [changeCount(held), changeCount(held, isAlarm)];
  const note = exposing === 0 ? "" : ` (${exposing} ${exposing === 1 ? "exposes" : "expose"})`;
  return count === 0 ? "" : `${counted(count, "change")}${note}`;
}

/** How to send what is held. */
export const heldNote = "Only changes that protect are sent (--protect-only). To send the others, run plan and apply without the flag.";
