import { isObject, own } from "../../base/model/json/json.ts";
import { atPointer, type Pointer, toPointer } from "../../base/model/json/pointer.ts";
import type { Code } from "../../base/model/titles.ts";
import { codeList, describeType, describeTypes, documentPath } from "../../base/text/describe.ts";
import { didYouMean, nearest } from "../../base/text/suggest.ts";
import { manifestKindNamed } from "../../kinds/index.ts";
import { alternatives, propertiesOf, type Schema } from "./lookup.ts";

/**
 * A schema error as a message. `rank`: of several errors at one location the one with the lowest
 * rank is shown.
 */
export interface SchemaProblem {
  readonly pointer: Pointer;
  readonly on: "key" | "value";
  readonly rank: number;
  readonly code: Code;
  readonly message: string;
  /** The key that was probably meant instead of an unknown one. */
  readonly suggested?: Pointer;
  /** Keys that are missing. */
  readonly missing?: readonly Pointer[];
}

interface ProblemContext {
  readonly kind: string;
  readonly value: unknown;
  /** Whether a value may be quoted: not if it is secret or came from a variable. */
  readonly mayQuote: (pointer: Pointer) => boolean;
  /** Whether a value came from a variable. */
  readonly isReplaced: (pointer: Pointer) => boolean;
  /** The schema of the value at a path. */
  readonly partsAt: (pointer: Pointer) => readonly Schema[];
}

/** Where an error is, with the texts and values that messages need. */
interface ErrorAt extends ProblemContext {
  readonly pointer: Pointer;
  /** The location for a sentence: "`spec.create`", or "The document". */
  readonly subject: string;
  /** The value at the pointer. */
  readonly found: unknown;
}

/** The message for the errors of one JSON Schema keyword; undefined if another error already covers it. */
type ToProblem = (error: SchemaError, at: ErrorAt) => SchemaProblem | undefined;

/** The message for one ajv error; undefined if another error already covers it. */
export function schemaProblem(error: SchemaError, context: ProblemContext): SchemaProblem | undefined {
  // propertyNames reports what is wrong with a name.
  if (error.propertyName !== undefined) return undefined;
  const { instancePath: pointer, keyword } = error;
  const subject = pointer === "" ? "The document" : documentPath(pointer);
  const toProblem = problems.get(keyword) ?? otherKeyword;
  return toProblem(error, { ...context, pointer, subject, found: atPointer(context.value, pointer) });
}

const covered: ToProblem = () => undefined;

/** E_WRONG_VALUE at the pointer of the error. */
const notAllowed =
  (
    messageOf: (at: ErrorAt, error: SchemaError) => string,
    where: Pick<SchemaProblem, "on" | "rank"> = { on: "value", rank: 1 },
  ): ToProblem =>
  (error, at) => ({ ...where, code: "E_WRONG_VALUE", pointer: at.pointer, message: messageOf(at, error) });

const outOfRange = (comparison: string): ToProblem =>
  notAllowed(({ subject }, { params }) => `${subject} must be ${comparison} ${params["limit"]}.`);

/** Too few or too many keys. */
const memberCount = notAllowed(
  ({ subject, found, pointer, partsAt }, { keyword }) => {
    const schema = partsAt(pointer).find((part) => Object.hasOwn(part, keyword));
    return countText(subject, found, schema);
  },
  { on: "key", rank: 3 },
);

/** JSON Schema keyword -> its message. */
const problems: ReadonlyMap<string, ToProblem> = new Map<string, ToProblem>([
  ["type", wrongType],
  ["additionalProperties", unknownKey],
  ["required", missingKey],
  ["oneOf", missingChoice],
  ["anyOf", missingChoice],
  ["const", notAllowed((at, { params }) => oneOfText(at, [params["allowedValue"]]))],
  ["enum", notAllowed((at, { params }) => oneOfText(at, params["allowedValues"]))],
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
  [
    "false schema",
    notAllowed(({ subject }) => `${subject} is for columns only. Add \`column\` to the rule's \`match\`.`, { on: "key", rank: 1 }),
  ],
  ["if", covered],
  ["not", covered],
]);

