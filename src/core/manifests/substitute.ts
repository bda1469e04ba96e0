import { isObject, type JsonValue } from "../base/model/json/json.ts";
import { type Pointer, toPointer } from "../base/model/json/pointer.ts";
import { type Problem, type ProblemText, problemAt, type SourceLocation } from "../base/model/problem.ts";
import { isSecretReference, isSecretValue } from "../base/model/settings/secret.ts";
import { didYouMean } from "../base/text/suggest.ts";
import { aliasProblem, tooDeep } from "../base/yaml/problems.ts";
import { kindNames } from "../kinds/index.ts";
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

interface EffectiveOptions {
  readonly kind: string | undefined;
  readonly variables: Variables;
  /** Bounds the number of nodes. */
  readonly textLength: number;
  readonly isInert?: boolean;
}

/** One walk through a document, at the node at `path`. */
interface Walk {
  readonly options: EffectiveOptions;
  readonly place: SourceLocation;
  readonly path: (string | number)[];
  readonly ancestors: unknown[];
  readonly problems: Problem[];
  readonly replaced: Set<Pointer>;
  nodesLeft: number;
  /** Whether the walk has ended early, with a problem. */
  exhausted: boolean;
}

/**
 * Replaces variables, and finds what a schema cannot find: literal secrets, numbers that JSON
 * cannot represent, aliases that expand to far more than is written. All in one walk, because a
 * literal schema tree may have a hundred thousand nodes; and without walking such a tree if its
 * text is inert (`isInert`).
 */
export function makeEffective(document: unknown, place: SourceLocation, options: EffectiveOptions): Effective {
  const walk: Walk = {
    options,
    place,
    path: [],
    ancestors: [],
    problems: [],
    replaced: new Set(),
    // Without aliases no text has more nodes than characters.
    nodesLeft: options.textLength + 1_000_000,
    exhausted: false,
  };
  const value = visit(walk, document, undefined);
  const { problems, replaced } = walk;
  return { value, problems, replaced };
}

function report(
  { problems, place, path }: Walk,
  problem: ProblemText,
  pointer = toPointer(path),
  on: SourceLocation["on"] = "value",
): void {
  problems.push(problemAt({ ...place, pointer, on }, problem));
}

function reportSecret(walk: Walk, secret: SecretMember): void {
  if (!secret.isReported) report(walk, literalSecret(secret.name));
  secret.isReported = true;
}

function visit(walk: Walk, value: unknown, secret: SecretMember | undefined): JsonValue {
  const { options, path, ancestors } = walk;
  walk.nodesLeft -= 1;
  if (walk.exhausted || walk.nodesLeft < 0 || path.length > maxDepth) return endEarly(walk, value);
  if (typeof value === "string") return visitText(walk, value, secret);
  // An inert text contains only JSON.
  if (options.isInert === true && isTreeOfNames(options.kind, path)) return value as JsonValue;
  if (typeof value === "number") return visitNumber(walk, value, secret);
  // YAML 1.2 core returns only JSON values: what is neither a list nor a map is a boolean or null here.
  ancestors.push(value);
  const next = Array.isArray(value)
    ? visitList(walk, value, secret)
    : isObject(value)
      ? visitMap(walk, value, secret)
      : typeof value === "boolean"
        ? value
        : null;
  ancestors.pop();
  return next;
}

/** The document is too large or too deep to be visited any further. */
function endEarly(walk: Walk, value: unknown): null {
  const { exhausted, nodesLeft, ancestors, path } = walk;
  if (!exhausted) {
    const { code, message } =
      nodesLeft < 0 ? aliasProblem(0, 0, "too many") : ancestors.includes(value) ? aliasProblem(0, 0, "circular") : tooDeep(0, 0);
    report(walk, { code, message }, toPointer(path.slice(0, 1)), "key");
  }
  walk.exhausted = true;
  return null;
}

