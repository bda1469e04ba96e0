import { isObject, type JsonValue, own } from "../model/json.ts";
import { isSecretReference } from "../model/secret.ts";
import { didYouMean } from "../model/suggest.ts";
import type { Variables } from "./variables.ts";

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
export function substitute(text: string, variables: Variables): Substituted {
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
