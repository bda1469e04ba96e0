import { isObject, type JsonValue, own } from "../model/json/json.ts";
import type { ProblemText } from "../model/problem.ts";
import { isSecretReference, whySecretVariable } from "../model/settings/secret.ts";
import { didYouMean } from "../text/suggest.ts";
import type { Variables } from "./config/variables.ts";

/**
 * The result for a string scalar. `isText` if the whole scalar was one reference to a value that
 * came as text.
 */
interface Interpolated {
  readonly value: JsonValue;
  readonly isText: boolean;
  readonly problems: readonly ProblemText[];
  /** The environment variables whose values it contains. */
  readonly environment: readonly string[];
}

const reference = /\$\$\{|\$\{([^}]*)\}|\$\{/gu;
const whole = /^\$\{([^}]*)\}$/u;
const inside = /^(var|env)\.(.+)$/su;

/**
 * `${var.NAME}` and `${env.NAME}` in one scalar. A scalar that is one whole reference keeps the
 * variable's type; `$${` is a literal `${`. A reference with a problem stays as written.
 */
export function interpolate(text: string, variables: Variables): Interpolated {
  const problems: ProblemText[] = [];
  const environment: string[] = [];
  const single = whole.exec(text)?.[1];
  if (single !== undefined) {
    const found = lookUp(single, variables);
    if (!("value" in found)) return { value: text, isText: false, problems: [found], environment };
    return { value: found.value, isText: found.isText, problems, environment: environmentOf(single) };
  }
  const value = text.replaceAll(reference, (match: string, name: string | undefined) => {
    if (match === "$${") return "${";
    const found = name === undefined ? unclosed : lookUp(name, variables);
    if (!("value" in found)) {
      problems.push(found);
      return match;
    }
    environment.push(...environmentOf(name ?? ""));
    if (typeof found.value === "string" || typeof found.value === "number" || typeof found.value === "boolean") return String(found.value);
    problems.push(notText(`\${${name}}`, found.value));
    return match;
  });
  return { value, isText: false, problems, environment };
}

const environmentOf = (expression: string): readonly string[] => (expression.startsWith("env.") ? [expression.slice("env.".length)] : []);

/** The problem of a variable that counts as a secret; `why` is the end of "NAME …". */
export const secretVariable = (name: string, why: string): ProblemText => ({
  code: "E_SECRET_VARIABLE",
  message: `\${env.${name}} is not replaced, because ${name} ${why}, and its value would be visible in plans, in comments and in the account. Write { $secret: { env: ${name} } } if it is a credential of a connection. Otherwise, use a variable with another name.`,
});

const unclosed: ProblemText = {
  code: "E_WRONG_SUBSTITUTION",
  message: `\`\${\` begins a variable, but there is no closing \`}\`. To write a literal \`\${\`, use \`$\${\`.`,
};

function lookUp(expression: string, { byName, env }: Variables): { readonly value: JsonValue; readonly isText: boolean } | ProblemText {
  const [, source, name = ""] = inside.exec(expression) ?? [];
  if (source === "var") {
    const variable = byName.get(name);
    if (variable !== undefined) return variable;
    const sources = `the target's vars, --var ${name}=…, a --var-file, or DIMSYNC_VAR_${name}`;
    return unset(`The variable \${var.${name}} has no value. Set it with ${sources}.${didYouMean(name, byName.keys())}`);
  }
  if (source === "env") {
    const why = whySecretVariable(name);
    if (why !== undefined) return secretVariable(name, why);
    const value = own(env, name);
    if (value !== undefined) return { value, isText: true };
    return unset(
      `The environment variable ${name} is not set. Set it, or use \${var.…} with a default.${didYouMean(name, Object.keys(env))}`,
    );
  }
  return {
    code: "E_WRONG_SUBSTITUTION",
    message: `\${${expression}} is neither \${var.NAME} nor \${env.NAME}. To write a literal \`\${\`, use \`$\${\`.`,
  };
}

const unset = (message: string): ProblemText => ({ code: "E_UNSET_VARIABLE", message });

function notText(written: string, value: JsonValue): ProblemText {
  const what = isSecretReference(value) ? "a secret" : isObject(value) ? "a map" : Array.isArray(value) ? "a list" : "empty";
  const message = `${written} is ${what}, so it can't be part of a string. Use it as the whole value, or use a variable with a string.`;
  return { code: "E_WRONG_TYPE", message };
}
