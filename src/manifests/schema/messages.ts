import { manifestKindNamed } from "../../kinds/index.ts";
import { isObject, own } from "../../model/json.ts";
import { atPointer, type Pointer, toPointer } from "../../model/pointer.ts";
import { codeList, describeType, describeTypes, label } from "../../text/labels.ts";
import { didYouMean, nearest } from "../../text/suggest.ts";
import { alternatives, otherLevel, propertiesOf, type Schema } from "./lookup.ts";
import type { SchemaError } from "./schema-error.ts";

/**
 * A schema error as a message. `rank`: of several errors at one location the one with the lowest
 * rank is shown.
 */
export interface SchemaFault {
  readonly pointer: Pointer;
  readonly on: "key" | "value";
  readonly rank: number;
  readonly code: string;
  readonly summary: string;
  readonly message: string;
  /** The key that was probably meant instead of an unknown one. */
  readonly suggested?: Pointer;
  /** Keys that are missing. */
  readonly missing?: readonly Pointer[];
}

export interface FaultContext {
  readonly kind: string;
  readonly value: unknown;
  /** Whether a value may be quoted: not if it is secret or came from a variable. */
  readonly mayQuote: (pointer: Pointer) => boolean;
  /** Whether a value came from a variable. */
  readonly isReplaced: (pointer: Pointer) => boolean;
  /** The schema of the value at a path. */
  readonly partsAt: (pointer: Pointer) => readonly Schema[];
}

