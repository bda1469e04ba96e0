import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

interface Operation {
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>;
}

export const document = JSON.parse(readFileSync(new URL("../../../../schema/controller-api.json", import.meta.url), "utf8")) as {
  readonly paths: Readonly<Record<string, { readonly get: Operation }>>;
};

/**
 * The document with closed objects: clients must ignore members that they do not know, but a test must
 * find members that the document lacks. What `allOf` and `$ref` combine is closed where it is used.
 */
function closed(value: unknown, isPart = false): unknown {
  if (Array.isArray(value)) return value.map((each) => closed(each, isPart));
  if (typeof value !== "object" || value === null) return value;
  const copy = Object.fromEntries(
    Object.entries(value).map(([key, member]: [string, unknown]) => [
      key,
      key === "schemas" ? mapValues(member as object, (schema) => closed(schema, true)) : closed(member, key === "allOf"),
    ]),
  );
  const isClosed = !isPart && copy["additionalProperties"] === undefined && ("properties" in copy || "$ref" in copy);
  return isClosed ? { ...copy, unevaluatedProperties: false } : copy;
}

const mapValues = (map: object, change: (value: unknown) => unknown): object =>
  Object.fromEntries(Object.entries(map).map(([key, value]: [string, unknown]) => [key, change(value)]));

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema(closed(document) as object, "controller");

/** The violations of schema/controller-api.json in a response. */
export function violations(path: string, status: number, type: string, body: string): readonly string[] {
  const template = Object.keys(document.paths).find((each) => new RegExp(`^${each.replaceAll(/\{\w+\}/gu, ".+")}$`, "u").test(path));
  if (template === undefined) return [`${path} is not in the document`];
  const response = document.paths[template]?.get.responses[String(status)];
  if (response === undefined) return [`${path}: status ${status} is not in the document`];
  if (response.content === undefined) return body === "" ? [] : [`${path}: ${status} has no body`];
  if (response.content[type] === undefined) return [`${path}: ${type} is not in the document`];
  const pointer = ["paths", template, "get", "responses", String(status), "content", type, "schema"];
  const fragment = pointer.map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/");
  const validate = ajv.getSchema(`controller#/${fragment}`);
  if (validate === undefined) throw new Error(`schema/controller-api.json has nothing at ${pointer.join(" > ")}.`);
  return validate(JSON.parse(body))
    ? []
    : (validate.errors ?? []).map(({ instancePath, message, params }) => `${path}${instancePath} ${message} ${JSON.stringify(params)}`);
}
