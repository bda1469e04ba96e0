import type { Arguments, Parameter, Parameters } from "../../cli/tool.ts";
import { DimsyncError } from "../../core/model/errors.ts";
import { own } from "../../core/model/json/json.ts";
import { didYouMean } from "../../core/text/suggest.ts";

/** The JSON Schema of the arguments. */
export function inputSchema(parameters: Parameters) {
  const properties = Object.entries(parameters).map(([name, { type, description, values }]) => [
    name,
    {
      ...(type === "strings" ? { type: "array", items: { type: "string" } } : { type }),
      description,
      ...(values === undefined ? {} : { enum: values }),
    },
  ]);
  const required = Object.keys(parameters).filter((name) => own(parameters, name)?.required);
  return { type: "object" as const, properties: Object.fromEntries(properties), required, additionalProperties: false };
}

/** The arguments of a call, if they match the parameters. Throws E_USAGE. */
export function checkedArguments(parameters: Parameters, given: Readonly<Record<string, unknown>>): Arguments {
  for (const [name, value] of Object.entries(given)) {
    const parameter = own(parameters, name);
    const names = Object.keys(parameters);
    if (parameter === undefined)
      throw usage(`Unknown argument ${JSON.stringify(name)}. Arguments: ${names.join(", ")}.${didYouMean(name, names)}`);
    checkValue(name, value, parameter);
  }
  const missing = Object.keys(parameters).find((name) => own(parameters, name)?.required && given[name] === undefined);
  if (missing !== undefined) throw usage(`The argument ${missing} is missing.`);
  return given as Arguments; // checked above
}

function checkValue(name: string, value: unknown, { type, values }: Parameter): void {
  const isRight = type === "strings" ? Array.isArray(value) && value.every((one) => typeof one === "string") : typeof value === type;
  if (!isRight) throw usage(`The argument ${name} must be ${type === "strings" ? "a list of strings" : `a ${type}`}.`);
  if (values !== undefined && typeof value === "string" && !values.includes(value))
    throw usage(`The argument ${name} must be one of ${values.join(", ")}, not ${JSON.stringify(value)}.${didYouMean(value, values)}`);
}

const usage = (message: string): DimsyncError => new DimsyncError("E_USAGE", message);
