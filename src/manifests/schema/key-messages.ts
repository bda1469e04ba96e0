import { manifestKindNamed } from "../../kinds/index.ts";
import { isObject, own } from "../../model/json/json.ts";
import { type Pointer, toPointer } from "../../model/json/pointer.ts";
import { codeList, label } from "../../text/labels.ts";
import { nearest } from "../../text/suggest.ts";
import { insteadOfKey } from "../removed.ts";
import { alternatives, propertiesOf, type Schema } from "./lookup.ts";
import type { SchemaError } from "./schema-error.ts";
import type { ErrorAt, ProblemContext, SchemaProblem } from "./schema-problem.ts";

/** A key that the schema does not have. */
export function unknownKey({ instancePath, params }: SchemaError, context: ProblemContext): SchemaProblem {
  const key = String(params["additionalProperty"]);
  const pointer = instancePath + toPointer([key]);
  const cannotWrite = manifestKindNamed(context.kind)?.readOnlyField?.(instancePath, key);
  if (cannotWrite !== undefined) {
    return { pointer, on: "key", rank: 0, code: "E_UNWRITABLE_FIELD", message: cannotWrite };
  }
  const instead = insteadOfKey(context.kind, pointer);
  if (instead !== undefined) {
    const message = `${JSON.stringify(key)} was removed from ${label(instancePath)}. ${instead}`;
    return { pointer, on: "key", rank: 0, code: "E_UNKNOWN_KEY", message };
  }
  const closed = context.partsAt(instancePath).filter((part) => own(part, "additionalProperties") === false);
  const allowed = [...new Set(closed.flatMap((part) => Object.keys(propertiesOf(part))))];
  const longer = allowed.filter((name) => key.length > 2 && name.startsWith(key));
  const suggested = nearest(key, allowed) ?? (longer.length === 1 ? longer[0] : undefined);
  const suggestion = suggested === undefined ? inPlace(key, instancePath, allowed, context) : ` Did you mean ${suggested}?`;
  const merge = key === "<<" ? " Merge keys are YAML 1.1; use an alias for the whole value, or write the members out." : "";
  const known = suggestion === "" && allowed.length > 0 && allowed.length <= 12 ? ` Known here: ${allowed.join(", ")}.` : suggestion;
  const message = `${JSON.stringify(key)} is not a key of ${label(instancePath)}.${merge === "" ? known : merge}`;
  const problem = { pointer, on: "key", rank: 0, code: "E_UNKNOWN_KEY", message } as const;
  return suggested === undefined ? problem : { ...problem, suggested: instancePath + toPointer([suggested]) };
}

/** Where a key belongs that is known one level deeper: `where` of a rule in its `match`. */
function inPlace(key: string, parent: Pointer, siblings: readonly string[], { partsAt }: ProblemContext): string {
  const name = siblings.find((sibling) => partsAt(parent + toPointer([sibling])).some((part) => Object.hasOwn(propertiesOf(part), key)));
  return name === undefined ? "" : ` It belongs in \`${name}\`: ${name}: { ${key}: … }.`;
}

/** A required key that is missing. */
export function missingKey(error: SchemaError, { kind, pointer, subject }: ErrorAt): SchemaProblem | undefined {
  // The keyword itself reports the branches of "exactly one of".
  if (/\/(?:oneOf|anyOf)\//u.test(error.schemaPath)) return undefined;
  const key = String(error.params["missingProperty"]);
  return {
    ...{ pointer, on: "key", rank: 2, code: "E_MISSING_KEY" },
    message: `${subject} lacks \`${key}\`.${missingHint(key, pointer, kind)}`,
    missing: [pointer + toPointer([key])],
  };
}

function missingHint(key: string, pointer: Pointer, kind: string): string {
  if (key === "destination" && pointer === "/spec") return " `create` needs a destination: { asset: NAME } or { id: ID }.";
  if (key === "metadata" && kind !== "Config") return " Every manifest needs a name: metadata: { name: … }.";
  if (key === "set") return " A rule needs set: { enabled: … }, set: { hashed: … } or ignore: true.";
  return "";
}

/** None of the alternatives of `oneOf` or `anyOf`, or several of `oneOf`. */
export function missingChoice({ keyword }: SchemaError, { pointer, subject, found, partsAt }: ErrorAt): SchemaProblem | undefined {
  // A value that is not a map has the wrong type, which is reported already.
  if (!isObject(found)) return undefined;
  const isOne = keyword === "oneOf";
  const names = alternatives(partsAt(pointer), isOne ? "oneOf" : "anyOf");
  const given = names.filter((name) => Object.hasOwn(found, name));
  const rule = `${subject} needs ${isOne ? "exactly" : "at least"} one of ${codeList(names, "and")}`;
  return {
    ...{ pointer, on: "key", rank: 3, code: "E_MISSING_KEY" },
    message: `${rule}, but has ${given.length === 0 ? "none" : codeList(given, "and")}.`,
    missing: names.map((name) => pointer + toPointer([name])),
  };
}

/** Too few or too many keys. */
export function memberCount({ keyword }: SchemaError, { pointer, subject, found, partsAt }: ErrorAt): SchemaProblem {
  const schema = partsAt(pointer).find((part) => Object.hasOwn(part, keyword));
  return {
    ...{ pointer, on: "key", rank: 3, code: "E_WRONG_VALUE" },
    message: countText(subject, found, schema),
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
