// Memory grows with the largest integration and the number of changes, not with the account: the
// heap of the command line is a fraction of the size of the account's responses. Each commit tries one of
// the plans without changes and two of the formats; DIMSYNC_TESTS=all tries all, and the largest plan.
import { statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { serve } from "../support/loopback.ts";
import { isAll, sampleOf } from "../support/sample.ts";
import { dimsync, emptyFolder, startCli } from "./built-cli.ts";

const heapMiB = 64;
const integrations = 160;
const tables = 200;
const columns = 30;

const name = (index: number): string => `shop-${String(index).padStart(3, "0")}`;
const numbered = <T>(count: number, label: string, entry: (index: number) => T): Record<string, T> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${label}_${String(index).padStart(3, "0")}`, entry(index)]));

/** An account with so many equal integrations. Resolves with its URL. */
async function account(size = integrations, hashed = true): Promise<string> {
  const list = Array.from({ length: size }, (_, index) => ({
    ...{ id: `int-${index}`, name: name(index), createdAt: "2026-01-01T00:00:00Z", paused: false },
    ...{ source: { id: `s-${index}`, name: "s", type: "postgres" }, destination: { id: "d", name: "d", type: "snowflake" } },
  }));
  const column = { nameInDestination: "c", enabled: true, hashed, isPrimaryKey: false };
  const table = { nameInDestination: "t", enabled: true, syncMode: "incremental", columns: numbered(columns, "column", () => column) };
  const schemas = { public: { nameInDestination: "public", enabled: true, tables: numbered(tables, "table", () => table) } };
  const answer = Buffer.from(JSON.stringify({ code: "ok", data: { schemas } }));
  expect(integrations * answer.length).toBeGreaterThan(heapMiB * 1024 * 1024);
  const { url } = await serve((request, response) => {
    const isList = request.url === "/v1/integrations";
    response.writeHead(200, { "content-type": "application/json" });
    response.end(isList ? JSON.stringify({ code: "ok", data: { items: list } }) : answer);
  });
  return url;
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

const configurations = [
  ["one configuration for the whole fleet", oneForAll],
  ["a configuration for each integration", oneForEach],
] as const;

test.each(sampleOf(configurations, { name: "memory, configurations", kindOf: () => "one" }))(
  "a plan of 960,000 columns fits into a heap of 64 MiB: %s",
  async (_what, manifests) => {
    const folder = emptyFolder({ "dimsync.yaml": config(await account()), "manifests/all.yaml": manifests });
    const { code, stdout, stderr } = await dimsync(["plan", "-q"], {
      cwd: folder,
      env: { TEST_KEY: "key", NODE_OPTIONS: `--max-old-space-size=${heapMiB}` },
    });
    expect(stderr).toBe("");
    expect(stdout).toContain(`No changes. The account matches the manifests (${integrations} objects compared).`);
    expect(code).toBe(0);
  },
);

/** So many integrations with 6,000 changes each, by one rule. */
async function changedProject(size: number, heap: number) {
  const cwd = emptyFolder({ "dimsync.yaml": config(await account(size, false)), "manifests/all.yaml": oneForAll });
  return { cwd, env: { TEST_KEY: "key", NODE_OPTIONS: `--max-old-space-size=${heap}` } };
}

/** How often stdout has the text, and its length. The output is too long to keep it. */
async function counted(child: ReturnType<typeof startCli>, text: string) {
  const found = { times: 0, bytes: 0, stderr: "", code: undefined as number | null | undefined };
  let last = "";
  child.stdout?.setEncoding("latin1").on("data", (chunk: string) => {
    const both = last + chunk;
    found.times += both.split(text).length - 1;
    found.bytes += chunk.length;
    last = both.slice(Math.max(both.lastIndexOf(text) + text.length, both.length - text.length + 1));
  });
  child.stderr?.on("data", (chunk) => {
    found.stderr += String(chunk);
  });
  found.code = await new Promise((resolve) => child.once("close", resolve));
  return found;
}

const lifted = ["--allow", "maxChangedPercent=tested"];

describe("a plan of 96,000 changes fits into a heap of 64 MiB", () => {
  const changed = 16;
  const count = changed * tables * columns;

  const formats = [
    ["json", '"hashed":true}', count, 10_000_000],
    ["markdown", `${count} columns in all`, 1, 10_000],
    // At most so many changes of all integrations together.
    ["html", "<tr>", 20_000, 10_000_000],
  ] as const;

  test.each(sampleOf(formats, { name: "memory, formats", kindOf: () => "two", most: () => 2 }))(
    "-o %s",
    async (format, text, least, mostBytes) => {
      const found = await counted(startCli(["plan", "-q", "-o", format, ...lifted], await changedProject(changed, heapMiB)), text);
      expect(found.stderr).not.toContain("E_");
      expect(found.code).toBe(0);
      expect(found.times).toBeGreaterThanOrEqual(least);
      expect(found.times).toBeLessThan(least * 1.1 + 1);
      expect(found.bytes).toBeLessThan(mostBytes);
    },
  );
});

test.runIf(isAll)("a plan of 222,000 changes is saved, shown and refused by apply in a heap of 120 MiB", async () => {
  const changed = 37;
  const text = `${changed * tables * columns} changes, all protect`;
  const project = await changedProject(changed, 120);
  const file = join(project.cwd, "plan.json");
  expect(await counted(startCli(["plan", "-q", "--out", file], project), text)).toMatchObject({ times: 1, code: 3 });
  expect(statSync(file).size).toBeLessThan(20_000_000);
  expect(await counted(startCli(["show", file], project), text)).toMatchObject({ times: 1, code: 0 });
  const { code, stderr, stdout } = await dimsync(["apply", file], project);
  expect(stdout + stderr).toContain("maxChangedPercent");
  expect(code).toBe(3);
});
