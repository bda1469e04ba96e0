import { spawn } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { schemaNames } from "../../../src/core/manifests/schema/lookup.ts";
import { type EmbeddedOptions, seedAccount, startEmbeddedService, type TableEntry } from "../../../src/embedded/index.ts";
import { builtCli, emptyFolder, repository } from "../../cli/built-cli.ts";
import { canaries, mixedProject } from "../../faults/mixed-project.ts";
import { connectMcp, startMcp } from "../../support/mcp-client.ts";
import { configText, filesIn, keyVariable, writeFolder } from "../../support/project-folder.ts";

const manifests = `apiVersion: dimsync/v1
kind: Integration
metadata: { name: orders, labels: { team: a } }
spec: { match: { name: Orders } }
---
apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: orders }
spec:
  integration: orders
  rules: [{ id: pii, match: { column: "*email*" }, set: { hashed: true } }]
---
apiVersion: dimsync/v1
kind: Classification
metadata: { name: personal }
spec: { labels: [{ label: contact, match: { column: "*email*" }, reason: register 12 }] }
`;

/** A project with its account, and a server for it. */
async function session(
  options: EmbeddedOptions = {},
  files: Readonly<Record<string, string>> = {},
  env: Readonly<Record<string, string>> = {},
) {
  const opened = await openSession(options, files, env);
  onTestFinished(opened.close);
  return opened;
}

