// The embedded service in a separate process. Responses to reads are cached as bytes, so that
// only the client is measured; a write goes to the service and drops the cache of its integration.
// Counts requests. Its parent sends its settings: { state, latencyMs, schemaForm }.
import { createServer, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { account, schemaMap } from "./account.mjs";

const { startEmbeddedService } = await import(process.argv[2]);
const apiKeys = { [process.argv[3]]: "bot@example.com" };
let setting = {};
let embedded;
let answers = new Map();
let counts = {};

async function begin(next) {
  setting = next;
  await embedded?.close();
  const shape = setting.shape;
  const schemas = schemaMap(shape);
  for (const { table, column } of setting.differences ?? []) {
    for (const schema of Object.values(schemas)) schema.tables[table].columns[column].hashed = !schema.tables[table].columns[column].hashed;
  }
  const state = account({ integrations: shape.integrations, schemas, tags: shape.tags });
  // Integrations that a run writes to need their own maps.
  for (const i of setting.changed ?? []) {
    const integration = state.integrations[i];
    integration.schemas = structuredClone(schemas);
    const { tables } = integration.schemas.public;
    tables.table_001.enabled = false;
    tables.table_002.columns.phone_04.hashed = true;
  }
  embedded = await startEmbeddedService({ state: () => state, apiKeys, schemaForm: setting.schemaForm ?? "camel" });
  answers = new Map();
  if (setting.warm) {
    const headers = { "x-api-key": process.argv[3] };
    const paths = ["/v1/integrations", ...state.integrations.map(({ id }) => `/v1/integrations/${id}/schemas`)];
    for (const url of paths) keep(url, await forward({ method: "GET", url, headers }, ""));
  }
  counts = {};
}

function forward({ method, url, headers }, body) {
  return new Promise((resolve, reject) => {
    const forwarded = request(`${embedded.url}${url}`, { method, headers: { ...headers, connection: "close" } }, async (response) => {
      const chunks = [];
      for await (const chunk of response) chunks.push(chunk);
      resolve({ status: response.statusCode, body: Buffer.concat(chunks) });
    });
    forwarded.on("error", reject);
    forwarded.end(body);
  });
}

/** Integrations with equal schemas share one buffer. */
function keep(url, answer) {
  const twin = [...answers.values()].slice(-3).find(({ body }) => body.equals(answer.body));
  answers.set(url, twin ?? answer);
}

const server = createServer({ keepAliveTimeout: 60_000 }, async (incoming, response) => {
  const { method, url } = incoming;
  counts[method] = (counts[method] ?? 0) + 1;
  const chunks = [];
  if (method !== "GET") for await (const chunk of incoming) chunks.push(chunk);
  if (setting.latencyMs) await sleep(setting.latencyMs);
  let answer = method === "GET" ? answers.get(url) : undefined;
  if (answer === undefined) {
    answer = await forward(incoming, Buffer.concat(chunks));
    if (method === "GET" && answer.status === 200) keep(url, answer);
    if (method !== "GET") answers.delete(url);
  }
  response.writeHead(answer.status, { "content-type": "application/json", "content-length": answer.body.length });
  response.end(answer.body);
});
server.listen(0, "127.0.0.1", () => process.send({ port: server.address().port }));

process.on("message", async ({ begin: next, resetCounts }) => {
  if (next !== undefined) await begin(next);
  const seen = counts;
  if (resetCounts) counts = {};
  process.send({ counts: seen });
});
