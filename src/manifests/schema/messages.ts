import { own } from "../../model/json/json.ts";
import { atPointer, toPointer } from "../../model/json/pointer.ts";
import { codeList, describeType, describeTypes, label } from "../../text/labels.ts";
import { didYouMean } from "../../text/suggest.ts";
import { memberCount, missingChoice, missingKey, unknownKey } from "./key-messages.ts";
import { alternatives, propertiesOf } from "./lookup.ts";
import type { SchemaError } from "./schema-error.ts";
import type { ErrorAt, ProblemContext, SchemaProblem, ToProblem } from "./schema-problem.ts";

/** The message for one ajv error; undefined if another error already covers it. */
export function schemaProblem(error: SchemaError, context: ProblemContext): SchemaProblem | undefined {
  // propertyNames reports what is wrong with a name.
  if (error.propertyName !== undefined) return undefined;
  const { instancePath: pointer, keyword } = error;
  const subject = pointer === "" ? "The document" : label(pointer);
  const toProblem = problems.get(keyword) ?? otherKeyword;
  return toProblem(error, { ...context, pointer, subject, found: atPointer(context.value, pointer) });
}

const covered: ToProblem = () => undefined;

const notAllowed = (messageOf: (at: ErrorAt, params: SchemaError["params"]) => string): ToProblem => {
  const fixed = { on: "value", rank: 1, code: "E_WRONG_VALUE" } as const;
  return ({ params }, at) => ({ ...fixed, pointer: at.pointer, message: messageOf(at, params) });
};

const outOfRange = (comparison: string): ToProblem => notAllowed(({ subject }, { limit }) => `${subject} must be ${comparison} ${limit}.`);

/** JSON Schema keyword -> its message. */
const problems: ReadonlyMap<string, ToProblem> = new Map<string, ToProblem>([
  ["type", wrongType],
  ["additionalProperties", unknownKey],
  ["required", missingKey],
  ["oneOf", missingChoice],
  ["anyOf", missingChoice],
  ["const", notAllowed((at, { allowedValue }) => oneOfText(at, [allowedValue]))],
  ["enum", notAllowed((at, { allowedValues }) => oneOfText(at, allowedValues))],
  ["format", notAllowed(({ subject }) => `${subject} is not a date that exists. Write YYYY-MM-DD.`)],
  ["pattern", wrongPattern],
  ["propertyNames", wrongName],
  ["minLength", notAllowed(({ subject }) => `${subject} is empty. Set a value, or remove the key.`)],
  ["minItems", notAllowed(({ subject }) => `${subject} is an empty list. Add an entry, or remove the key.`)],
  ["minProperties", memberCount],
  ["maxProperties", memberCount],
  ["minimum", outOfRange("at least")],
  ["maximum", outOfRange("at most")],
  ["exclusiveMinimum", outOfRange("more than")],
  ["false schema", neverAllowed],
  ["if", covered],
  ["not", covered],
]);

const otherKeyword: ToProblem = ({ message }, { pointer, subject }) => ({
  ...{ pointer, on: "value", rank: 4, code: "E_WRONG_VALUE" },
  message: `${subject} ${message ?? "is not allowed"}.`,
});

function oneOfText({ subject, found, ...at }: ErrorAt, allowed: readonly unknown[]): string {
  const words = allowed.map(String);
  const canQuote = at.mayQuote(at.pointer) && typeof found !== "object";
  const quoted = canQuote ? `, but is ${JSON.stringify(found)}` : "";
  return `${subject} must be ${codeList(words, "or")}${quoted}.${canQuote ? didYouMean(String(found), words) : ""}`;
}

/** Patterns of the schemas, by a part of their text, and what matches them. */
const patternTexts: readonly (readonly [isPattern: (pattern: string) => boolean, text: string])[] = [
  [(pattern) => pattern.startsWith("^[0-9]{4}"), "a date, YYYY-MM-DD"],
  [(pattern) => pattern.startsWith("^(/"), 'a JSON Pointer: "" or a string that begins with /'],
  [(pattern) => pattern.endsWith("(s|m|h|d)$"), "a number of seconds, or a duration such as 30s, 5m, 2h, 1d"],
];

function wrongPattern({ params }: SchemaError, { subject, pointer, found, mayQuote }: ErrorAt): SchemaProblem {
  const pattern = String(params["pattern"]);
  const quoted = mayQuote(pointer) && typeof found === "string" ? `, but is ${JSON.stringify(found)}` : "";
  const at = { pointer, on: "value", rank: 1 } as const;
  if (pattern === "^[a-z0-9._-]+$") {
    const message = `${subject} may contain only lower-case letters, digits, dots, underscores and hyphens${quoted}. The name is local and never sent to the service.`;
    return { ...at, code: "E_INVALID_NAME", message };
  }
  const text = patternTexts.find(([isPattern]) => isPattern(pattern))?.[1];
  const message = `${subject} must ${text === undefined ? `match ${pattern}` : `be ${text}`}${quoted}.`;
  return { ...at, code: "E_WRONG_VALUE", message };
}

function wrongName({ params }: SchemaError, { pointer }: ErrorAt): SchemaProblem {
  const name = String(params["propertyName"]);
  return {
    pointer: pointer + toPointer([name]),
    ...{ on: "key", rank: 1, code: "E_INVALID_NAME" },
    message: `${JSON.stringify(name)} can't be used as a name here. Use letters, digits, dots, underscores and hyphens. The name of a variable must begin with a letter or an underscore.`,
  };
}

function neverAllowed(_: SchemaError, { subject, pointer }: ErrorAt): SchemaProblem {
  return {
    ...{ pointer, on: "key", rank: 1, code: "E_WRONG_VALUE" },
    message: `${subject} is for columns only. Add \`column\` to the rule's \`match\`.`,
  };
}

/** A value of the wrong type, and how to write the right one. */
function wrongType({ params }: SchemaError, at: ErrorAt): SchemaProblem | undefined {
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