function visitText(walk: Walk, text: string, secret: SecretMember | undefined): JsonValue {
  let value: JsonValue = text;
  if (text.includes("\0")) report(walk, nulCharacter);
  if (text.includes("${")) {
    const done = interpolate(text, walk.options.variables);
    const pointer = toPointer(walk.path);
    for (const problem of done.problems) report(walk, problem, pointer);
    walk.replaced.add(pointer);
    const isFilled = done.problems.length === 0 && text.replaceAll("$${", "").includes("${");
    if (isFilled && decidesProtection(walk.options.kind, walk.path)) report(walk, variableNotAllowed, pointer);
    value = done.value;
  }
  if (secret !== undefined && holdsLiteral(value)) reportSecret(walk, secret);
  // A password in a base URL has a message of its own (E_BASE_URL).
  else if (typeof value === "string" && isSecretValue(value) && walk.path.at(-1) !== "baseUrl")
    report(walk, literalSecret(String(walk.path.at(-1)), "form"));
  return value;
}

function visitNumber(walk: Walk, value: number, secret: SecretMember | undefined): number {
  if (secret !== undefined) reportSecret(walk, secret);
  else if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) report(walk, numberOutOfRange);
  return value;
}

function visitList(walk: Walk, list: readonly unknown[], secret: SecretMember | undefined): JsonValue {
  let copy: JsonValue[] | undefined;
  list.forEach((item, index) => {
    walk.path.push(index);
    const next = visit(walk, item, secret);
    walk.path.pop();
    if (copy === undefined && next !== item) copy = list.slice(0, index) as JsonValue[]; // what was visited unchanged is JSON
    copy?.push(next);
  });
  return copy ?? (list as readonly JsonValue[]);
}

