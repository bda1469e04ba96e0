import { describe, expect, onTestFinished, test } from "vitest";
import type { EmbeddedOptions } from "../../src/embedded/index.ts";
import { runCommand } from "../support/command.ts";
import { configText, filesIn, keyVariable, writeProject } from "../support/project-folder.ts";
import { startService } from "../support/service.ts";

// A resolved secret appears in no output, error, plan, bindings file or journal, even if the
// service repeats the request.

const canary = 'canary-"7b1f"/ü';
/** The forms in JSON, in a URL, and in base64. */
const disguises = ["canary-", encodeURIComponent(canary), Buffer.from(canary).toString("base64"), JSON.stringify(canary).slice(1, -1)];

const manifests = `
apiVersion: dimsync/v1
kind: Asset
metadata: { name: lake }
lifecycle: { create: ifMissing }
spec: { name: New lake, type: s3, connectionType: destination, secretVersion: 1, connection: { secret_key: { $secret: { env: CANARY } } } }
---
apiVersion: dimsync/v1
kind: Asset
metadata: { name: warehouse, id: d-12 }
spec: { name: Warehouse, type: snowflake, connection: { private_key: { $secret: { file: key.txt } }, nested: { token: { $secret: { env: JSON_CANARY, pointer: /deep/0 } } } } }
---
apiVersion: dimsync/v1
kind: Integration
metadata: { name: fresh }
spec:
  destination: { id: DESTINATION }
  create:
    destinationSchema: fresh
    replicationFrequency: '60'
    onSchemaUpdate: enableColumnChanges
    enabled: false
    sourceConfig:
      type: postgres
      name: fresh-pg
      authMethod: direct
      connectionType: source
      owners: []
      connection: { hostname: h, port: 1, database: orders, username: u, password: { $secret: { env: CANARY } }, slot: s, publication: p }
    sourceSettings: { max_clients: 1, incremental_mode: Change Stream }
`;

const rows: readonly [sentence: string, destination: string, options: EmbeddedOptions, exit: number][] = [
  ["without failures", "d-12", {}, 0],
  ["if the service refuses and repeats the body", "d-404", { errorBody: "echo" }, 4],
  ["if the service fails after it acted, and repeats the body", "d-12", { errorBody: "echo", faults: ["POST .*=status-after:500"] }, 4],
  ["if a PATCH fails, and repeats the body", "d-12", { errorBody: "echo", faults: ["PATCH .*=status:500"] }, 4],
  ["if the connection is cut", "d-12", { faults: ["POST .*=reset-before", "PATCH .*=reset-after"] }, 4],
  ["if the response can't be read", "d-12", { faults: ["POST .*=truncate", "PATCH .*=html"] }, 4],
];

describe("no secret appears", () => {
  test.each(rows)("%s", async (_, destination, options, exit) => {
    const bodies: string[] = [];
    const service = await startService({
      ...options,
      onExchange: ({ requestBody }) => void bodies.push(JSON.stringify(requestBody) ?? ""),
    });
    onTestFinished(service.close);
    const folder = writeProject({
      "dimsync.yaml": configText(service.url),
      "key.txt": `${canary}\n`,
      "manifests/all.yaml": manifests.replace("DESTINATION", destination),
    });
    const env = { [keyVariable]: service.apiKey, CANARY: canary, JSON_CANARY: JSON.stringify({ deep: [canary] }) };
    const texts = new Map<string, string>();
    const run = async (...argv: readonly string[]): Promise<number> => {
      const { code, stdout, stderr } = await runCommand(argv, folder, env);
      texts.set(argv.join(" "), stdout + stderr);
      return code;
    };
    const everywhere = ["-o", "human", "-o", "json=out.json", "-o", "markdown=out.md", "-v"];
    await run("render", "-v");
    await run("plan", "--out", "plan.json", "--write-secrets", ...everywhere);
    expect(await run("apply", "--yes", "--write-secrets", "--result", "result.json", "-o", "json", "-o", "human=out.txt", "-v")).toBe(exit);
    await run("show", "result.json");
    await run("show", "plan.json", "-o", "json");
    await run("plan", ...everywhere);
    await run("drift", ...everywhere);

    expect(bodies.join("\n"), "it was sent, so it could have leaked").toContain(JSON.stringify(canary));
    for (const [file, text] of filesIn(folder)) if (file !== "key.txt") texts.set(file, text);
    expect([...texts.keys()]).toEqual(expect.arrayContaining(["plan.json", "result.json", "out.md", ".dimsync/test.records"]));
    for (const [where, text] of texts)
      for (const secret of [...disguises, service.apiKey]) expect(text.includes(secret), `${where} holds it: ${text}`).toBe(false);
  });
});
