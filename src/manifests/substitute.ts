import { isObject, type JsonValue, own } from "../model/json.ts";
import { type Pointer, toPointer } from "../model/pointer.ts";
import type { Problem, SourceLocation } from "../model/problem.ts";
import { isSecretReference } from "../model/secret.ts";
import { didYouMean } from "../text/suggest.ts";
import { aliasProblem, tooDeep } from "../yaml/problems.ts";
import type { Variables } from "./config/variables.ts";
import { isSecretMember, isTreeOfNames } from "./secrets/secret-members.ts";

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

const nulCharacter: Omit<Problem, "severity" | "place"> = {
  code: "E_WRONG_VALUE",
  summary: "NUL character",
  message: "This contains a NUL character, which no database stores in a name or string. Remove it.",
};

const numberOutOfRange: Omit<Problem, "severity" | "place"> = {
  code: "E_WRONG_VALUE",
  summary: "Number out of range",
  message: "This number is infinite, not a number, or too large to be kept exactly. Put it in quotes if it is a name or an id.",
};

/** What became of a string scalar. `isText` where the whole scalar was one reference to a value that came as text. */
export interface Substituted {
  readonly value: JsonValue;
  readonly isText: boolean;
  readonly faults: readonly { readonly code: string; readonly summary: string; readonly message: string }[];
}

const reference = /\$\$\{|\$\{([^}]*)\}|\$\{/gu;
const whole = /^\$\{([^}]*)\}$/u;
const inside = /^(var|env)\.(.+)$/su;

/**
 * `${var.NAME}` and `${env.NAME}` in one scalar (product §2.2). A scalar that is one whole reference keeps the variable's type; `$${` is a
 * literal `${`. Where a reference has a fault, it stays as it is written.
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
  message: `\`\${\` begins a substitution, and no \`}\` ends it. Write \`$\${\` where \`\${\` itself is meant.`,
};

function lookUp(expression: string, { byName, env }: Variables): { readonly value: JsonValue; readonly isText: boolean } | Fault {
  const [, source, name = ""] = inside.exec(expression) ?? [];
  if (source === "var") {
    const variable = byName.get(name);
    if (variable !== undefined) return variable;
    const sources = `the target's vars, --var ${name}=…, a --var-file, or DIMSYNC_VAR_${name}`;
    return unset(`The variable \${var.${name}} has no value. Give it one through ${sources}.${didYouMean(name, byName.keys())}`);
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
    message: `\${${expression}} is neither \${var.NAME} nor \${env.NAME}. Write \`$\${\` where \`\${\` itself is meant.`,
  };
}

const unset = (message: string): Fault => ({ code: "E_UNSET_VARIABLE", summary: "Variable without a value", message });

function notText(written: string, value: JsonValue): Fault {
  const what = isSecretReference(value) ? "a secret" : isObject(value) ? "a map" : Array.isArray(value) ? "a list" : "empty";
  const message = `${written} is ${what}, and can't be part of a text. Let it be the whole value, or use a variable that holds text.`;
  return { code: "E_WRONG_TYPE", summary: "Variable of the wrong type", message };
}