async function openSession(options: EmbeddedOptions, files: Readonly<Record<string, string>>, env: Readonly<Record<string, string>>) {
  const methods: string[] = [];
  const service = await startEmbeddedService({ ...options, onExchange: ({ method }) => void methods.push(method) });
  const folder = writeFolder({ "dimsync.yaml": configText(service.url), "manifests/orders.yaml": manifests, ...files });
  const connected = await connectMcp(folder, { [keyVariable]: service.apiKey, ...env });
  const close = async (): Promise<void> => {
    await connected.client.close();
    await service.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { ...connected, folder, methods, service, close };
}

/** For tests that leave project and account as they were. */
let usual: Awaited<ReturnType<typeof openSession>>;
beforeAll(async () => {
  usual = await openSession({}, {}, { DIMSYNC_ALLOW_CODE: "1" });
});
afterAll(() => usual.close());

/** The usual session, with further files until the test ends. */
function usualWith(files: Readonly<Record<string, string>>): typeof usual {
  for (const [path, text] of Object.entries(files)) {
    const file = join(usual.folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    onTestFinished(() => rmSync(file));
  }
  return usual;
}

/** Every tool with arguments that work in that project. */
const calls: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  validate: {},
  plan: { listUnmanaged: true },
  drift: {},
  explain: { address: "SchemaConfig/orders", path: "public.users.email" },
  render: { expand: true },
  get: { kind: "Integration" },
  register: { label: ["contact"] },
  audit: { since: "30d" },
};

const wrongArguments: readonly (readonly [string, Readonly<Record<string, unknown>>, string])[] = [
  ["plan", { target: "nowhere" }, "nowhere"],
  ["plan", { onyl: ["*"] }, 'Unknown argument "onyl". Arguments: '],
  ["plan", { out: "plan.json" }, 'Unknown argument "out"'],
  ["plan", { only: "Tag/x" }, "The argument only must be a list of strings."],
  ["plan", { format: "html" }, "The argument format must be one of markdown, json"],
  ["plan", { base: "--output=x" }, "E_NO_GIT: `base` needs the git repository"],
  ["plan", { only: ["Tag/nothing"] }, "`only`"],
  ["drift", { listUnmanaged: "yes" }, "The argument listUnmanaged must be a boolean."],
  ["explain", {}, "The argument address is missing."],
  ["explain", { address: "SchemaConfig/orders", path: "a.b.c.d" }, "E_USAGE"],
  ["get", { kind: "integration" }, "Did you mean Integration?"],
  ["audit", { since: "yesterday" }, "Invalid `since`"],
];

describe("the tools", () => {
  it("are named as commands, and say that they only read", async () => {
    const { client } = usual;
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(Object.keys(calls));
    for (const { annotations, inputSchema } of tools) {
      expect(annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false });
      expect(inputSchema).toMatchObject({ type: "object", additionalProperties: false });
    }
    expect(client.getServerVersion()).toMatchObject({ name: "dimsync" });
    expect(client.getInstructions()).toContain("only read");
  });

  it("send only GET, and change no file", async () => {
    const { call, methods, folder } = usual;
    methods.length = 0;
    const before = filesIn(folder);
    for (const [name, args] of Object.entries(calls)) {
      const { texts, isError } = await call(name, args);
      expect({ name, isError }, texts.join("\n")).toEqual({ name, isError: false });
    }
    expect(methods.length).toBeGreaterThan(10);
    expect(new Set(methods)).toEqual(new Set(["GET"]));
    expect(filesIn(folder)).toEqual(before);
  });

  it("return the documents of the commands, and their exit codes", async () => {
    const { call } = usual;
    const [plan = "", notes = ""] = (await call("plan", { format: "json" })).texts;
    expect(JSON.parse(plan)).toMatchObject({ kind: "Plan", summary: { update: 1 } });
    expect(notes).toBe("Exit code: 0");
    const drift = (await call("drift")).texts;
    expect(drift[0]).toContain("| ");
    expect(drift[1]).toBe("Exit code: 2");
    const explained = JSON.parse((await call("explain", calls["explain"])).texts[0] ?? "");
    expect(explained[0]).toMatchObject({ address: "Schemas/orders", said: [{ rule: "pii", file: "manifests/orders.yaml" }] });
    expect(JSON.parse((await call("get", { kind: "Integration" })).texts[0] ?? "")[0]).toMatchObject({ id: "8f1c", name: "Orders" });
    expect(JSON.parse((await call("audit")).texts[0] ?? "").items.length).toBeGreaterThan(0);
    expect((await call("render", { address: "Integration/orders" })).texts[0]).toContain("kind: Integration");
  });

  it("report the problems of manifests", async () => {
    const { call } = usualWith({
      "manifests/wrong.yaml": "apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: x }\nspec: { nam: X }\n",
    });
    const [text, notes] = (await call("validate", { format: "json" })).texts;
    expect(JSON.parse(text ?? "").diagnostics[0]).toMatchObject({ file: "manifests/wrong.yaml", line: 4 });
    expect(notes).toBe("Exit code: 1");
    expect(await call("render")).toMatchObject({
      isError: true,
      texts: [expect.stringContaining("manifests/wrong.yaml:4"), "Exit code: 1"],
    });
  });

  it("refuse wrong arguments", async () => {
    const { call, folder, methods } = usual;
    methods.length = 0;
    const before = filesIn(folder);
    for (const [name, args, message] of wrongArguments) {
      const { texts, isError } = await call(name, args);
      expect([isError, texts.join("\n")]).toEqual([true, expect.stringContaining(message)]);
      expect(texts.join("\n")).not.toContain("    at ");
    }
    expect([filesIn(folder), methods]).toEqual([before, []]);
  });

  it("have no tool that writes", async () => {
    const { call } = usual;
    for (const name of ["apply", "import", "bind", "fmt"]) await expect(call(name)).rejects.toThrow(`Unknown tool "${name}"`);
  });

  it("report an account that cannot be read, and work when it can be read again", async () => {
    const { call, service } = usual;
    service.addFault("GET /v1/integrations=status:500");
    expect((await call("get", { kind: "Integration" })).texts.join("\n")).toContain("500");
    service.clearFaults();
    expect((await call("get", { kind: "Integration" })).isError).toBe(false);
  });

  it("shorten a large result, and say what is left out", async () => {
    const tables = Array.from({ length: 5_000 }, (_, index): readonly [string, TableEntry] => [
      `table_${index}`,
      { nameInDestination: `table_${index}`, enabled: true, syncMode: "incremental", columns: {} },
    ]);
    const { call, service } = usual;
    service.mutate((state) => {
      for (const integration of state.integrations)
        integration.schemas = { public: { nameInDestination: "public", enabled: true, tables: Object.fromEntries(tables) } };
    });
    onTestFinished(() => service.mutate((state) => Object.assign(state, seedAccount())));
    const { texts, isError } = await call("get", { kind: "Schemas", id: "8f1c" });
    expect(isError).toBe(false);
    expect(Buffer.byteLength(texts.join(""))).toBeLessThanOrEqual(256 * 1024);
    const kept = Object.keys(JSON.parse(texts[0] ?? "").public.tables).length;
    expect(kept).toBeGreaterThan(1_000);
    expect(texts[1]).toContain(`Left out, because a result has at most 256 KiB: ${5_000 - kept} of 5000 entries of /public/tables.`);
  });

  it("can be cancelled", async () => {
    const { client, call, methods, stderr } = await session({ faults: ["GET /v1/tags@1=delay:60000"] }, {}, { DIMSYNC_LOG: "debug" });
    const abort = new AbortController();
    const called = client.callTool({ name: "get", arguments: { kind: "Tag" } }, undefined, { signal: abort.signal });
    expect((await call("validate")).isError).toBe(false);
    await expect.poll(() => methods).toEqual(["GET"]);
    abort.abort("the user stopped it");
    await expect(called).rejects.toThrow("the user stopped it");
    await expect.poll(stderr).toMatch(/debug: GET \/v1\/tags - \d+ ms E_INTERRUPTED/u);
    expect((await call("validate")).isError).toBe(false);
  });
});

