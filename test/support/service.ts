import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { type EmbeddedOptions, type EmbeddedService, type Exchange, startEmbeddedService } from "../../src/embedded/index.ts";
import { asObserved } from "./observed-openapi.ts";

/** An embedded service that checks every exchange against schema/openapi.json, or with `observed` against what the public descriptions make of it. */
export interface TestService extends EmbeddedService {
  /** Violations of the interface so far; `close` throws them. */
  readonly violations: string[];
}

export interface TestServiceOptions extends EmbeddedOptions {
  /** The test runs `dimsync doctor`, the only command that may send GET /v1/assets/{id} without `service.extended`. */
  readonly isDoctor?: boolean;
}

/**
 * Starts the embedded service for a test, with the profile of its options. Requests, and responses without a fault, must match
 * schema/openapi.json; `close` throws an Error with all violations. Use `startEmbeddedService` if a
 * test sends invalid requests on purpose.
 */
export async function startService({ isDoctor = false, ...options }: TestServiceOptions = {}): Promise<TestService> {
  const violations: string[] = [];
  const isProbe = ({ method, path }: Exchange): boolean => isDoctor && method === "GET" && /^\/v1\/assets\/[^/]+$/u.test(path);
  const service = await startEmbeddedService({
    ...options,
    onExchange: (exchange) => {
      if (!isProbe(exchange)) violations.push(...violationsOf(exchange, options));
      options.onExchange?.(exchange);
    },
  });
  return {
    ...service,
    violations,
    close: async () => {
      await service.close();
      if (violations.length > 0) throw new Error(`Not as in schema/openapi.json:\n${violations.join("\n")}`);
    },
  };
}

/** How the service shows schemas: in a form of its interface document, or as its public descriptions show it, with all that they add. */
export const serviceForms = ["camel", "snake", "observed"] as const;
export type ServiceForm = (typeof serviceForms)[number];

export const inForm = (form: ServiceForm): EmbeddedOptions => (form === "observed" ? { observed: true } : { schemaForm: form });

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly style?: string;
}

interface Content {
  readonly content?: Readonly<Record<string, unknown>>;
}

interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

// The file belongs to the project; an invalid one would fail every test.
const document = JSON.parse(readFileSync(new URL("../../schema/openapi.json", import.meta.url), "utf8")) as OpenApi;
const documents = { openapi: document, observed: asObserved({ ...document }) as unknown as OpenApi };
const ajv = new Ajv2020({ strict: false, allErrors: false, ownProperties: true });
// The package is CommonJS: under Node's rules its function is default.default, but its types have
// only one default.
addFormats.default(ajv);
ajv.addSchema(documents.openapi, "openapi");
ajv.addSchema(documents.observed, "observed");

const json = "application/json";

/**
 * The violations of schema/openapi.json in an exchange, one sentence each. Ignores responses of
 * faults.
 */
export function violationsOf(
  exchange: Exchange,
  { observed = false, extended = observed }: Pick<EmbeddedOptions, "observed" | "extended"> = {},
): readonly string[] {
  const { method, path } = exchange;
  const said = (what: string): string => `${method} ${path}: ${what}`;
  const described = operationOf(method.toLowerCase(), path, observed ? "observed" : "openapi");
  const found = described ?? (extended ? operationOf(method.toLowerCase(), path, "observed") : undefined);
  if (found === undefined) return [said("the interface has no such call")];
  return [...queryViolations(exchange, found), ...requestViolations(exchange, found), ...answerViolations(exchange, found)].map(said);
}

/** Whether the interface document has the request. */
export const isInInterface = ({ method, path }: Exchange): boolean => operationOf(method.toLowerCase(), path, "openapi") !== undefined;

interface Found {
  readonly operation: Operation;
  readonly description: keyof typeof documents;
  readonly pointer: readonly string[];
}

function operationOf(method: string, path: string, description: keyof typeof documents): Found | undefined {
  const segments = path.split("/");
  for (const [template, operations] of Object.entries(documents[description].paths)) {
    const names = template.split("/");
    const fits = names.length === segments.length && names.every((name, i) => name.startsWith("{") || name === segments[i]);
    const operation = fits && Object.hasOwn(operations, method) ? operations[method] : undefined;
    if (operation !== undefined) return { operation, description, pointer: ["paths", template, method] };
  }
  return undefined;
}

function queryViolations({ query }: Exchange, found: Found): readonly string[] {
  const { operation } = found;
  const parameters = operation.parameters ?? [];
  const isOpen = parameters.some((parameter) => parameter.in === "query" && parameter.style === "form");
  return Object.entries(query).flatMap(([name, text]) => {
    const index = parameters.findIndex((parameter) => parameter.in === "query" && parameter.name === name);
    if (index < 0) return isOpen ? [] : [`it takes no query parameter ${name}`];
    // A query only contains text; convert integers.
    const value = /^-?\d+$/.test(text) ? Number(text) : text;
    return errors(found, ["parameters", String(index), "schema"], value, `query parameter ${name}`);
  });
}

function requestViolations({ requestBody, requestHeaders }: Exchange, found: Found): readonly string[] {
  const { operation } = found;
  if (operation.requestBody === undefined) return requestBody === undefined ? [] : ["it takes no body"];
  const type = requestHeaders["content-type"] ?? "none";
  const typed = type.startsWith(json) ? [] : [`the request's content type is ${type}`];
  return [...typed, ...errors(found, ["requestBody", "content", json, "schema"], requestBody, "request body")];
}

function answerViolations({ status, responseBody, faulted }: Exchange, found: Found): readonly string[] {
  const { operation } = found;
  if (faulted || status >= 400) return [];
  const key = [String(status), `${Math.floor(status / 100)}XX`].find((candidate) => Object.hasOwn(operation.responses, candidate));
  if (key === undefined) return [`it does not respond with status ${status}`];
  return errors(found, ["responses", key, "content", json, "schema"], parsed(responseBody), "answer");
}

function errors({ description, pointer }: Found, below: readonly string[], value: unknown, what: string): readonly string[] {
  const whole = [...pointer, ...below];
  const fragment = whole.map((part) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/");
  const validate = ajv.getSchema(`${description}#/${fragment}`);
  if (validate === undefined) throw new Error(`schema/openapi.json has nothing at ${whole.join(" > ")}.`);
  if (validate(value)) return [];
  return (validate.errors ?? []).map(({ instancePath, message, params }) => `${what}${instancePath} ${message} ${JSON.stringify(params)}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