/** The message for one ajv error; undefined if another error already covers it. */
export function schemaFault(error: SchemaError, context: FaultContext): SchemaFault | undefined {
  const { instancePath, keyword, params, schemaPath } = error;
  // propertyNames reports what is wrong with a name.
  if (error.propertyName !== undefined) return undefined;
  const value = atPointer(context.value, instancePath);
  const at = (rank: number, code: string, summary: string, message: string, pointer = instancePath, on: "key" | "value" = "value") => ({
    pointer,
    on,
    rank,
    code,
    summary,
    message,
  });
  const where = label(instancePath);
  const subject = instancePath === "" ? "The document" : where;
  switch (keyword) {
    case "type":
      return at(
        0,
        "E_WRONG_TYPE",
        "Value of the wrong type",
        wrongType(subject, typesOf(params), value, isSecretAllowed(context.partsAt(instancePath)), context.isReplaced(instancePath)) +
          mapHint(error, value, context),
      );
    case "additionalProperties":
      return unknownKey(String(params["additionalProperty"]), error, context);
    case "required":
      // The keyword itself reports the branches of "exactly one of".
      if (/\/(?:oneOf|anyOf)\//u.test(schemaPath)) return undefined;
      return {
        ...at(
          2,
          "E_MISSING_KEY",
          "Key missing",
          `${subject} lacks \`${params["missingProperty"]}\`.${missingHint(error, context)}`,
          instancePath,
          "key",
        ),
        missing: [instancePath + toPointer([String(params["missingProperty"])])],
      };
    case "oneOf":
    case "anyOf":
      // A value that is not a map has the wrong type, which is reported already.
      if (!isObject(value)) return undefined;
      return choiceFault(error, { subject, value, context });
    case "const":
    case "enum": {
      const allowed = keyword === "const" ? [params["allowedValue"]] : listOf(params["allowedValues"]);
      const words = allowed.map(String);
      const quoted = context.mayQuote(instancePath) && typeof value !== "object" ? `, but is ${JSON.stringify(value)}` : "";
      const hint = quoted === "" ? "" : didYouMean(String(value), words);
      return at(1, "E_WRONG_VALUE", "Value not allowed", `${subject} must be ${codeList(words, "or")}${quoted}.${hint}`);
    }
    case "format":
      return at(1, "E_WRONG_VALUE", "Value not allowed", `${subject} is not a date that exists. Write YYYY-MM-DD.`);
    case "pattern":
      return patternFault(subject, instancePath, String(params["pattern"]), value, context, at);
    case "propertyNames":
      return at(
        1,
        "E_INVALID_NAME",
        "Name not allowed",
        nameText(String(params["propertyName"])),
        toPointer([]) + instancePath + toPointer([String(params["propertyName"])]),
        "key",
      );
    case "minLength":
      return at(1, "E_WRONG_VALUE", "Empty text", `${subject} is empty. Set a value, or remove the key.`);
    case "minItems":
      return at(1, "E_WRONG_VALUE", "Empty list", `${subject} is an empty list. Add an entry, or remove the key.`);
    case "minProperties":
    case "maxProperties":
      return at(
        3,
        "E_WRONG_VALUE",
        keyword === "minProperties" ? "Too few members" : "Too many members",
        countText(
          subject,
          value,
          context.partsAt(instancePath).find((part) => Object.hasOwn(part, keyword)),
        ),
        instancePath,
        "key",
      );
    case "minimum":
    case "maximum":
    case "exclusiveMinimum":
      return at(1, "E_WRONG_VALUE", "Number out of range", `${subject} must be ${comparison(keyword)} ${params["limit"]}.`);
    case "false schema":
      return context.kind === "Tests"
        ? at(1, "E_WRONG_VALUE", "Not of this level", otherLevel(subject, instancePath), instancePath, "key")
        : at(
            1,
            "E_WRONG_VALUE",
            "Only for columns",
            `${subject} is for columns only. Add \`column\` to the rule's \`match\`.`,
            instancePath,
            "key",
          );
    case "if":
    case "not":
      return undefined;
    default:
      return at(4, "E_WRONG_VALUE", "Value not allowed", `${subject} ${error.message ?? "is not allowed"}.`);
  }
}

type At = (rank: number, code: string, summary: string, message: string, pointer?: Pointer, on?: "key" | "value") => SchemaFault;

function wrongType(subject: string, types: readonly string[], value: unknown, isSecret: boolean, isReplaced: boolean): string {
  const main = `${subject} must be ${describeTypes(types, isSecret ? "a $secret" : undefined)}, but is ${describeType(value)}.`;
  if (value === null) return `${main} Set a value, or remove the key.`;
  if (isReplaced) return `${main} The value comes from a variable. Fix it where the variable is set.`;
  if (types.includes("string") && (typeof value === "number" || typeof value === "boolean")) {
    return `${main} YAML does not read it as a string because it has no quotes. Put it in quotes.`;
  }
  if (types.includes("boolean") && typeof value === "string") {
    const meant = /^(?:y|yes|on|true)$/iu.test(value) ? "true" : /^(?:n|no|off|false)$/iu.test(value) ? "false" : undefined;
    return meant === undefined ? main : `${main} In YAML 1.2 only true and false are booleans: write ${meant} without quotes.`;
  }
  if (
    (types.includes("integer") || types.includes("number")) &&
    typeof value === "string" &&
    value.trim() !== "" &&
    Number.isFinite(Number(value))
  ) {
    return `${main} Remove the quotes.`;
  }
  if (types.includes("array")) return `${main} Begin each entry with \`- \` on its own line, or put the entries in [ ].`;
  return main;
}

function unknownKey(key: string, { instancePath }: SchemaError, context: FaultContext): SchemaFault {
  const pointer = instancePath + toPointer([key]);
  const cannotWrite = manifestKindNamed(context.kind)?.readOnlyField?.(instancePath, key);
  if (cannotWrite !== undefined) {
    return { pointer, on: "key", rank: 0, code: "E_UNWRITABLE_FIELD", summary: "Field can't be written", message: cannotWrite };
  }
  const closed = context.partsAt(instancePath).filter((part) => own(part, "additionalProperties") === false);
  const allowed = [...new Set(closed.flatMap((part) => Object.keys(propertiesOf(part))))];
  const suggested = nearest(key, allowed);
  const suggestion = suggested === undefined ? inPlace(key, instancePath, allowed, context) : ` Did you mean ${suggested}?`;
  const merge = key === "<<" ? " Merge keys are YAML 1.1; use an alias for the whole value, or write the members out." : "";
  const known = suggestion === "" && allowed.length > 0 && allowed.length <= 12 ? ` Known here: ${allowed.join(", ")}.` : suggestion;
  const message = `${JSON.stringify(key)} is not a key of ${label(instancePath)}.${merge === "" ? known : merge}`;
  const fault = { pointer, on: "key", rank: 0, code: "E_UNKNOWN_KEY", summary: "Unknown key", message } as const;
  return suggested === undefined ? fault : { ...fault, suggested: instancePath + toPointer([suggested]) };
}

/** Where a key belongs that is known one level deeper: `where` of a rule in its `match`. */
function inPlace(key: string, parent: Pointer, siblings: readonly string[], { partsAt }: FaultContext): string {
  const name = siblings.find((sibling) => partsAt(parent + toPointer([sibling])).some((part) => Object.hasOwn(propertiesOf(part), key)));
  return name === undefined ? "" : ` It belongs in \`${name}\`: ${name}: { ${key}: … }.`;
}

function missingHint(error: SchemaError, { kind }: FaultContext): string {
  const missing = error.params["missingProperty"];
  if (missing === "destination" && error.instancePath === "/spec") return " `create` needs a destination: { asset: NAME } or { id: ID }.";
  if (missing === "metadata" && kind !== "Config") return " Every manifest needs a name: metadata: { name: … }.";
  if (missing === "set") return " A rule needs set: { enabled: … }, set: { hashed: … } or ignore: true.";
  return "";
}

function choiceFault(
  { instancePath, keyword }: SchemaError,
  { subject, value, context }: { readonly subject: string; readonly value: unknown; readonly context: FaultContext },
): SchemaFault {
  const names = alternatives(context.partsAt(instancePath), keyword === "oneOf" ? "oneOf" : "anyOf");
  return {
    pointer: instancePath,
    on: "key",
    rank: 3,
    code: "E_MISSING_KEY",
    summary: "Choice missing or double",
    message: oneOfText(subject, keyword, value, names),
    missing: names.map((name) => instancePath + toPointer([name])),
  };
}

/** For a string instead of a map that has one of several keys: the first of them that takes a string. */
function mapHint({ instancePath }: SchemaError, value: unknown, { partsAt, mayQuote }: FaultContext): string {
  if (typeof value !== "string" || !mayQuote(instancePath)) return "";
  const parts = partsAt(instancePath);
  const ofOne = parts.filter((part) => own(part, "maxProperties") === 1).flatMap((part) => Object.keys(propertiesOf(part)));
  const name = [...alternatives(parts, "oneOf"), ...ofOne].find((candidate) =>
    partsAt(instancePath + toPointer([candidate])).some((part) => [own(part, "type")].flat().includes("string")),
  );
  return name === undefined ? "" : ` Write \`${name}: ${value}\`.`;
}

function oneOfText(subject: string, keyword: string, value: unknown, names: readonly string[]): string {
  const given = isObject(value) ? names.filter((name) => Object.hasOwn(value, name)) : [];
  const rule = `${subject} needs ${keyword === "oneOf" ? "exactly" : "at least"} one of ${codeList(names, "and")}`;
  return given.length === 0 ? `${rule}, but has none.` : `${rule}, but has ${codeList(given, "and")}.`;
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
    ? `${subject} needs at least one member.`
    : `${subject} needs ${exactlyOne ? "exactly" : "at least"} one of ${codeList(names, "and")}.`;
}

function patternFault(subject: string, pointer: Pointer, pattern: string, value: unknown, context: FaultContext, at: At): SchemaFault {
  const quoted = context.mayQuote(pointer) && typeof value === "string" ? `, but is ${JSON.stringify(value)}` : "";
  if (pattern === "^[a-z0-9._-]+$") {
    return at(
      1,
      "E_INVALID_NAME",
      "Name not allowed",
      `${subject} may contain only lower-case letters, digits, dots, underscores and hyphens${quoted}. The name is local and never sent to the service.`,
    );
  }
  const wanted = pattern.startsWith("^[0-9]{4}")
    ? "a day, YYYY-MM-DD"
    : pattern.startsWith("^(/")
      ? 'a JSON Pointer: "" or text that begins with /'
      : pattern.endsWith("(s|m|h|d)$")
        ? "a number of seconds, or a duration such as 30s, 5m, 2h, 1d"
        : undefined;
  const message = wanted === undefined ? `${subject} must match ${pattern}${quoted}.` : `${subject} must be ${wanted}${quoted}.`;
  return at(1, "E_WRONG_VALUE", "Value not allowed", message);
}

const nameText = (name: string) =>
  `${JSON.stringify(name)} can't be used as a name here. Use letters, digits, dots, underscores and hyphens. The name of a variable must begin with a letter or an underscore.`;
const comparison = (keyword: string) => (keyword === "minimum" ? "at least" : keyword === "maximum" ? "at most" : "more than");
const typesOf = (params: SchemaError["params"]): readonly string[] =>
  (Array.isArray(params["type"]) ? params["type"] : [params["type"]]).map(String);
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const isSecretAllowed = (parts: readonly Schema[]) => parts.some((part) => Object.hasOwn(propertiesOf(part), "$secret"));