describe("the resources", () => {
  it("are the glossary, the schemas and the manifests", async () => {
    const { client } = usual;
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual([
      "dimsync://glossary",
      ...schemaNames.map((name) => `dimsync://schemas/${name}`),
      "dimsync://manifests/Classification/personal",
      "dimsync://manifests/Integration/orders",
      "dimsync://manifests/SchemaConfig/orders",
    ]);
    for (const { uri } of resources) {
      const { contents } = await client.readResource({ uri });
      expect(JSON.stringify(contents).length, uri).toBeGreaterThan(50);
      // What people wrote is marked as in the results of tools.
      expect(/<data-[0-9a-f]{16}>/u.test(JSON.stringify(contents)), uri).toBe(uri.startsWith("dimsync://manifests/"));
    }
    expect((await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      "dimsync://manifests/{+address}",
    ]);
  });

  it("come in several pages above 256 KiB", async () => {
    const count = 3_000;
    const tag = (index: number) =>
      `apiVersion: dimsync/v1\nkind: Tag\nmetadata: { name: t${index} }\nspec: { name: T${index}, resources: [] }\n`;
    const { client } = usualWith({ "manifests/tags.yaml": Array.from({ length: count }, (_, index) => tag(index)).join("---\n") });
    const uris: string[] = [];
    let [cursor, pages] = [undefined as string | undefined, 0];
    do {
      const page = await client.listResources(cursor === undefined ? {} : { cursor });
      uris.push(...page.resources.map(({ uri }) => uri));
      cursor = page.nextCursor;
      pages += 1;
    } while (cursor !== undefined);
    expect([pages, new Set(uris).size]).toEqual([2, 1 + schemaNames.length + count + 3]);
  });

  it("do not include anything else", async () => {
    const { client } = usual;
    for (const uri of [
      "dimsync://manifests/Tag/x",
      "dimsync://manifests/",
      "dimsync://schemas/../package.json",
      "file:///etc/passwd",
      "nonsense",
    ])
      await expect(client.readResource({ uri })).rejects.toThrow(/E_UNKNOWN_ADDRESS|Unknown resource/u);
  });

  it("are there without a project", async () => {
    const { client } = await startMcp(emptyFolder());
    expect((await client.listResources()).resources.map(({ uri }) => uri)).toEqual([
      "dimsync://glossary",
      ...schemaNames.map((name) => `dimsync://schemas/${name}`),
    ]);
  });
});