const otherKeyword = notAllowed(({ subject }, { message }) => `${subject} ${message ?? "is not allowed"}.`, { on: "value", rank: 4 });

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
  [(pattern) => pattern.startsWith("^meta"), "a member of meta, such as meta.classification"],
  [(pattern) => pattern.startsWith("^refs"), "a ref, such as refs/dimsync/prod"],
  [(pattern) => pattern.endsWith("(s|m|h|d)$"), "a number of seconds, or a duration such as 30s, 5m, 2h, 1d"],
];

function wrongPattern({ params }: SchemaError, { subject, pointer, found, mayQuote }: ErrorAt): SchemaProblem {
  const pattern = String(params["pattern"]);
  const quoted = mayQuote(pointer) && typeof found === "string" ? `, but is ${JSON.stringify(found)}` : "";
  const at = { pointer, on: "value", rank: 1 } as const;
  if (pattern === "^[a-z0-9._-]+$") {
    const message = `${subject} may contain only lower-case letters, digits, dots, underscores and hyphens${quoted}. The name is local and never sent to the service.`;
    return { ...at, code: "E_WRONG_VALUE", message };
  }
  const choices = /^\^\(([a-z|]+)\)\$$/u.exec(pattern)?.[1]?.split("|");
  const text = choices === undefined ? patternTexts.find(([isPattern]) => isPattern(pattern))?.[1] : codeList(choices, "or");
  const message = `${subject} must ${text === undefined ? `match ${pattern}` : `be ${text}`}${quoted}.`;
  return { ...at, code: "E_WRONG_VALUE", message };
}

function wrongName({ params }: SchemaError, { pointer }: ErrorAt): SchemaProblem {
  const name = String(params["propertyName"]);
  return {
    pointer: pointer + toPointer([name]),
    on: "key",
    rank: 1,
    code: "E_WRONG_VALUE",
    message: `${JSON.stringify(name)} can't be used as a name here. Use letters, digits, dots, underscores and hyphens. The name of a variable must begin with a letter or an underscore.`,
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
    pointer,
    on: "value",
    rank: 0,
    code: "E_WRONG_TYPE",
    message: [main, typeHint(types, at), mapHint(at)].filter((sentence) => sentence !== "").join(" "),
  };
}