function visitMap(walk: Walk, map: Readonly<Record<string, unknown>>, secret: SecretMember | undefined): JsonValue {
  const { path, options } = walk;
  const inReference = isSecretReference(map);
  let copy: Record<string, JsonValue> | undefined;
  for (const key of Object.keys(map)) {
    const member = map[key];
    const inner = inReference
      ? undefined
      : (secret ?? (isSecretMember(options.kind, path, key) ? { name: key, isReported: false } : undefined));
    path.push(key);
    if (key.includes("\0")) report(walk, nulCharacter, toPointer(path), "key");
    if (key === "$secret" && !isObject(member) && holdsLiteral(member)) report(walk, literalSecret("$secret"));
    const next = visit(walk, member, inner);
    path.pop();
    if (next !== member) {
      // A spread keeps every key as an own member, `__proto__` too, so that the assignment replaces it.
      copy ??= { ...map } as Record<string, JsonValue>;
      copy[key] = next;
    }
  }
  return copy ?? (map as Readonly<Record<string, JsonValue>>);
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

function literalSecret(name: string, why: "name" | "form" = "name"): ProblemText {
  const cure = "Write { $secret: { env: NAME } } or { $secret: { file: PATH } } instead";
  return {
    code: "E_LITERAL_SECRET",
    message:
      name === "$secret"
        ? `\`$secret\` must name the source of a secret, but has a value. ${cure}. If the value has been committed, treat it as compromised and rotate it.`
        : `\`${name}\` ${why === "name" ? "is a secret according to its name" : "contains a password or a private key"}, and its value would be in git and in plans. ${cure}. If the value has been committed, treat it as compromised and rotate it.`,
  };
}

const nulCharacter: ProblemText = {
  code: "E_WRONG_VALUE",
  message: "This contains a NUL character, which no database stores in a name or string. Remove it.",
};

const numberOutOfRange: ProblemText = {
  code: "E_WRONG_VALUE",
  message: "This number is infinite, not a number, or too large to be exact. Put it in quotes if it is a name or an id.",
};

// What decides protection is written where it is reviewed. The value of a variable can come from a flag or the environment of one job, so it must not decide
// which columns are readable, or what stops a plan.

/** By kind; "*" is any name or index. */
const protecting: Readonly<Record<string, readonly string[]>> = {
  Config: [
    ...["manifests", "guards", "allow", "ignore", "review"],
    ...["manifests", "guards", "protected", "catalog"].map((member) => `targets/*/${member}`),
  ],
  [kindNames.integration]: ["spec/create/enabled", "lifecycle"],
};

/** Selectors choose manifests by them. */
const ofEveryKind = ["metadata/name", "metadata/labels", "metadata/targets"];

/** Of these kinds, everything in `spec` but the integrations of a SchemaConfig, and text for people. */
const kindsOfRules: ReadonlySet<string> = new Set([kindNames.schemaConfig, kindNames.ruleSet, kindNames.policy, kindNames.classification]);
const freeInRules: ReadonlySet<unknown> = new Set(["integration", "integrations", "message"]);

/** Whether a value decides what is protected, or contains one that does. `path`: from the root of a document of the kind. */
function decidesProtection(kind: string | undefined, path: readonly (string | number)[]): boolean {
  if (kind === undefined) return false;
  const overlaps = (pattern: string): boolean =>
    pattern.split("/").every((part, index) => index >= path.length || part === "*" || part === path[index]);
  const [root, member] = path;
  if (kindsOfRules.has(kind) && root === "spec") return !freeInRules.has(member) && (member === "exemptions" || path.at(-1) !== "reason");
  return (kind !== "Config" && ofEveryKind.some(overlaps)) || protecting[kind]?.some(overlaps) === true;
}

const variableNotAllowed: ProblemText = {
  code: "E_VARIABLE_NOT_ALLOWED",
  message:
    "A variable cannot be used here: this value decides what is protected, and a variable could have another value in the job that applies. Write the value itself. If targets need different values, write a manifest for each of them, with metadata.targets.",
};

/** The result for a string scalar. */
interface Interpolated {
  readonly value: JsonValue;
  readonly problems: readonly ProblemText[];
}

const reference = /\$\$\{|\$\{([^}]*)\}|\$\{/gu;
const whole = /^\$\{([^}]*)\}$/u;
const inside = /^(var|env)\.(.+)$/su;

/**
 * `${var.NAME}` in one scalar. A scalar that is one whole reference keeps the variable's type; `$${`
 * is a literal `${`. A reference with a problem stays as written.
 */
function interpolate(text: string, variables: Variables): Interpolated {
  const problems: ProblemText[] = [];
  const single = whole.exec(text)?.[1];
  if (single !== undefined) {
    const found = lookUp(single, variables);
    if (!("value" in found)) return { value: text, problems: [found] };
    return { value: found.value, problems };
  }
  const value = text.replaceAll(reference, (match: string, name: string | undefined) => {
    if (match === "$${") return "${";
    const found = name === undefined ? unclosed : lookUp(name, variables);
    if (!("value" in found)) {
      problems.push(found);
      return match;
    }
    if (typeof found.value === "string" || typeof found.value === "number" || typeof found.value === "boolean") return String(found.value);
    problems.push(notText(`\${${name}}`, found.value));
    return match;
  });
  return { value, problems };
}

const unclosed: ProblemText = {
  code: "E_WRONG_SUBSTITUTION",
  message: `\`\${\` begins a variable, but there is no closing \`}\`. To write a literal \`\${\`, use \`$\${\`.`,
};

function lookUp(expression: string, variables: Variables): { readonly value: JsonValue } | ProblemText {
  const [, source, name = ""] = inside.exec(expression) ?? [];
  if (source === "env") return fromEnvironment(name);
  if (source === undefined)
    return {
      code: "E_WRONG_SUBSTITUTION",
      message: `\${${expression}} is not \${var.NAME}. To write a literal \`\${\`, use \`$\${\`.`,
    };
  const variable = variables.get(name);
  if (variable !== undefined) return { value: variable };
  const sources = `the target's vars, --var ${name}=…, a --var-file, or DIMSYNC_VAR_${name}`;
  return {
    code: "E_WRONG_SUBSTITUTION",
    message: `The variable \${var.${name}} has no value. Set it with ${sources}.${didYouMean(name, variables.keys())}`,
  };
}

/** The job that plans and the job that applies have different environments, and an author of a branch chooses parts of them. */
const fromEnvironment = (name: string): ProblemText => ({
  code: "E_WRONG_SUBSTITUTION",
  message: `\${env.${name}} is not replaced: environment variables can differ between the job that plans and the job that applies. Write \${var.${name}}, and set it in \`vars\` of dimsync.yaml, with --var ${name}=VALUE or as DIMSYNC_VAR_${name}. For a credential of a connection, write { $secret: { env: ${name} } }.`,
});

function notText(written: string, value: JsonValue): ProblemText {
  const what = isSecretReference(value) ? "a secret" : isObject(value) ? "a map" : Array.isArray(value) ? "a list" : "empty";
  const message = `${written} is ${what}, so it can't be part of a string. Use it as the whole value, or use a variable with a string.`;
  return { code: "E_WRONG_TYPE", message };
}
