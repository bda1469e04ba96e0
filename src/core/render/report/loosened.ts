import type { Loosened } from "../../model/plan.ts";
import { placeText } from "../../model/problem.ts";
import { joinParts } from "../../text/lists.ts";
import { code, type Entry, name, place, type Section } from "../blocks.ts";

/** What the manifests give up. It stands before everything else. */
export const loosenedSection = (all: readonly Loosened[]): Section => ({
  id: "loosened",
  title: "This pull request also loosens",
  count: all.length,
  part: "decision",
  isVital: true,
  isFirst: true,
  entries: all.map(loosenedEntry),
});

function loosenedEntry(entry: Loosened): Entry {
  const { subject, code: of, message, at, owners = [] } = entry;
  const where = placeText(entry);
  const owned = owners.length === 0 ? "" : `Owners: ${owners.join(", ")}.`;
  return {
    sign: "!",
    tone: "bad",
    head: [[name(subject)], [code(of, "bad")], where === "" ? [] : [place(where), at === "base" ? "at the base" : ""]],
    notes: [[joinParts([message, owned], " ")]],
  };
}
