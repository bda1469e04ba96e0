import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { type EmbeddedOptions, startEmbeddedService } from "../../src/embedded/index.ts";
import { configText, keyVariable } from "../support/project-folder.ts";
import { dimsync, emptyFolder, repository } from "./built-cli.ts";

interface Recorded {
  readonly name: string;
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: { readonly code: number; readonly message?: string };
  readonly traceId: string;
  readonly spanId: string;
  readonly parent?: string;
  readonly events: readonly unknown[];
}

const sdk = `--import=${pathToFileURL(join(repository, "test/support/tracing.mjs")).href}`;

/** The spans that commands send to the SDK in their process. */
async function spansOf(args: readonly string[], options: EmbeddedOptions = {}, env: Readonly<Record<string, string>> = {}) {
  const service = await startEmbeddedService({ apiKeys: { "canary-key": "bot@example.com" }, errorBody: "echo", ...options });
  onTestFinished(service.close);
  const folder = emptyFolder({
    "dimsync.yaml": configText(service.url, { client: { concurrency: 8, retries: 1 } }),
    "manifests/orders.yaml": `apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: orders }
spec: { integration: Orders, schemas: { public: { tables: { users: { columns: { email: { hashed: true } } } } } } }
---
apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: billing }
spec: { integration: Billing, schemas: { billing: { tables: { accounts: { columns: { company: { hashed: true } } } } } } }
`,
  });
  const file = join(folder, "spans");
  const ran = await dimsync(args, { cwd: folder, env: { [keyVariable]: "canary-key", NODE_OPTIONS: sdk, SPANS: file, ...env } });
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const spans = text.split("\n").flatMap((line): readonly Recorded[] => (line === "" ? [] : [JSON.parse(line)]));
  return { ...ran, text, spans, url: new URL(service.url) };
}

/** The names of a span and of those above it: "dimsync plan > dimsync observe > GET". */
function pathOf(span: Recorded, spans: readonly Recorded[]): string {
  const above = spans.find(({ spanId }) => spanId === span.parent);
  return above === undefined ? span.name : `${pathOf(above, spans)} > ${span.name}`;
}
const pathsOf = (spans: readonly Recorded[]): readonly string[] => [...new Set(spans.map((span) => pathOf(span, spans)))].sort();

describe("spans", () => {
  it("show the phases and requests of a plan", async () => {
    const { code, stderr, spans, url } = await spansOf(["plan"]);
    expect(code, stderr).toBe(0);
    expect(pathsOf(spans)).toEqual([
      "dimsync plan",
      "dimsync plan > dimsync compare",
      "dimsync plan > dimsync compare > GET",
      "dimsync plan > dimsync observe",
      "dimsync plan > dimsync observe > GET",
    ]);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect(spans.find(({ name }) => name === "dimsync plan")).toMatchObject({ kind: 0, attributes: { "process.exit.code": 0 } });
    expect(spans.find(({ attributes }) => attributes["url.path"] === "/v1/integrations")).toMatchObject({
      kind: 2,
      attributes: {
        "http.request.method": "GET",
        "http.response.status_code": 200,
        "server.address": "127.0.0.1",
        "server.port": Number(url.port),
        "url.scheme": "http",
      },
    });
  });

  it("show the items of an apply, with the requests of each", async () => {
    const { code, stderr, spans } = await spansOf(["apply", "--yes"]);
    expect(code, stderr).toBe(0);
    const updates = spans.filter(({ name }) => name === "dimsync update");
    expect(updates.map(({ attributes }) => attributes)).toEqual(
      expect.arrayContaining([
        { "dimsync.address": "Schemas/Orders", "dimsync.kind": "Schemas", "dimsync.outcome": "done" },
        { "dimsync.address": "Schemas/Billing", "dimsync.kind": "Schemas", "dimsync.outcome": "done" },
      ]),
    );
    const patched = new Map(
      spans.filter(({ name }) => name === "PATCH").map(({ parent, attributes }) => [parent, String(attributes["url.path"])] as const),
    );
    const byAddress = updates.map(({ spanId, attributes }) => [attributes["dimsync.address"], patched.get(spanId)]);
    expect(byAddress.sort()).toEqual([
      ["Schemas/Billing", "/v1/integrations/b27d/schemas"],
      ["Schemas/Orders", "/v1/integrations/8f1c/schemas"],
    ]);
    expect(pathsOf(spans)).toContain("dimsync apply > dimsync execute > dimsync update > PATCH");
  });

  it("belong to the trace in TRACEPARENT", async () => {
    const [trace, span] = ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"];
    const { spans } = await spansOf(["plan"], {}, { TRACEPARENT: `00-${trace}-${span}-01` });
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([trace]));
    expect(spans.find(({ name }) => name === "dimsync plan")?.parent).toBe(span);
  });

  it("show failed requests and retries by status and code, without messages", async () => {
    const { code, text, spans } = await spansOf(["get", "tags"], { faults: ["GET /v1/tags=status:503"] });
    expect(code).toBe(1);
    const requests = spans.filter(({ name }) => name === "GET");
    expect(
      requests.map(({ attributes }) => [
        attributes["http.response.status_code"],
        attributes["error.type"],
        attributes["http.request.resend_count"],
      ]),
    ).toEqual([
      [503, "503", undefined],
      [503, "503", 1],
    ]);
    const root = spans.find(({ name }) => name === "dimsync get");
    expect(root).toMatchObject({ status: { code: 2 }, attributes: { "error.type": expect.stringMatching(/^E_/u) } });
    for (const { status, events } of spans) expect([status.message, events]).toEqual([undefined, []]);
    expect(text).not.toContain("503 ");
  });

  it("have no query, no key and no body", async () => {
    const { text, spans } = await spansOf(["drift"]);
    expect(spans.some(({ attributes }) => attributes["url.path"] === "/v1/audit-logs")).toBe(true);
    expect(text).not.toContain("?");
    expect(text).not.toContain("canary-key");
  });

  it("use an API that accepts the SDK of every later 1.x", () => {
    const { version } = JSON.parse(readFileSync(join(repository, "node_modules/opentelemetry-api-1.0/package.json"), "utf8"));
    expect(version).toMatch(/^1\.0\./u);
  });

  it("need an SDK: without one, nothing is loaded, whatever the environment says", async () => {
    const hook = emptyFolder({
      "loaded.cjs": 'process.on("exit", () => Object.keys(require.cache).forEach((file) => console.error("loaded", file)));',
    });
    const env = {
      NODE_OPTIONS: `--require=${join(hook, "loaded.cjs")}`,
      TRACEPARENT: `00-${"a".repeat(32)}-${"b".repeat(16)}-01`,
      OTEL_SERVICE_NAME: "x",
    };
    const without = await spansOf(["plan"], {}, env);
    const loaded = without.stderr.split("\n").filter((line) => line.startsWith("loaded "));
    expect(loaded.length).toBeGreaterThan(2);
    expect(loaded.filter((line) => line.includes("telemetry"))).toEqual([]);
    const withSdk = await spansOf(["plan"], {}, { NODE_OPTIONS: `${env.NODE_OPTIONS} ${sdk}` });
    expect(withSdk.stderr.split("\n").filter((line) => line.includes("/telemetry-"))).toHaveLength(1);
  });
});