describe("the server", () => {
  it("never prints a secret", async () => {
    const service = await startEmbeddedService({
      apiKeys: { [canaries.TEST_API_KEY]: "bot@example.com" },
      extended: true,
      errorBody: "echo",
    });
    onTestFinished(service.close);
    const project = mixedProject(service, { timeoutSeconds: 5, retries: 0, settleSeconds: 0 });
    onTestFinished(project.remove);
    const literal = "canary-literal-ab77";
    const answers: string[] = [];
    const { client, call, stderr } = await startMcp(project.folder, { ...canaries, DIMSYNC_LOG: "debug" });
    const callAll = async () => {
      for (const [name, args] of Object.entries(calls))
        answers.push(...(await call(name, args)).texts, ...(await call(name, { ...args, format: "json" })).texts);
      for (const { uri } of (await client.listResources()).resources)
        answers.push(JSON.stringify(await client.readResource({ uri }).catch((error: unknown) => String(error))));
    };
    await callAll();
    writeFileSync(
      join(project.folder, "manifests", "wrong.yaml"),
      `apiVersion: dimsync/v1\nkind: Asset\nmetadata: { name: cellar }\nspec: { name: Cellar, type: s3, connection: { token: ${literal} } }\n`,
    );
    await callAll();
    const all = [...answers, stderr()].join("\n");
    expect(all).toContain("E_LITERAL_SECRET");
    expect(stderr()).toContain("debug: GET /v1/integrations 200");
    for (const secret of [...Object.values(canaries).flatMap((value) => value.split("\n")), literal])
      for (const form of [secret, JSON.stringify(secret).slice(1, -1), Buffer.from(secret).toString("base64").replace(/=+$/u, "")])
        expect(all).not.toContain(form);
  });

  it("survives malformed lines, and ends with its input", async () => {
    const child = spawn(process.execPath, [builtCli, "mcp"], { cwd: repository, stdio: "pipe" });
    let [out, err] = ["", ""];
    child.stdout.on("data", (chunk) => {
      out += String(chunk);
    });
    child.stderr.on("data", (chunk) => {
      err += String(chunk);
    });
    const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
    child.stdin.write('{ "jsonrpc": \n{"jsonrpc":"2.0","id":1,"method":"nonsense"}\n{"jsonrpc":"2.0","id":2,"method":"ping"}\n');
    await expect.poll(() => out).toContain('"id":2');
    expect(
      out
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line).id),
    ).toEqual([1, 2]);
    expect(err).not.toContain("    at ");
    child.stdin.end();
    expect(await ended).toBe(0);
  });

  it("ends calls that still run when its input ends", async () => {
    const service = await startEmbeddedService({ latencyMs: 60_000 });
    onTestFinished(service.close);
    const folder = emptyFolder({ "dimsync.yaml": configText(service.url), "manifests/orders.yaml": manifests });
    const { client, pid } = await startMcp(folder, { [keyVariable]: service.apiKey });
    const called = client.callTool({ name: "plan", arguments: {} }).catch(() => "closed");
    await client.ping();
    // The client ends the input, and would send a signal after two seconds.
    await client.close();
    expect(await called).toBe("closed");
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  });

  it("uses the target, the folder and the config of its command line", async () => {
    const service = await startEmbeddedService();
    onTestFinished(service.close);
    const config = configText(service.url, {
      targets: { a: { baseUrl: "https://a.example.com" }, b: { baseUrl: service.url, apiKey: { $secret: { env: keyVariable } } } },
    });
    const folder = emptyFolder({ "project/dimsync.yaml": config, "project/manifests/orders.yaml": manifests });
    const { call } = await startMcp(folder, { [keyVariable]: service.apiKey }, ["-C", "project", "-t", "b"]);
    expect((await call("get", { kind: "Integration" })).isError).toBe(false);
    expect((await call("get", { kind: "Integration", target: "a" })).texts.join("\n")).toContain('target "a"');
  });
});