/** How to write a value of one of the types; "" if the sentence before it is enough. */
function typeHint(types: readonly string[], { pointer, found, isReplaced }: ErrorAt): string {
  if (found === null) return "Set a value, or remove the key.";
  if (isReplaced(pointer))
    return typeof found === "string" && (isNumber(types) || types.includes("boolean"))
      ? "The value comes from a variable, and values of --var and DIMSYNC_VAR_* are strings. Put the variable in `vars` of dimsync.yaml or in a --var-file, without quotes."
      : "The value comes from a variable. Fix it where the variable is set.";
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

/** A key that the schema does not have. */
function unknownKey({ instancePath, params }: SchemaError, context: ProblemContext): SchemaProblem {
  const key = String(params["additionalProperty"]);
  const pointer = instancePath + toPointer([key]);
  const cannotWrite = manifestKindNamed(context.kind)?.readOnlyField?.(instancePath, key);
  if (cannotWrite !== undefined) {
    return { pointer, on: "key", rank: 0, code: "E_UNWRITABLE_FIELD", message: cannotWrite };
  }
  const closed = context.partsAt(instancePath).filter((part) => own(part, "additionalProperties") === false);
  const allowed = [...new Set(closed.flatMap((part) => Object.keys(propertiesOf(part))))];
  const longer = allowed.filter((name) => key.length > 2 && name.startsWith(key));
  const suggested = nearest(key, allowed) ?? (longer.length === 1 ? longer[0] : undefined);
  const suggestion = suggested === undefined ? inPlace(key, instancePath, allowed, context) : ` Did you mean ${suggested}?`;
  const merge = key === "<<" ? " Merge keys are YAML 1.1; use an alias for the whole value, or write the members out." : "";
  const known = suggestion === "" && allowed.length > 0 && allowed.length <= 12 ? ` Known here: ${allowed.join(", ")}.` : suggestion;
  const message = `${JSON.stringify(key)} is not a key of ${documentPath(instancePath)}.${merge === "" ? known : merge}`;
  const problem = { pointer, on: "key", rank: 0, code: "E_UNKNOWN_KEY", message } as const;
  return suggested === undefined ? problem : { ...problem, suggested: instancePath + toPointer([suggested]) };
}

/** Where a key belongs that is known one level deeper: `where` of a rule in its `match`. */
function inPlace(key: string, parent: Pointer, siblings: readonly string[], { partsAt }: ProblemContext): string {
  const name = siblings.find((sibling) => partsAt(parent + toPointer([sibling])).some((part) => Object.hasOwn(propertiesOf(part), key)));
  return name === undefined ? "" : ` It belongs in \`${name}\`: ${name}: { ${key}: … }.`;
}

/** A required key that is missing. */
function missingKey(error: SchemaError, { kind, pointer, subject }: ErrorAt): SchemaProblem | undefined {
  // The keyword itself reports the branches of "exactly one of".
  if (/\/(?:oneOf|anyOf)\//u.test(error.schemaPath)) return undefined;
  const key = String(error.params["missingProperty"]);
  return {
    pointer,
    on: "key",
    rank: 2,
    code: "E_MISSING_KEY",
    message: `${subject} lacks \`${key}\`.${missingHint(key, pointer, kind)}`,
    missing: [pointer + toPointer([key])],
  };
}

function missingHint(key: string, pointer: Pointer, kind: string): string {
  if (key === "destination" && pointer === "/spec") return " `create` needs a destination: { asset: NAME } or { id: ID }.";
  if (key === "enabled" && pointer === "/spec/create") return " Set it, or settings: { paused: … } instead.";
  if (key === "metadata" && kind !== "Config") return " Every manifest needs a name: metadata: { name: … }.";
  if (key === "set") return " A rule needs set: { enabled: … }, set: { hashed: … } or ignore: true.";
  return "";
}

/** None of the alternatives of `oneOf` or `anyOf`, or several of `oneOf`. */
function missingChoice({ keyword }: SchemaError, { pointer, subject, found, partsAt }: ErrorAt): SchemaProblem | undefined {
  // A value that is not a map has the wrong type, which is reported already.
  if (!isObject(found)) return undefined;
  const isOne = keyword === "oneOf";
  const names = alternatives(partsAt(pointer), isOne ? "oneOf" : "anyOf");
  const given = names.filter((name) => Object.hasOwn(found, name));
  const rule = `${subject} needs ${isOne ? "exactly" : "at least"} one of ${codeList(names, "and")}`;
  return {
    pointer,
    on: "key",
    rank: 3,
    code: "E_MISSING_KEY",
    message: `${rule}, but has ${given.length === 0 ? "none" : codeList(given, "and")}.`,
    missing: names.map((name) => pointer + toPointer([name])),
  };
}

function countText(subject: string, value: unknown, schema: Schema = {}): string {
  if (isObject(value) && Object.hasOwn(value, "use"))
    return `${subject} uses a RuleSet, so \`use\` must be its only key. Write the other keys in a separate rule.`;
  const names = Object.keys(propertiesOf(schema));
  const exactlyOne = own(schema, "maxProperties") === 1;
  if (isObject(value) && Object.hasOwn(value, "match"))
    return `${subject} asserts nothing. Name one of ${codeList(
      names.filter((name) => name !== "match"),
      "or",
    )}.`;
  return names.length === 0
    ? `${subject} needs at least one key.`
    : `${subject} needs ${exactlyOne ? "exactly" : "at least"} one of ${codeList(names, "and")}.`;
}

/**
 * An error of a validator that ajv compiled, with the members that dimsync uses. Declared here so that
 * the published types do not need ajv.
 */
export interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly schemaPath: string;
  // biome-ignore lint/suspicious/noExplicitAny: ajv's own type; each keyword has other parameters
  readonly params: Record<string, any>;
  readonly propertyName?: string;
  readonly message?: string;
  readonly data?: unknown;
}
