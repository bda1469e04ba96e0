import { isObject } from "../../src/core/base/model/json/json.ts";

type JsonObject = Readonly<Record<string, unknown>>;

const text = { type: "string" };
const textOrNull = { type: ["string", "null"] };
const texts = { type: "array", items: text };
const anyObject = { type: "object" };

/** A member in the answer of a GET or PATCH. */
const data = (schema: JsonObject): JsonObject => ({
  responses: { "200": { content: { "application/json": { schema: { properties: { data: schema } } } } } },
});

/** A request that schema/openapi.json does not have. */
const request = (schema: JsonObject): JsonObject => ({
  requestBody: { required: true, content: { "application/json": { schema } } },
  responses: { "200": { content: { "application/json": { schema: anyObject } } } },
});

const nothingElse = { additionalProperties: false };

/** What the public descriptions of the service show otherwise than schema/openapi.json: a JSON merge patch (RFC 7396). */
const observed: JsonObject = {
  paths: {
    "/v1/integrations/{id}": {
      get: data({ $ref: "#/components/schemas/OneIntegration", type: null, properties: null, required: null }),
      patch: request({
        type: "object",
        minProperties: 1,
        properties: {
          name: text,
          paused: { type: "boolean" },
          replicationFrequency: text,
          cronExpression: textOrNull,
          baseTime: textOrNull,
          destinationSchema: text,
          onSchemaUpdate: text,
          agentId: textOrNull,
        },
        ...nothingElse,
      }),
    },
    "/v1/tags": {
      post: request({
        type: "object",
        properties: { name: text, owner: text, description: text },
        required: ["name", "owner"],
        ...nothingElse,
      }),
    },
    "/v1/tags/{id}/relation": {
      delete: request({
        type: "object",
        properties: { resourceId: text, resourceType: text },
        required: ["resourceId", "resourceType"],
        ...nothingElse,
      }),
    },
    "/v1/assets/{id}": { get: { responses: { "200": { content: { "application/json": { schema: anyObject } } } } } },
    "/v1/integrations/{id}/schemas": { get: data({ type: ["object", "null"] }) },
  },
  components: {
    schemas: {
      // A draft has no destination.
      Integration: { required: ["id", "name"] },
      OneIntegration: {
        oneOf: [
          { required: ["integration"], properties: { integration: { $ref: "#/components/schemas/Integration" } } },
          { $ref: "#/components/schemas/Integration" },
        ],
      },
      Column: { required: [] },
      CamelTable: { required: ["enabledPatchSettings"] },
      // GET never returns `enabled` of a schema.
      CamelSchema: { properties: { enabled: false }, required: ["tables"] },
      Tag: { required: ["id", "createdAt"] },
      AuditEntry: { properties: { actor: { required: ["type"] } }, required: ["id", "timestamp", "event", "actor"] },
      User: { required: ["id", "email", "createdAt"] },
      CreatedIntegration: { properties: { data: { required: ["id"] } }, required: ["code", "data"] },
      CreateIntegration: {
        properties: {
          sourceId: text,
          name: text,
          tags: texts,
          agentId: textOrNull,
          cronExpression: text,
          baseTime: text,
          destinationSettings: anyObject,
        },
        required: ["destinationId", "destinationSchema", "replicationFrequency"],
        oneOf: [{ required: ["sourceConfig"] }, { required: ["sourceId"] }],
      },
      PostgresSourceConfig: { properties: { connection: { properties: { port: { type: ["integer", "string"] } } } } },
      PatchSchemas: {
        properties: {
          schemas: {
            additionalProperties: {
              properties: { tables: { additionalProperties: { properties: { syncMode: text, cursorField: text } } } },
            },
          },
        },
      },
      CreateAsset: {
        properties: { authMethod: text, owners: texts, tags: texts, configuration: anyObject, connectionOverrides: anyObject },
      },
      PatchAsset: { properties: { authMethod: text, owners: texts, configuration: anyObject } },
    },
  },
};

/** schema/openapi.json as the public descriptions have it: more members in requests, fewer that are sure in answers. */
export function asObserved(document: JsonObject): JsonObject {
  return merged(document, observed);
}

function merged(document: JsonObject, patch: JsonObject): JsonObject {
  const result: Record<string, unknown> = { ...document };
  for (const [name, value] of Object.entries(patch)) {
    const before = result[name];
    if (value === null) delete result[name];
    else result[name] = isObject(value) ? merged(isObject(before) ? before : {}, value) : value;
  }
  return result;
}
