import { DimsyncError } from "../../core/base/model/errors.ts";
import { canonicalJson, defined, emptyRecord, isObject, type JsonObject, type JsonValue, own } from "../../core/base/model/json/json.ts";
import type { LiveColumn, LiveSchemas } from "../../core/base/model/live.ts";
import type { ColumnTree, SchemaExpectation, SchemaTree, TableTexts } from "../../core/base/model/manifest.ts";
import { getOrAdd } from "../../core/base/model/maps.ts";
import type { NodePath } from "../../core/base/model/nodes.ts";
import { isEnabled, isReplicated, nodesAt, setFields, type WritableNode, walk } from "../../core/base/model/schema-tree.ts";
import { isSecretName, isSecretValue, secretsIn } from "../../core/base/model/settings/secret.ts";
import { isSameMode, requestMode } from "../../core/base/model/sync-mode.ts";
import { counted } from "../../core/base/text/counts.ts";
import { nodeText } from "../../core/base/text/paths.ts";
import { didYouMean } from "../../core/base/text/suggest.ts";
import { isFixed, kindNames, settingNames } from "../../core/kinds/index.ts";
import { patternsOf } from "./schemas/infer-rules.ts";

// What a state of Terraform adds to the account, for teams that leave its provider: once for each team.

export interface TerraformState {
  readonly objects: readonly StateObject[];
  /** What it declares of the schemas of integrations, by integration id. */
  readonly schemas: ReadonlyMap<string, SchemaTree>;
  /** The addresses of the provider's resources, without instance keys. */
  readonly addresses: readonly string[];
  /** What manifests do not take from it, as sentences. */
  readonly notices: readonly string[];
}

/** An integration or an asset. */
export interface StateObject {
  readonly kind: string;
  readonly address: string;
  readonly id: string;
  readonly name: string;
  readonly type: string;
  /** Members of the spec of its manifest that the account may not show. Secrets are variables that begin with the manifest's name. */
  readonly specFor: (name: string) => JsonObject;
}

type Members = Readonly<Record<string, unknown>>;

/** An instance of a resource. */
interface Row {
  readonly address: string;
  readonly provider: unknown;
  /** What its type ends with, after the provider's name. */
  readonly ending: string;
  readonly attributes: Members;
  /** JSON text with the names of sensitive attributes. */
  readonly sensitive: string;
}

const assetEndings = ["source", "destination", "asset"];
const integrationEndings = ["integration", "integration_schema", "integration_schedule"];

/** Reads the text of a state, version 4. Throws E_USAGE. */
export function readTerraformState(text: string): TerraformState {
  const state = jsonIn(text);
  if (!isObject(state) || state["version"] !== 4) throw unreadable("is not a state of version 4");
  const all = listIn(state["resources"]).flatMap(rowsOf);
  const providers = all.flatMap(({ ending, provider }) => (integrationEndings.includes(ending) ? [provider] : []));
  const rows = all.filter(({ provider }) => providers.includes(provider));
  if (rows.length === 0) throw unreadable("has no integrations");
  const objects = rows.flatMap((row) => objectsOf(row, rows));
  const left = rows.filter(({ ending }) => ![...integrationEndings, ...assetEndings].includes(ending));
  const secrets = objects.flatMap(({ specFor }) => secretsIn(specFor(""))).length;
  const references = `Connections have $secret references in place of ${counted(secrets, "secret")} of the state. Set their variables before you raise a secretVersion.`;
  return {
    objects,
    schemas: new Map(
      rows
        .filter(({ ending }) => ending === "integration_schema")
        .map(({ attributes }) => [textIn(attributes, "integration_id"), schemasIn(attributes)]),
    ),
    addresses: [...new Set(rows.map(({ address }) => address))].sort(),
    notices: [...new Set(left.map(({ address }) => `${address} is not imported.`)), ...(secrets > 0 ? [references] : [])],
  };
}

const unreadable = (what: string): DimsyncError =>
  new DimsyncError("E_USAGE", `The Terraform state ${what}. To write the current one to a file:`, {
    command: "terraform state pull > state.json",
  });

