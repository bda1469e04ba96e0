import { FAILSAFE_SCHEMA, loadAll } from "js-yaml";

/** Where js-yaml is stricter: how far flow collections and keys are indented, what letters a text has, keys of several lines, and a quote that the end of the text closes. */
const isStricter = /indentation|non-printable|null byte|implicit key|after a mapping key|within a single quoted scalar/u;

type Shape = string | readonly Shape[] | { readonly [key: string]: Shape };

/** The maps and lists of a value, whatever their scalars are. An alias can name a map that it is in. */
function shapeOf(value: unknown, depth = 0): Shape {
  if (typeof value !== "object" || value === null || depth > 40) return "scalar";
  if (Array.isArray(value)) return value.map((one) => shapeOf(one, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, shapeOf(one, depth + 1)]));
}

/** The shapes of the documents of a text for another reader; undefined if it refuses the text because it is stricter. Throws if it refuses it for another reason. */
export function bySecondReader(text: string): readonly Shape[] | undefined {
  try {
    return shapesOf(loadAll(text, { schema: FAILSAFE_SCHEMA }));
  } catch (error) {
    if (error instanceof Error && isStricter.test(error.message.split("\n", 1)[0] ?? "")) return undefined;
    throw error;
  }
}

/** Documents of one scalar are left out: readers differ in which of them are empty. */
export const shapesOf = (documents: readonly unknown[]): readonly Shape[] =>
  documents.filter((one) => typeof one === "object" && one !== null).map((one) => shapeOf(one));
