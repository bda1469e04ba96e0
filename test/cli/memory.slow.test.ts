import { createServer } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { dimsync, emptyFolder } from "./built-cli.ts";

// Memory grows with the largest integration and the number of changes, not with the account: the
// heap of the command line is a fraction of the size of the account's responses.

const heapMiB = 64;
const integrations = 160;
const tables = 200;
const columns = 30;

const name = (index: number): string => `shop-${String(index).padStart(3, "0")}`;
const numbered = <T>(count: number, label: string, entry: (index: number) => T): Record<string, T> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${label}_${String(index).padStart(3, "0")}`, entry(index)]));

async function account(): Promise<string> {
  const list = Array.from({ length: integrations }, (_, index) => ({
    ...{ id: `int-${index}`, name: name(index), createdAt: "2026-01-01T00:00:00Z", paused: false },
    ...{ source: { id: `s-${index}`, name: "s", type: "postgres" }, destination: { id: "d", name: "d", type: "snowflake" } },
  }));
  const column = { nameInDestination: "c", enabled: true, hashed: true, isPrimaryKey: false };
  const table = { nameInDestination: "t", enabled: true, syncMode: "incremental", columns: numbered(columns, "column", () => column) };
  const schemas = { public: { nameInDestination: "public", enabled: true, tables: numbered(tables, "table", () => table) } };
  const answer = Buffer.from(JSON.stringify({ code: "ok", data: { schemas } }));
  expect(integrations * answer.length).toBeGreaterThan(heapMiB * 1024 * 1024);
  const server = createServer((request, response) => {
    const isList = request.url === "/v1/integrations";
    response.writeHead(200, { "content-type": "application/json" });
    response.end(isList ? JSON.stringify({ code: "ok", data: { items: list } }) : answer);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
}

const config = (url: string): string => `apiVersion: dimsync/v1
kind: Config
manifests: [manifests]
targets: { test: { baseUrl: "${url}", apiKey: { $secret: { env: TEST_KEY } } } }
`;

const oneForAll = `apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: fleet }
spec:
  integrations: { names: ["shop-*"] }
  rules:
    - { match: { column: "column_*" }, set: { hashed: true } }
`;

/** A configuration for each integration, with its own rules for all its names. */
const oneForEach = Array.from(
  { length: integrations },
  (_, index) => `apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: ${name(index)} }
spec:
  integration: ${name(index)}
  rules:
${Array.from({ length: 20 }, (_unused, tens) => `    - { match: { table: "table_${String(tens).padStart(2, "0")}*", column: "column_*" }, set: { hashed: true } }`).join("\n")}
`,
).join("---\n");

test.each([
  ["one configuration for the whole fleet", oneForAll],
  ["a configuration for each integration", oneForEach],
])("a plan of 960,000 columns fits into a heap of 64 MiB: %s", async (_what, manifests) => {
  const folder = emptyFolder({ "dimsync.yaml": config(await account()), "manifests/all.yaml": manifests });
  const { code, stdout, stderr } = await dimsync(["plan", "-q"], {
    cwd: folder,
    env: { TEST_KEY: "key", NODE_OPTIONS: `--max-old-space-size=${heapMiB}` },
  });
  expect(stderr).toBe("");
  expect(stdout).toContain(`No changes. The account matches the manifests (${integrations} objects compared).`);
  expect(code).toBe(0);
});
