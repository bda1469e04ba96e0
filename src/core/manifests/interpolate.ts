import { isObject, type JsonValue } from "../model/json/json.ts";
import type { ProblemText } from "../model/problem.ts";
import { isSecretReference } from "../model/settings/secret.ts";
import { didYouMean } from "../text/suggest.ts";
import type { Variable, Variables } from "./config/variables.ts";

/**
 * The result for a string scalar. `isText` if the whole scalar was one reference to a value that
 * came as text.
 */
interface Interpolated {
  readonly value: JsonValue;
  readonly isText: boolean;
  readonly problems: readonly ProblemText[];
}

const reference = /\$\$\{|\$\{([^}]*)\}|\$\{/gu;
const whole = /^\$\{([^}]*)\}$/u;
const inside = /^(var|env)\.(.+)$/su;

/**
 * `${var.NAME}` in one scalar. A scalar that is one whole reference keeps the variable's type; `$${`
 * is a literal `${`. A reference with a problem stays as written.
 */
export function interpolate(text: string, variables: Variables): Interpolated {
  const problems: ProblemText[] = [];
  const single = whole.exec(text)?.[1];
  if (single !== undefined) {
    const found = lookUp(single, variables);
    if (!("value" in found)) return { value: text, isText: false, problems: [found] };
    return { value: found.value, isText: found.isText, problems };
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
  return { value, isText: false, problems };
}

const unclosed: ProblemText = {
  code: "E_WRONG_SUBSTITUTION",
  message: `\`\${\` begins a variable, but there is no closing \`}\`. To write a literal \`\${\`, use \`$\${\`.`,
};

function lookUp(expression: string, variables: Variables): Variable | ProblemText {
  const [, source, name = ""] = inside.exec(expression) ?? [];
  if (source === "env") return fromEnvironment(name);
  if (source === undefined)
    return {
      code: "E_WRONG_SUBSTITUTION",
      message: `\${${expression}} is not \${var.NAME}. To write a literal \`\${\`, use \`$\${\`.`,
    };
  const variable = variables.get(name);
  if (variable !== undefined) return variable;
  const sources = `the target's vars, --var ${name}=…, a --var-file, or DIMSYNC_VAR_${name}`;
  return {
    code: "E_UNSET_VARIABLE",
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
