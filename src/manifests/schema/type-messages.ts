import { own } from "../../model/json/json.ts";
import { toPointer } from "../../model/json/pointer.ts";
import { describeType, describeTypes } from "../../text/labels.ts";
import { alternatives, propertiesOf } from "./lookup.ts";
import type { SchemaError } from "./schema-error.ts";
import type { ErrorAt, SchemaProblem } from "./schema-problem.ts";

/** A value of the wrong type, and how to write the right one. */
export function wrongType({ params }: SchemaError, at: ErrorAt): SchemaProblem | undefined {
  const { pointer, subject, found, partsAt } = at;
  // The error of `enum` names the values.
  if (partsAt(pointer).every((part) => own(part, "enum") !== undefined)) return undefined;
  const types: readonly string[] = [params["type"]].flat().map(String);
  const isSecretAllowed = partsAt(pointer).some((part) => Object.hasOwn(propertiesOf(part), "$secret"));
  const main = `${subject} must be ${describeTypes(types, isSecretAllowed ? "a $secret" : undefined)}, but is ${describeType(found)}.`;
  return {
    ...{ pointer, on: "value", rank: 0, code: "E_WRONG_TYPE" },
    message: [main, typeHint(types, at), mapHint(at)].filter((sentence) => sentence !== "").join(" "),
  };
}

/** How to write a value of one of the types; "" if the sentence before it is enough. */
function typeHint(types: readonly string[], { pointer, found, isReplaced }: ErrorAt): string {
  if (found === null) return "Set a value, or remove the key.";
  if (isReplaced(pointer)) return "The value comes from a variable. Fix it where the variable is set.";
  if (types.includes("string") && (typeof found === "number" || typeof found === "boolean"))
    return "YAML does not read it as a string because it has no quotes. Put it in quotes.";
  if (types.includes("boolean") && typeof found === "string") return booleanHint(found);
  if (isNumber(types) && typeof found === "string" && found.trim() !== "" && Number.isFinite(Number(found))) return "Remove the quotes.";
  if (types.includes("array")) return "Begin each entry with `- ` on its own line, or put the entries in [ ].";
  return "";
}

const isNumber = (types: readonly string[]): boolean => types.includes("integer") || types.includes("number");

function booleanHint(text: string): string {
  const meant = /^(?:y|yes|on|true)$/iu.test(text) ? "true" : /^(?:n|no|off|false)$/iu.test(text) ? "false" : undefined;
  return meant === undefined ? "" : `In YAML 1.2 only true and false are booleans: write ${meant} without quotes.`;
}

/** For a string instead of a map that has one of several keys: the first of them that takes a string. */
function mapHint({ pointer, found, partsAt, mayQuote }: ErrorAt): string {
  if (typeof found !== "string" || !mayQuote(pointer)) return "";
  const parts = partsAt(pointer);
  const ofOne = parts.filter((part) => own(part, "maxProperties") === 1).flatMap((part) => Object.keys(propertiesOf(part)));
  const name = [...alternatives(parts, "oneOf"), ...ofOne].find((candidate) =>
    partsAt(pointer + toPointer([candidate])).some((part) => [own(part, "type")].flat().includes("string")),
  );
  return name === undefined ? "" : `Write \`${name}: ${found}\`.`;
}
