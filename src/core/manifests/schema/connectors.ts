import { dirname, resolve } from "node:path";
import { manifestKindNamed } from "../../kinds/index.ts";
import { isObject, type JsonObject, type JsonValue, own } from "../../model/json/json.ts";
import { atPointer, type Pointer, toPointer } from "../../model/json/pointer.ts";
import { addAll } from "../../model/maps.ts";
import { type Problem, problemAt, type SourceLocation } from "../../model/problem.ts";
import { lineAndColumn, lineStartsOf } from "../../text/lines.ts";
import { read as readYaml, type YamlParser } from "../../yaml/read.ts";
import { type Boundary, outsideProblem } from "../boundary.ts";
import { coerceTexts } from "../scalars.ts";
import { readSource } from "../source.ts";
import type { SchemaError } from "./schema-error.ts";
import { SlowSchema, slowProblem, watchedPatterns, withinLimit } from "./time-limit.ts";
import { concernsSecret, type SchemaContext, schemaProblems } from "./validate.ts";

/**
 * A project's own JSON Schemas for connection objects, by connector type (`connectors` in
 * dimsync.yaml).
 */
export interface Connectors {
  readonly schemas: Readonly<Record<string, JsonObject>>;
  /** `texts`: those that came from variables. */
  readonly check: (kind: string, document: JsonValue, texts: ReadonlySet<Pointer>) => ConnectorCheck;
}

export interface ConnectorCheck {
  /** The document, with texts from variables converted to the numbers that the schema requires. */
  readonly value: JsonValue;
  readonly errors: readonly SchemaError[];
  readonly schema?: JsonObject;
  readonly base: Pointer;
  /** The check did not end in time; there is nothing in `errors`. */
  readonly slow?: SlowSchema;
}

/** For projects without `connectors`: nothing to check. */
export const noConnectors: Connectors = { schemas: {}, check: (_kind, value) => ({ value, errors: [], base: "" }) };

/** A compiled schema and its text. */
interface Connector {
  readonly schema: JsonObject;
  /** Throws SlowSchema. */
  readonly errorsOf: (value: unknown) => readonly SchemaError[];
}

interface ConnectorOptions {
  readonly cwd: string;
  readonly configPath: string;
  /** The config file. */
  readonly place: SourceLocation;
  readonly parser: YamlParser;
  readonly boundary: Boundary;
}

/** Reads and compiles the schemas. `files`: path by connector type, relative to the config file. */
export async function loadConnectors(
  files: Readonly<Record<string, string>>,
  options: ConnectorOptions,
): Promise<{ readonly connectors: Connectors; readonly problems: readonly Problem[] }> {
  if (Object.keys(files).length === 0) return { connectors: noConnectors, problems: [] };
  const problems: Problem[] = [];
  const connectors = new Map<string, Connector>();
  for (const [type, path] of Object.entries(files)) {
    const loaded = await loadConnector(path, { ...options, place: { ...options.place, pointer: toPointer(["connectors", type]) } });
    addAll(problems, loaded.problems);
    if (loaded.connector !== undefined) connectors.set(type, loaded.connector);
  }
  const schemas = Object.fromEntries([...connectors].map(([type, { schema }]) => [type, schema]));
  return { connectors: { schemas, check: checkWith(connectors) }, problems };
}

async function loadConnector(
  path: string,
  { cwd, configPath, place, parser, boundary }: ConnectorOptions,
): Promise<{ readonly connector?: Connector; readonly problems: readonly Problem[] }> {
  const file = resolve(dirname(configPath), path);
  const target = boundary.leadsOutside(file);
  if (target !== undefined) return { problems: [outsideProblem(boundary, { written: path, target }, place)] };
  const { source, problems } = readSource(cwd, file, place);
  if (source === undefined) return { problems };
  const fail = (message: string) => ({ problems: [...problems, problemAt(place, { code: "E_CONNECTOR_SCHEMA", message })] });
  const { documents, problems: invalid } = readYaml(source.text, { parser });
  const [first] = documents;
  const [problem] = invalid;
  if (problem !== undefined) {
    const { line, column } = lineAndColumn(lineStartsOf(source.text), problem.offset);
    return fail(`${source.file}:${line}:${column} is not a JSON Schema: ${problem.message}`);
  }
  if (documents.length !== 1 || !isObject(first?.value))
    return fail(`${source.file} is not a JSON Schema: it must be one JSON or YAML document that is a map.`);
  // Loads the compiler only for projects that have a schema.
  const { Ajv } = await import("ajv");
  try {
    const patterns = watchedPatterns();
    const options = { allErrors: true, strict: false, ownProperties: true, validateFormats: false, code: { regExp: patterns.regExp } };
    const validate = new Ajv(options).compile(first.value);
    const errorsOf = (value: unknown): readonly SchemaError[] =>
      withinLimit(() => validate(value), { file: source.file, value, patterns }) ? [] : (validate.errors ?? []);
    // YAML 1.2 core gives JSON values.
    return { connector: { schema: first.value as JsonObject, errorsOf }, problems };
  } catch (error) {
    return fail(`${source.file} is not a valid JSON Schema (draft-07): ${error instanceof Error ? error.message : "unknown reason"}.`);
  }
}

const checkWith =
  (connectors: ReadonlyMap<string, Connector>): Connectors["check"] =>
  (kind, document, texts) => {
    const part = connectionOf(kind, document);
    const connector = part === undefined ? undefined : connectors.get(part.type);
    if (part === undefined || connector === undefined) return { value: document, errors: [], base: "" };
    const { base } = part;
    try {
      const errors = connector.errorsOf(part.connection);
      const value = coerceTexts(document, errors, texts, base) ?? document;
      const remaining = value === document ? errors : connector.errorsOf(atPointer(value, base));
      return { value, errors: remaining, base, schema: connector.schema };
    } catch (error) {
      if (!(error instanceof SlowSchema)) throw error;
      return { value: document, errors: [], base, slow: error };
    }
  };

/**
 * The problems of a connection according to its connector's schema. A `$secret` has no value yet,
 * and passes.
 */
export function connectorProblems(
  { errors, base, schema, slow }: ConnectorCheck,
  context: Omit<SchemaContext, "base" | "schema">,
): readonly Problem[] {
  if (slow !== undefined) return [problemAt({ ...context.place, pointer: base + slow.pointer }, slowProblem(slow))];
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
