import { dirname, resolve } from "node:path";
import { manifestKindNamed } from "../../kinds/index.ts";
import { isObject, type JsonObject, type JsonValue, own } from "../../model/json.ts";
import { atPointer, type Pointer } from "../../model/pointer.ts";
import type { Problem, SourceLocation } from "../../model/problem.ts";
import { read as readYaml, type YamlParser } from "../../yaml/read.ts";
import { coerceTexts } from "../scalars.ts";
import { readSource } from "../source.ts";
import type { SchemaError } from "./schema-error.ts";
import { concernsSecret, type SchemaContext, schemaProblems } from "./validate.ts";

/**
 * A project's own JSON Schemas for connection objects, by connector type (`connectors` in
 * dimsync.yaml).
 */
export interface Connectors {
  readonly schemas: Readonly<Record<string, JsonObject>>;
  readonly check: (kind: string, document: JsonValue, texts: ReadonlySet<Pointer>) => ConnectorCheck;
}

export interface ConnectorCheck {
  /** The document, with texts from variables converted to the numbers that the schema requires. */
  readonly value: JsonValue;
  readonly errors: readonly SchemaError[];
  readonly schema?: JsonObject;
  readonly base: Pointer;
}

/** For projects without `connectors`: nothing to check. */
export const noConnectors: Connectors = { schemas: {}, check: (_kind, value) => ({ value, errors: [], base: "" }) };

/** Reads and compiles the schemas. `files`: path by connector type, relative to the config file. */
export async function loadConnectors(
  files: Readonly<Record<string, string>>,
  options: { readonly cwd: string; readonly configPath: string; readonly place: SourceLocation; readonly parser: YamlParser },
): Promise<{ readonly connectors: Connectors; readonly problems: readonly Problem[] }> {
  if (Object.keys(files).length === 0) return { connectors: noConnectors, problems: [] };
  const problems: Problem[] = [];
  const schemas = new Map<string, JsonObject>();
  const validators = new Map<string, (value: unknown) => readonly SchemaError[]>();
  // Loads the compiler only for projects that have a schema.
  const { Ajv } = await import("ajv");
  for (const [type, path] of Object.entries(files)) {
    const place = { ...options.place, pointer: `/connectors/${type.replaceAll("~", "~0").replaceAll("/", "~1")}` };
    const loaded = readSource(options.cwd, resolve(dirname(options.configPath), path), place);
    problems.push(...loaded.problems);
    if (loaded.source === undefined) continue;
    const { documents, problems: invalid } = readYaml(loaded.source.text, { parser: options.parser });
    const [first] = documents;
    if (invalid.length > 0 || documents.length !== 1 || !isObject(first?.value)) {
      problems.push(
        badSchema(
          place,
          `${loaded.source.file} is not a JSON Schema: ${invalid[0]?.message ?? "it must be one JSON or YAML document that is a map."}`,
        ),
      );
      continue;
    }
    try {
      const validate = new Ajv({ allErrors: true, strict: false, ownProperties: true, validateFormats: false }).compile(first.value);
      validators.set(type, (value) => (validate(value) ? [] : (validate.errors ?? [])));
      schemas.set(type, first.value as JsonObject); // YAML 1.2 core gives JSON values
    } catch (error) {
      problems.push(
        badSchema(
          place,
          `${loaded.source.file} is not a valid JSON Schema (draft-07): ${error instanceof Error ? error.message : "unknown reason"}.`,
        ),
      );
    }
  }
  const check: Connectors["check"] = (kind, document, texts) => {
    const part = connectionOf(kind, document);
    const validate = part === undefined ? undefined : validators.get(part.type);
    if (part === undefined || validate === undefined) return { value: document, errors: [], base: "" };
    const { base } = part;
    const errors = validate(part.connection);
    const value = coerceTexts(document, errors, texts, base) ?? document;
    const remaining = value === document ? errors : validate(atPointer(value, base));
    const schema = schemas.get(part.type);
    return { value, errors: remaining, base, ...(schema === undefined ? {} : { schema }) };
  };
  return { connectors: { schemas: Object.fromEntries(schemas), check }, problems };
}

/**
 * The problems of a connection according to its connector's schema. A `$secret` has no value yet,
 * and passes.
 */
export function connectorProblems(
  { errors, base, schema }: ConnectorCheck,
  context: Omit<SchemaContext, "base" | "schema">,
): readonly Problem[] {
  const aboutValues = errors.filter((error) => !concernsSecret(context.value, base + error.instancePath));
  return schemaProblems(aboutValues, { ...context, base, ...(schema === undefined ? {} : { schema }) });
}

function connectionOf(
  kind: string,
  document: JsonValue,
): { readonly type: string; readonly connection: unknown; readonly base: Pointer } | undefined {
  const base = manifestKindNamed(kind)?.connectorAt;
  const holder = base === undefined ? undefined : atPointer(document, base);
  const type = isObject(holder) ? own(holder, "type") : undefined;
  const connection = isObject(holder) ? own(holder, "connection") : undefined;
  return typeof type === "string" && connection !== undefined ? { type, connection, base: `${base}/connection` } : undefined;
}

const badSchema = (place: SourceLocation, message: string): Problem => ({
  code: "E_CONNECTOR_SCHEMA",
  severity: "error",
  summary: "Connector schema can't be used",
  message,
  place,
});
