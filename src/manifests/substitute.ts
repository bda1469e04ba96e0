import { isObject, type JsonValue, own } from "../model/json.ts";
import { type Pointer, toPointer } from "../model/pointer.ts";
import type { Problem, SourceLocation } from "../model/problem.ts";
import { isSecretReference } from "../model/secret.ts";
import { didYouMean } from "../text/suggest.ts";
import { aliasProblem, tooDeep } from "../yaml/problems.ts";
import type { Variables } from "./config/variables.ts";
import { isSecretMember, isTreeOfNames } from "./secrets/secret-members.ts";

/**
 * A document with its variables replaced. Parts without replacements are the same objects as
 * before.
 */
export interface Effective {
  readonly value: JsonValue;
  readonly problems: readonly Problem[];
  /** Locations that have a variable's value now. */
  readonly replaced: ReadonlySet<Pointer>;
  /** Those of `replaced` that are one whole reference to a value that came as text. */
  readonly texts: ReadonlySet<Pointer>;
}

const maxDepth = 200;

/**
 * The member with a secret name that contains the visited value; reported once, however many
 * literals it has.
 */
interface SecretMember {
  readonly name: string;
  isReported: boolean;
}

/**
 * Replaces variables, and finds what a schema cannot find: literal secrets, numbers that JSON
 * cannot represent, aliases that expand to far more than is written. All in one walk, because a
 * literal schema tree may have a hundred thousand nodes; and without walking such a tree if its
 * text is inert (`isInert`). `textLength` bounds the number of nodes.
 */
export function makeEffective(
  document: unknown,
  place: SourceLocation,
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

  const report = (problem: Omit<Problem, "severity" | "place">, pointer = toPointer(path), on: SourceLocation["on"] = "value") => {
    problems.push({ ...problem, severity: "error", place: { ...place, pointer, on } });
  };

  const reportSecret = (secret: SecretMember) => {
    if (!secret.isReported) report(literalSecret(secret.name));
    secret.isReported = true;
  };

  const visitText = (text: string, secret: SecretMember | undefined): JsonValue => {
    let value: JsonValue = text;
    if (text.includes("\0")) report(nulCharacter);
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
        const fault =
          nodesLeft < 0 ? aliasProblem(0, 0, "too many") : ancestors.includes(value) ? aliasProblem(0, 0, "circular") : tooDeep(0);
        report({ code: fault.code, summary: fault.summary, message: fault.message }, toPointer(path.slice(0, 1)), "key");
      }
      exhausted = true;
      return null;
    }
    if (typeof value === "string") return visitText(value, secret);
    // An inert text contains only JSON.
    if (isInert && isTreeOfNames(kind, path)) return value as JsonValue;
    if (typeof value === "number") {
      if (secret !== undefined) reportSecret(secret);
      else if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) report(numberOutOfRange);
      return value;
    }
    // YAML 1.2 core returns only JSON values: what is neither a list nor a map is a boolean or null
    // here.
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
      if (key.includes("\0")) report(nulCharacter, toPointer(path), "key");
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

/**
 * A string or number that is not inside a `$secret`. Booleans and empty values are settings, not
 * secrets.
 */
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
        ? `\`$secret\` must name the source of a secret, but has a value. ${cure}. If the value has been committed, treat it as compromised and rotate it.`
        : `\`${name}\` is a secret according to its name, and its value would be in git and in plans. ${cure}. If the value has been committed, treat it as compromised and rotate it.`,
  };
}

const nulCharacter: Omit<Problem, "severity" | "place"> = {
  code: "E_WRONG_VALUE",
  summary: "NUL character",
  message: "This contains a NUL character, which no database stores in a name or string. Remove it.",
};

const numberOutOfRange: Omit<Problem, "severity" | "place"> = {
  code: "E_WRONG_VALUE",
  summary: "Number out of range",
  message: "This number is infinite, not a number, or too large to be exact. Put it in quotes if it is a name or an id.",
};

/**
 * The result for a string scalar. `isText` if the whole scalar was one reference to a value that
 * came as text.
 */
export interface Substituted {
  readonly value: JsonValue;
  readonly isText: boolean;
  readonly faults: readonly { readonly code: string; readonly summary: string; readonly message: string }[];
}

const reference = /\$\$\{|\$\{([^}]*)\}|\$\{/gu;
const whole = /^\$\{([^}]*)\}$/u;
const inside = /^(var|env)\.(.+)$/su;

/**
 * `${var.NAME}` and `${env.NAME}` in one scalar. A scalar that is one whole reference keeps the
 * variable's type; `$${` is a literal `${`. A reference with a problem stays as written.
 */
function substitute(text: string, variables: Variables): Substituted {
  const faults: Substituted["faults"][number][] = [];
  const single = whole.exec(text)?.[1];
  if (single !== undefined) {
    const found = lookUp(single, variables);
    return "value" in found ? { ...found, faults } : { value: text, isText: false, faults: [found] };
  }
  const value = text.replaceAll(reference, (match: string, name: string | undefined) => {
    if (match === "$${") return "${";
    const found = name === undefined ? unclosed : lookUp(name, variables);
    if (!("value" in found)) {
      faults.push(found);
      return match;
    }
    if (typeof found.value === "string" || typeof found.value === "number" || typeof found.value === "boolean") return String(found.value);
    faults.push(notText(`\${${name}}`, found.value));
    return match;
  });
  return { value, isText: false, faults };
}

type Fault = Substituted["faults"][number];

const unclosed: Fault = {
  code: "E_WRONG_SUBSTITUTION",
  summary: "Substitution not closed",
  message: `\`\${\` begins a variable, but there is no closing \`}\`. To write a literal \`\${\`, use \`$\${\`.`,
};

function lookUp(expression: string, { byName, env }: Variables): { readonly value: JsonValue; readonly isText: boolean } | Fault {
  const [, source, name = ""] = inside.exec(expression) ?? [];
  if (source === "var") {
    const variable = byName.get(name);
    if (variable !== undefined) return variable;
    const sources = `the target's vars, --var ${name}=…, a --var-file, or DIMSYNC_VAR_${name}`;
    return unset(`The variable \${var.${name}} has no value. Set it with ${sources}.${didYouMean(name, byName.keys())}`);
  }
  if (source === "env") {
    const value = own(env, name);
    if (value !== undefined) return { value, isText: true };
    return unset(
      `The environment variable ${name} is not set. Set it, or use \${var.…} with a default.${didYouMean(name, Object.keys(env))}`,
    );
  }
  return {
    code: "E_WRONG_SUBSTITUTION",
    summary: "Unknown substitution",
    message: `\${${expression}} is neither \${var.NAME} nor \${env.NAME}. To write a literal \`\${\`, use \`$\${\`.`,
  };
}

const unset = (message: string): Fault => ({ code: "E_UNSET_VARIABLE", summary: "Variable without a value", message });

function notText(written: string, value: JsonValue): Fault {
  const what = isSecretReference(value) ? "a secret" : isObject(value) ? "a map" : Array.isArray(value) ? "a list" : "empty";
  const message = `${written} is ${what}, so it can't be part of a string. Use it as the whole value, or use a variable with a string.`;
  return { code: "E_WRONG_TYPE", summary: "Variable of the wrong type", message };
}
