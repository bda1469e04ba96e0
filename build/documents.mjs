// Schemas that repeat parts of others, so that the build derives them: those of the documents that dimsync writes besides plans, from
// schema/plan.schema.json, and the one for any manifest, from those of the kinds.
import { readdir, readFile, writeFile } from "node:fs/promises";

const schemaFile = (name) => new URL(`../schema/${name}.schema.json`, import.meta.url);
const read = async (name) => JSON.parse(await readFile(schemaFile(name), "utf8"));

/** Writes schema/drift.schema.json, result.schema.json, validation.schema.json and manifest.schema.json. */
export async function writeDerivedSchemas() {
  const plan = await read("plan");
  const derived = { drift: driftReport(plan), result: result(plan), validation: validation(plan), manifest: await anyManifest() };
  for (const [name, schema] of Object.entries(derived)) await writeFile(schemaFile(name), `${JSON.stringify(schema, undefined, 2)}\n`);
}

/** The schemas of all kinds of manifests, so that an editor needs one file. Definitions of one name are equal in all of them. */
async function anyManifest() {
  const files = (await readdir(new URL("../schema/", import.meta.url))).flatMap((file) => /^(.+)\.schema\.json$/u.exec(file)?.[1] ?? []);
  const kinds = (
    await Promise.all(
      files
        .filter((name) => name !== "manifest")
        .sort()
        .map(read),
    )
  ).filter(isManifest);
  const [{ $schema, $id, properties }] = kinds;
  const names = kinds.map(({ title }) => title);
  return {
    $schema,
    $id: $id.replace(/\w+(?=\.schema\.json)/u, "manifest"),
    title: "Manifest",
    description: "Any dimsync manifest; `kind` decides which.",
    type: "object",
    required: ["apiVersion", "kind"],
    properties: { apiVersion: properties.apiVersion, kind: { type: "string", enum: names, description: "Kind of the manifest." } },
    allOf: names.map((kind) => ({
      if: { properties: { kind: { const: kind } }, required: ["kind"] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema, not a promise
      then: { $ref: `#/definitions/${kind}` },
    })),
    definitions: Object.assign(
      {},
      ...kinds.map(({ definitions }) => definitions),
      ...kinds.map(({ $schema: _, $id: __, definitions: ___, ...body }) => ({ [body.title]: body })),
    ),
  };
}

/** The other schemas are for documents that only dimsync writes, or for documents without a name. */
export const isManifest = ({ properties = {} }) => "metadata" in properties && "spec" in properties;

/** A drift report has the shape of a plan; a change is what the account does with the data, and has an origin. */
function driftReport(plan) {
  const { change, planCounts, ...definitions } = plan.definitions;
  const { protects, exposes, readable: _, ...counts } = planCounts.properties;
  const risks = { exposed: exposes, stricter: protects };
  const counted = ([risk, schema]) => [risk, { ...schema, description: `Number of changes with risk ${risk}.` }];
  const risk = {
    type: "string",
    enum: [...Object.keys(risks), "neutral"],
    description: "exposed: the account protects less than the manifests; stricter: it protects more.",
  };
  return document(plan, {
    title: "DriftReport",
    description: "The differences between the account and the manifests, in the shape of a plan, with origin and attribution.",
    required: plan.required,
    properties: without(plan.properties, ["options", "loosenedSince", "covered"]),
    definitions: {
      ...definitions,
      change: { ...change, properties: { ...change.properties, risk } },
      planCounts: {
        ...planCounts,
        required: [...planCounts.required.filter((name) => name !== "protects" && name !== "exposes"), ...Object.keys(risks)],
        properties: { ...counts, ...Object.fromEntries(Object.entries(risks).map(counted)) },
      },
    },
  });
}

function result(plan) {
  const { properties: ofPlan, definitions } = plan;
  const text = (description) => ({ type: "string", description });
  const properties = {
    formatVersion: ofPlan.formatVersion,
    kind: ofPlan.kind,
    runId: text("Id of the run."),
    planId: ofPlan.planId,
    startedAt: text("ISO 8601."),
    finishedAt: text("ISO 8601."),
    ...only(ofPlan, ["tool", "target", "severalTargets", "account"]),
    ...only(ofPlan, ["steps", "findings"]),
    calls: {
      ...{ type: "object", description: "Calls.", additionalProperties: false, required: ["sent"] },
      properties: { sent: { description: "Calls that the run sent.", allOf: [{ $ref: "#/definitions/counts" }] } },
    },
    bindings: { type: "object", description: "Every address with a recorded id.", additionalProperties: text("Live id.") },
    exit: ofPlan.exit,
  };
  const required = Object.keys(without(properties, ["severalTargets"]));
  const about = { title: "Result", description: "What apply did." };
  return document(plan, { ...about, required, properties, definitions });
}

function validation(plan) {
  const count = (description) => ({ type: "integer", description, minimum: 0 });
  return document(plan, {
    title: "Validation",
    description: "What dimsync validate found.",
    required: ["kind", "manifests", "files", "findings", "exit"],
    properties: {
      kind: plan.properties.kind,
      targets: {
        type: "array",
        description: "The targets that were checked, if they are several.",
        items: { type: "string", description: "Name of a target." },
      },
      manifests: count("How many manifests were read."),
      files: count("How many files they were read from."),
      ...only(plan.properties, ["findings", "exit"]),
    },
    definitions: plan.definitions,
  });
}

/** The schema, with the definitions that it uses. */
function document(plan, { title, description, required, properties, definitions }) {
  const name = title === "DriftReport" ? "drift" : title.toLowerCase();
  const kind = { ...properties.kind, const: title };
  const schema = { title, description, type: "object", additionalProperties: false, required, properties: { ...properties, kind } };
  const used = new Set();
  const add = (value) => {
    for (const [, one] of JSON.stringify(value).matchAll(/"#\/definitions\/(\w+)"/gu))
      if (!used.has(one)) add(definitions[used.add(one) && one]);
  };
  add(properties);
  return { $schema: plan.$schema, $id: plan.$id.replace("plan", name), ...schema, definitions: only(definitions, [...used].sort()) };
}

const only = (map, names) => Object.fromEntries(names.map((name) => [name, map[name]]));
const without = (map, names) =>
  only(
    map,
    Object.keys(map).filter((name) => !names.includes(name)),
  );

// The types of these documents.

/** Definitions whose types say more than a schema can. */
const written = {
  change: ["ChangeGroup", "./plan.ts"],
  code: ["Code", "./titles.ts"],
  exit: ["Exit", "./exit.ts"],
  nodes: ["Nodes", "./nodes.ts"],
  request: ["PlannedRequest", "./service.ts"],
  create: ["IntegrationCreate", "./manifest.ts"],
  labelSource: ["LabelSource", "./manifest.ts"],
  rule: ["SchemaRule", "./manifest.ts"],
  secret: ["SecretReference", "./settings/secret.ts"],
};
const ofSpecs = ["create", "labelSource", "rule", "secret"];

const otherNames = {
  ...{ binding: "ItemBinding", counts: "CallCounts", named: "NamedObject" },
  ...{ labelNames: "Patterns", match: "SchemaMatch", open: "JsonValue", pattern: "Patterns", person: "UserRef", schemaTree: "SchemaEntry" },
  labelPatterns: "PatternLabel",
  ...{ config: "ConfigFile", target: "TargetEntry", vars: "JsonObject", guards: "WrittenGuards", client: "WrittenClient" },
  ...{ records: "WrittenRecords", controller: "WrittenController", notify: "NotifySettings" },
};

/** The text of src/core/base/model/documents.generated.d.ts. */
export async function documentTypes() {
  const [plan, drift, result, validation] = await Promise.all(["plan", "drift", "result", "validation"].map(read));
  const { names: _, ...definitions } = { ...result.definitions, ...plan.definitions };
  const kind = { enum: ["Plan", "DriftReport"], description: plan.properties.kind.description };
  const types = {
    ...without(definitions, Object.keys(written)),
    planCounts: either(plan.definitions.planCounts, drift.definitions.planCounts),
    plan: { ...plan, description: `${plan.description} A drift report has the same shape.`, properties: { ...plan.properties, kind } },
    result,
    validation,
  };
  const imports = [...Object.values(without(written, ofSpecs)), ["JsonObject", "./json/json.ts"], ["JsonValue", "./json/json.ts"]];
  return `${imports.map(([name, file]) => `import type { ${name} } from "${file}";\n`).join("")}\n${declarations(types)}`;
}

/** The text of src/core/base/model/specs.generated.d.ts: what the manifests of each kind and the config say. */
export async function specTypes() {
  // A list that is never empty is a list here.
  const [{ definitions }, config] = (await Promise.all([read("manifest"), read("config")])).map((schema) =>
    JSON.parse(JSON.stringify(schema), (key, value) => (key === "minItems" ? undefined : value)),
  );
  const { person, integrationRef, integrationSelector, pattern, match, rule, labelPatterns, columnTree, tableTree, schemaTree } =
    definitions;
  const specOf = (kind) => definitions[kind].properties.spec;
  const integration = specOf("Integration");
  const { sourceId: _, sourceConfig: __, ...create } = integration.properties.create.properties;
  const types = {
    ...{ person, integrationRef, integrationSelector, pattern, match, columnTree, tableTree, schemaTree },
    writtenRule: { ...rule, properties: without(rule.properties, ["use"]), required: ["match"] },
    ...{
      columnPatterns: labelPatterns.properties.match,
      csvSource: definitions.labelSource.properties.csv,
      dbtSource: definitions.labelSource.properties.dbt,
    },
    labelPatterns: { ...labelPatterns, properties: { ...labelPatterns.properties, match: { $ref: "columnPatterns" } } },
    createMembers: { ...integration.properties.create, properties: create },
    integrationSpec: { ...integration, properties: { ...integration.properties, create: { $ref: "create" } } },
    ...Object.fromEntries(
      ["Asset", "Tag", "SchemaConfig", "RuleSet", "Classification", "Policy"].map((kind) => [`${kind}Spec`, specOf(kind)]),
    ),
    config: { ...config, properties: without(config.properties, ["apiVersion", "kind"]), required: [] },
    ...without(config.definitions, ["secret", "open", "vars"]),
  };
  const imports = [...Object.values(only(written, ofSpecs)), ["JsonObject", "./json/json.ts"]];
  return `${imports.map(([name, file]) => `import type { ${name} } from "${file}";\n`).join("")}\n${declarations(types)}`;
}

/** An object with the members of one or the other. */
const either = (one, other) => ({
  ...one,
  required: one.required.filter((name) => other.required.includes(name)),
  properties: { ...one.properties, ...other.properties },
});

const typeName = (name) => written[name]?.[0] ?? otherNames[name] ?? `${name[0].toUpperCase()}${name.slice(1)}`;
const comment = ({ description }, indent = "") => (description === undefined ? "" : `${indent}/** ${description} */\n`);

const declarations = (types) =>
  Object.entries(types)
    .map(([name, schema]) => `${comment(schema)}${declaration(typeName(name), schema)}\n`)
    .join("\n");

function declaration(name, schema) {
  const type = typeOf(schema, "");
  return type.startsWith("{\n") ? `export interface ${name} ${type}` : `export type ${name} = ${type};`;
}

function typeOf(schema, indent) {
  const { $ref, allOf, anyOf, items, minItems, properties, additionalProperties: others, type } = schema;
  if ($ref !== undefined) return typeName($ref.replace(/^.*\//u, ""));
  if ("const" in schema) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (allOf !== undefined && properties === undefined) return allOf.map((one) => typeOf(one, indent)).join(" & ");
  if (anyOf !== undefined && properties === undefined) return anyOf.map((one) => typeOf(one, indent)).join(" | ");
  if (type === "array") {
    const item = typeOf(items, indent);
    // Lists of names that are never empty.
    if (minItems === 1 && item === "string") return `readonly [${item}, ...${item}[]]`;
    return item.includes(" | ") ? `readonly (${item})[]` : `readonly ${item}[]`;
  }
  if (type === "object" && schema.maxProperties === 1)
    return Object.entries(properties)
      .map(([name, one]) => `{ readonly ${name}: ${typeOf(one, indent)} }`)
      .join(" | ");
  if (type === "object" && properties !== undefined) return objectType(schema, indent);
  if (type === "object") {
    const value = typeof others === "object" ? typeOf(others, indent) : "JsonValue";
    return value === "JsonValue" ? "JsonObject" : `Readonly<Record<string, ${value}>>`;
  }
  if (Array.isArray(type)) return type.map((one) => typeOf({ ...schema, type: one }, indent)).join(" | ");
  const [, words] = /^\^\((\w+(?:\|\w+)+)\)\$$/u.exec((type === "string" && schema.pattern) || "") ?? [];
  if (words !== undefined)
    return words
      .split("|")
      .map((value) => JSON.stringify(value))
      .join(" | ");
  return { string: "string", boolean: "boolean", integer: "number", number: "number", null: "null" }[type] ?? "JsonValue";
}

function objectType({ properties, required = [], additionalProperties: others }, indent) {
  const inner = `${indent}  `;
  const members = Object.entries(properties).map(
    ([name, schema]) =>
      `${comment(schema, inner)}${inner}readonly ${/^\w+$/u.test(name) ? name : JSON.stringify(name)}${required.includes(name) ? "" : "?"}: ${typeOf(schema, inner)};\n`,
  );
  const all = [...Object.values(properties), ...(typeof others === "object" ? [others] : [])].map((schema) => typeOf(schema, inner));
  if (typeof others === "object")
    members.push(`${comment(others, inner)}${inner}readonly [name: string]: ${all.join(" | ")} | undefined;\n`);
  return `{\n${members.join("")}${indent}}`;
}