function rowsOf(resource: unknown): readonly Row[] {
  if (!isObject(resource) || resource["mode"] !== "managed") return [];
  const type = textIn(resource, "type");
  const path = [resource["module"] ?? [], type, resource["name"]].flat().join(".");
  const address = path.replaceAll(/\[(?:"(?:[^"\\]|\\.)*"|\d+)\]/gu, "");
  if (!/^[\w.-]+$/u.test(address)) return [];
  const row = { address, provider: resource["provider"], ending: type.slice(type.indexOf("_") + 1) };
  return listIn(resource["instances"]).flatMap((one) =>
    isObject(one) && one["deposed"] === undefined && isObject(one["attributes"])
      ? [{ ...row, attributes: one["attributes"], sensitive: JSON.stringify(one["sensitive_attributes"]) ?? "" }]
      : [],
  );
}

function objectsOf(row: Row, rows: readonly Row[]): readonly StateObject[] {
  const { address, ending, attributes } = row;
  const known = { address, id: textIn(attributes, "id"), name: textIn(attributes, "name"), type: textIn(attributes, "type") };
  if (known.id === "") return [];
  if (ending === "integration") {
    const schedules = rows.filter((other) => other.ending === "integration_schedule" && other.attributes["integration_id"] === known.id);
    const settings = settingsIn([attributes, ...schedules.map((other) => other.attributes)]);
    return [{ ...known, kind: kindNames.integration, specFor: () => withoutEmpty({ settings }) }];
  }
  if (!assetEndings.includes(ending)) return [];
  const connectionType = textIn(attributes, "connection_type") || ending.replace("asset", "");
  return [{ ...known, kind: kindNames.asset, specFor: (name) => withoutEmpty({ connectionType, connection: connectionIn(row, name) }) }];
}

const withoutEmpty = (members: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== "" && !(isObject(value) && Object.keys(value).length === 0)));

/** Words of the provider for values that the service has as minutes. */
const frequencies: Readonly<Record<string, string>> = { hourly: "60", daily: "1440" };

