import type { Cause, DraftCause } from "./plan.ts";
import { type Locate, placeText } from "./problem.ts";

/** A cause with its file and line instead of its place in a manifest. */
export function locatedCause({ rule, reason, label, place }: DraftCause, locate: Locate): Cause {
  const { file, line } = locate(place);
  return {
    ...(rule === undefined ? {} : { rule }),
    ...(reason === undefined ? {} : { reason }),
    ...(label === undefined ? {} : { label: locatedLabel(label, locate) }),
    file,
    ...(line === undefined ? {} : { line }),
  };
}

/**
 * A label with the text of its source and the reason that is given there: "labels.csv:3: GDPR register 12", or
 * "Classification/personal (manifests/personal.yaml:7)" for names in a manifest.
 */
export function locatedLabel({ name, origin }: NonNullable<DraftCause["label"]>, locate: Locate): NonNullable<Cause["label"]> {
  const { file, line } = locate(origin.place);
  const place = origin.isInManifest ? ` (${placeText({ file, line })})` : "";
  return { name, source: `${origin.text}${place}${origin.reason === undefined ? "" : `: ${origin.reason}`}` };
}
