import { isObject, type JsonValue } from "../model/json.ts";
import { type Pointer, toPointer } from "../model/pointer.ts";
import type { Place, Problem } from "../model/problem.ts";
import { isSecretReference } from "../model/secret.ts";
import { isSecretMember, isTreeOfNames } from "./secret-scope.ts";
import { substitute } from "./substitute.ts";
import type { Variables } from "./variables.ts";
import { aliasFault, syntaxFault } from "./yaml-faults.ts";

/** A document with its variables filled in. Parts in which nothing was replaced are the same objects as before. */
export interface Effective {
  readonly value: JsonValue;
  readonly problems: readonly Problem[];
  /** Places that hold a variable's value now. */
  readonly replaced: ReadonlySet<Pointer>;
  /** Those of them that are one whole reference to a value that came as text. */
  readonly texts: ReadonlySet<Pointer>;
}

const maxDepth = 200;
const tooDeep = syntaxFault(0, 0, "RESOURCE_EXHAUSTION");

/** The member with a secret name that holds what is visited; told once, however many literals it holds. */
interface SecretMember {
  readonly name: string;
  isReported: boolean;
}

/**
 * Fills variables in, and finds what no schema can: secrets written out, numbers that JSON can't hold, aliases that stand for far more than
 * is written. One walk, since a literal schema tree may have a hundred thousand nodes; and none through such a tree where its text `isInert`
 * (values.ts). `textLength` bounds the number of nodes.
 */
export function makeEffective(
  document: unknown,
  place: Place,
  options: { readonly kind: string | undefined; readonly variables: Variables; readonly textLength: number; readonly isInert?: boolean },
): Effective {
  const { kind, variables, isInert = false } = options;
  const problems: Problem[] = [];
  const replaced = new Set<Pointer>();
  const texts = new Set<Pointer>();
  const path: (string | number)[] = [];
  const ancestors: unknown[] = [];
  // Without aliases no text has more nodes than characters.
  let nodesLeft = options.textLength + 1_000_000;
  let exhausted = false;

  const report = (problem: Omit<Problem, "severity" | "place">, pointer = toPointer(path), on: Place["on"] = "value") => {
    problems.push({ ...problem, severity: "error", place: { ...place, pointer, on } });
  };

  const reportSecret = (secret: SecretMember) => {
    if (!secret.isReported) report(literalSecret(secret.name));
    secret.isReported = true;
  };

  const visitText = (text: string, secret: SecretMember | undefined): JsonValue => {
    let value: JsonValue = text;
    if (text.includes("${")) {
      const done = substitute(text, variables);
      const pointer = toPointer(path);
      for (const fault of done.faults) report(fault, pointer);
      replaced.add(pointer);
      if (done.isText) texts.add(pointer);
      value = done.value;
    }
    if (secret !== undefined && holdsLiteral(value)) reportSecret(secret);
    return value;
  };

  const visit = (value: unknown, secret: SecretMember | undefined): JsonValue => {
    nodesLeft -= 1;
    if (exhausted || nodesLeft < 0 || path.length > maxDepth) {
      if (!exhausted) {
        const fault = nodesLeft < 0 ? aliasFault(0, 0, "too many") : ancestors.includes(value) ? aliasFault(0, 0, "circular") : tooDeep;
        report({ code: fault.code, summary: fault.summary, message: fault.message }, toPointer(path.slice(0, 1)), "key");
      }
      exhausted = true;
      return null;
    }
    if (typeof value === "string") return visitText(value, secret);
    // An inert text holds nothing but JSON.
    if (isInert && isTreeOfNames(kind, path)) return value as JsonValue;
    if (typeof value === "number") {
      if (secret !== undefined) reportSecret(secret);
      else if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) report(numberOutOfRange);
      return value;
    }
    // Only what JSON knows comes out of YAML 1.2 core: what is neither a list nor a map is true, false or null here.
    ancestors.push(value);
    const next = Array.isArray(value)
      ? visitList(value, secret)
      : isObject(value)
        ? visitMap(value, secret)
        : typeof value === "boolean"
          ? value
          : null;
    ancestors.pop();
    return next;
  };

  const visitList = (list: readonly unknown[], secret: SecretMember | undefined): JsonValue => {
    let copy: JsonValue[] | undefined;
    list.forEach((item, index) => {
      path.push(index);
      const next = visit(item, secret);
      path.pop();
      if (copy === undefined && next !== item) copy = list.slice(0, index) as JsonValue[]; // what was visited unchanged is JSON
      copy?.push(next);
    });
    return copy ?? (list as readonly JsonValue[]);
  };

  const visitMap = (map: Readonly<Record<string, unknown>>, secret: SecretMember | undefined): JsonValue => {
    const inReference = isSecretReference(map);
    let copy: Record<string, JsonValue> | undefined;
    for (const key of Object.keys(map)) {
      const member = map[key];
      const inner = inReference ? undefined : (secret ?? (isSecretMember(kind, path, key) ? { name: key, isReported: false } : undefined));
      path.push(key);
      if (key === "$secret" && !isObject(member) && holdsLiteral(member)) report(literalSecret("$secret"));
      const next = visit(member, inner);
      path.pop();
      if (next !== member) {
        // A spread keeps every key as an own member, `__proto__` too, so that the assignment replaces it.
        copy ??= { ...map } as Record<string, JsonValue>;
        copy[key] = next;
      }
    }
    return copy ?? (map as Readonly<Record<string, JsonValue>>);
  };

  return { value: visit(document, undefined), problems, replaced, texts };
}

/** Text or a number that is not inside a `$secret`. True, false and empty are settings, not secrets. */
function holdsLiteral(value: unknown): boolean {
  if (typeof value === "string" || typeof value === "number") return true;
  if (Array.isArray(value)) return value.some(holdsLiteral);
  return isObject(value) && !isSecretReference(value) && Object.values(value).some(holdsLiteral);
}

function literalSecret(name: string): Omit<Problem, "severity" | "place"> {
  const cure = "Write { $secret: { env: NAME } }, { $secret: { file: PATH } } or { $secret: { exec: [COMMAND] } } instead";
  return {
    code: "E_LITERAL_SECRET",
    summary: "Secret written out",
    message:
      name === "$secret"
        ? `\`$secret\` names where a secret comes from, and here it holds a value. ${cure}. If the value has been committed, it counts as known: change it.`
        : `\`${name}\` is secret by its name, and its value would stand in git and in plans. ${cure}. If the value has been committed, it counts as known: change it.`,
  };
}

const numberOutOfRange: Omit<Problem, "severity" | "place"> = {
  code: "E_WRONG_VALUE",
  summary: "Number out of range",
  message: "This number is infinite, not a number, or too large to be kept exactly. Put it in quotes if it is a name or an id.",
};