/** The settings, except the name, which the account always shows. */
const settingsIn = (attributes: readonly Members[]): JsonObject =>
  Object.fromEntries(
    settingNames.flatMap((name) => {
      const member = name.replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`);
      const value = attributes.map((one) => textIn(one, member)).find((text) => text !== "");
      return value === undefined || name === "name" ? [] : [[name, own(frequencies, value) ?? value]];
    }),
  );

/** The members of JSON texts such as connection_config and connection_secrets, with references instead of secrets. */
const connectionIn = ({ attributes, sensitive }: Row, name: string): JsonObject =>
  Object.fromEntries(
    Object.entries(attributes).flatMap(([attribute, text]) => {
      const part = attribute.startsWith("connection_") ? jsonIn(text) : undefined;
      const isSecret = isSecretName(attribute) || sensitive.includes(JSON.stringify(attribute));
      return isObject(part) ? Object.entries(part).map(([key, value]) => [key, withoutSecrets(value, [name, key], isSecret)]) : [];
    }),
  );

/** `isSecret`: the whole value is one. */
function withoutSecrets(value: unknown, path: readonly string[], isSecret: boolean): JsonValue {
  const hides = isSecret || isSecretName(path.at(-1) ?? "");
  if (isObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withoutSecrets(one, [...path, key], hides)]));
  if (!hides && Array.isArray(value)) return value.map((one, index) => withoutSecrets(one, [...path, String(index)], false));
  const isPlain = !hides && !(typeof value === "string" && isSecretValue(value));
  // A JSON text has no other scalars.
  return isPlain ? (value as JsonValue) : { $secret: { env: path.join("_").replaceAll(/\W+/gu, "_").toUpperCase() } };
}

/** What the JSON text with `schemas` sets, as a literal tree. */
function schemasIn(attributes: Members): SchemaTree {
  const tree = emptyRecord<WritableNode>();
  const visit = (nodes: unknown, path: readonly string[]): void => {
    for (const [name, node] of Object.entries(isObject(nodes) ? nodes : {})) {
      if (!isObject(node)) continue;
      const [schema = name, table, column] = [...path, name];
      const { enabled, hashed, syncMode: mode, cursorField } = node;
      const texts = table === undefined || column !== undefined ? {} : { syncMode: mode, cursorField };
      const flags = { enabled, ...(column === undefined ? {} : { hashed }) };
      setFields(tree, table === undefined ? [schema] : column === undefined ? [schema, table] : [schema, table, column], {
        ...(ofType(flags, "boolean") as ColumnTree),
        ...(ofType(texts, "string") as TableTexts),
      });
      if (column === undefined) visit(node[table === undefined ? "tables" : "columns"], [...path, name]);
    }
  };
  for (const text of Object.values(attributes)) {
    const config = jsonIn(text);
    if (isObject(config)) visit(config["schemas"], []);
  }
  return tree;
}

const ofType = (members: Members, type: "boolean" | "string"): Members =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => typeof value === type));

const textIn = (members: Members, key: string): string => (typeof members[key] === "string" ? members[key] : "");

const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function jsonIn(text: unknown): unknown {
  try {
    return typeof text === "string" ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

/** How the state and the account differ: nodes, as sentences show them. */
export interface StateDifferences {
  /** Those of the state that the account does not have. */
  readonly missing: readonly string[];
  /** Values that no request can change. */
  readonly neverKept: readonly string[];
  /** What is readable although the state hashes it or has it off. */
  readonly readable: readonly string[];
}

/** The schemas of an integration as the account and the state together protect them. */
export interface IntendedSchemas extends StateDifferences {
  readonly schemas: LiveSchemas;
  /** The sync modes and cursors that both have. */
  readonly expect: readonly SchemaExpectation[];
}

/** Takes only what protects from the state, so that an import never makes data readable. */
export function intendedSchemas(live: LiveSchemas, wanted: SchemaTree): IntendedSchemas {
  // Paths that the account has, so no name is that of a prototype.
  const schemas: LiveSchemas & Record<string, WritableNode> = structuredClone(live);
  const found = { missing: [] as string[], neverKept: [] as string[], readable: [] as string[] };
  const visit = (path: NodePath, entry: ColumnTree): boolean => {
    const { schema, table, column } = nodesAt(live, path);
    const [, isTable, isColumn] = path;
    const siblings = isColumn !== undefined ? table?.columns : isTable === undefined ? live : schema?.tables;
    const node = isColumn !== undefined ? column : isTable === undefined ? schema : table;
    if (node === undefined && siblings !== undefined) {
      found.missing.push(`${nodeText(path)}.${didYouMean(path.at(-1) ?? "", Object.keys(siblings))}`);
      return false;
    }
    const shown: LiveColumn = node ?? {};
    const isKey = column !== undefined && (column.isPrimaryKey === true || table?.cursorField === path[2]);
    for (const key of ["enabled", "hashed"] as const) {
      const value = entry[key];
      if (value === undefined || shown[key] === value) continue;
      if (isKey || (table !== undefined && isFixed(table))) found.neverKept.push(`${nodeText(path)}: ${key} is ${value} in the state`);
      else if (value === (key === "hashed")) {
        setFields(schemas, path, { [key]: value });
        const isOn = column === undefined || (column.hashed !== true && schema !== undefined && isReplicated(schema, path[1] ?? ""));
        if (isOn && isEnabled(shown) && shown[key] !== undefined)
          found.readable.push(`${nodeText(path)} is ${value ? "hashed" : "off"} in the state`);
      }
    }
    return true;
  };
  const modes = new Map<string, { readonly schema: string; readonly texts: TableTexts; readonly tables: string[] }>();
  walk(wanted, {
    schema: (entry, path) => visit(path, entry),
    table(entry, path) {
      if (!visit(path, entry)) return false;
      const { syncMode, cursorField } = nodesAt(live, path).table ?? {};
      const isSame = entry.syncMode === undefined || isSameMode(entry.syncMode, syncMode);
      if (!isSame && syncMode !== undefined) found.neverKept.push(`${nodeText(path)}: syncMode is ${entry.syncMode} in the state`);
      const mode = isSame ? requestMode(entry.syncMode ?? "") : undefined;
      const texts = defined({ syncMode: mode, cursorField: entry.cursorField === cursorField ? cursorField : undefined });
      if (Object.keys(texts).length > 0)
        getOrAdd(modes, canonicalJson([path[0], texts]), () => ({ schema: path[0], texts, tables: [] })).tables.push(path[1]);
      return true;
    },
    column: (entry, path) => void visit(path, entry),
  });
  const expect = [...modes.values()].flatMap(({ schema, texts, tables }) => {
    const match = { schema: patternsOf([schema]), table: patternsOf(tables) };
    return match.schema.length > 0 && match.table.length > 0 ? [{ match, ...texts }] : [];
  });
  return { ...found, schemas, expect };
}

/** A file for the root module: Terraform forgets the resources, and destroys none of them. */
export const removedBlocks = ({ addresses }: TerraformState): string =>
  addresses.map((address) => `removed {\n  from = ${address}\n\n  lifecycle {\n    destroy = false\n  }\n}\n`).join("\n");
