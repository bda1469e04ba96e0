import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type EmbeddedService, startEmbeddedService } from "../../../src/embedded/index.ts";
import { dimsyncHere, emptyFolder } from "../../cli/built-cli.ts";
import { configText, keyVariable, writeFolder } from "../../support/project-folder.ts";
import { startYamlEditor, type YamlEditor } from "../../support/yaml-language-server.ts";

let service: EmbeddedService;
const methods: string[] = [];

beforeAll(async () => {
  service = await startEmbeddedService({ onExchange: ({ method }) => void methods.push(method) });
});
afterAll(() => service.close());

/** A project whose manifest `orders` is the live integration Orders. A second manifest has a mistake, as while someone edits it. */
const project = (): string =>
  emptyFolder({
    "dimsync.yaml": configText(service.url),
    "manifests/orders.yaml":
      "apiVersion: dimsync/v1\nkind: Integration\nmetadata: { name: orders }\nspec: { match: { name: Orders } }\n---\napiVersion: dimsync/v1\nkind: SchemaConfig\nmetadata: { name: x }\nspec: { integration: \n",
  });

const run = (folder: string, ...args: string[]) =>
  dimsyncHere(["schema", ...args], { cwd: folder, env: { [keyVariable]: service.apiKey } });

const editors = new Map<string, { readonly editor: YamlEditor; readonly folder: string }>();
afterAll(async () => {
  for (const { editor, folder } of editors.values()) {
    await editor.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

/** An editor in a project with the schema of this command line, started once. */
async function editorWith(...args: string[]): Promise<YamlEditor> {
  const started = editors.get(args.join(" "));
  if (started !== undefined) return started.editor;
  const { code, stdout, stderr } = await run(project(), ...args);
  expect(code, stderr).toBe(0);
  const folder = writeFolder({ "live.schema.json": stdout });
  const editor = await startYamlEditor(folder);
  editors.set(args.join(" "), { editor, folder });
  return editor;
}

const config = (spec: string): string =>
  `# yaml-language-server: $schema=./live.schema.json\napiVersion: dimsync/v1\nkind: SchemaConfig\nmetadata: { name: shops }\nspec:\n${spec}`;
const orders = "  integration: orders\n";
const publicTables = `${orders}  schemas:\n    public:\n      tables:\n`;

describe("a YAML editor with the schema of an account", () => {
  it("completes the names of the integration that the manifest names", async () => {
    const editor = await editorWith("SchemaConfig", "--from-live");
    const offered = async (spec: string) => (await editor.completions(config(spec))).join(" ");
    expect(await offered("  integration: |\n")).toBe("Billing Orders orders shop-shard-01 shop-shard-02");
    expect(await offered(`${orders}  schemas:\n    |\n`)).toBe("public reporting");
    expect(await offered("  integration: { id: b27d }\n  schemas:\n    |\n")).toBe("billing");
    expect(await offered(`${publicTables}        |\n`)).toBe("audit_events customers order_items orders payments products users");
    expect(await offered(`${publicTables}        users:\n          columns:\n            |\n`)).toBe(
      "display_name email id last_login_at password_hash updated_at",
    );
    expect(await offered(`${publicTables}        users:\n          columns:\n            email:\n              |\n`)).toBe(
      "enabled hashed",
    );
    expect(await offered(`${orders}  rules:\n    - match:\n        schema: |\n`)).toBe("public reporting");
    expect(await offered(`${orders}  rules:\n    - match:\n        table:\n          - |\n`)).toContain("daily_sales order_items");
    expect(await offered(`${orders}  expect:\n    - match:\n        column: |\n`)).toContain("card_last_four");
  });

  it("completes the names of all integrations for a selector", async () => {
    const editor = await editorWith("SchemaConfig", "--from-live");
    expect(await editor.completions(config("  integrations:\n    names: ['*']\n  schemas:\n    |\n"))).toEqual([
      "billing",
      "public",
      "reporting",
    ]);
  });

  it("accepts names that are not live, and reports mistakes as before", async () => {
    const editor = await editorWith("SchemaConfig", "--from-live");
    const tree = (field: string) => config(`${publicTables}        soon: { columns: { x: { ${field} } } }\n`);
    expect(await editor.problems(tree("hashed: true"))).toEqual([]);
    expect(await editor.problems(tree("masked: true"))).toEqual(["Property masked is not allowed."]);
  });

  it("completes documents of several kinds with the schema of all manifests", async () => {
    const editor = await editorWith("--from-live");
    const head = "# yaml-language-server: $schema=./live.schema.json\napiVersion: dimsync/v1\n";
    const ruleSet = `${head}kind: RuleSet\nmetadata: { name: pii }\nspec:\n  rules:\n    - match:\n        schema: |\n`;
    expect(await editor.completions(`${config(orders)}---\n${ruleSet}`)).toEqual(["billing", "public", "reporting"]);
    const tag = `${head}kind: Tag\nmetadata: { name: pii }\nspec:\n  name: PII\n`;
    expect(
      await editor.completions(config(`${orders}  rules:\n    - match:\n        schema: |\n---\n${ruleSet.replace("|", "x")}---\n${tag}`)),
    ).toEqual(["public", "reporting"]);
    expect(await editor.completions(`${tag}---\n${config(orders)}---\n${ruleSet}`)).toEqual(["billing", "public", "reporting"]);
  });

  it("completes only the integrations of --integration", async () => {
    const editor = await editorWith("SchemaConfig", "--from-live", "--integration", "shop-*");
    expect(await editor.completions(config("  integration: |\n"))).toEqual(["shop-shard-01", "shop-shard-02"]);
  });
});

describe("dimsync schema with names", () => {
  it("only reads the account", async () => {
    methods.length = 0;
    expect((await run(project(), "SchemaConfig", "--from-live")).code).toBe(0);
    expect(new Set(methods)).toEqual(new Set(["GET"]));
  });

  it("prints the same from a snapshot, without a key", async () => {
    const folder = project();
    const env = { [keyVariable]: service.apiKey };
    expect((await dimsyncHere(["snapshot", "--out", "account.json"], { cwd: folder, env })).code).toBe(0);
    const live = await run(folder, "SchemaConfig", "--from-live");
    const { code, stdout, stderr } = await dimsyncHere(["schema", "SchemaConfig", "--snapshot", "account.json"], { cwd: folder });
    expect(code, stderr).toBe(0);
    expect(stdout).toBe(live.stdout);
  });

  it("needs no project for a snapshot", async () => {
    const folder = project();
    await dimsyncHere(["snapshot", "--out", "account.json"], { cwd: folder, env: { [keyVariable]: service.apiKey } });
    const { code, stdout, stderr } = await dimsyncHere(["schema", "--snapshot", join(folder, "account.json")]);
    expect(code, stderr).toBe(0);
    expect(stdout).toContain("shop-shard-02");
  });

  it("says which columns it does not know", async () => {
    const other = await startEmbeddedService({ schemaForm: "snake" });
    onTestFinished(other.close);
    const folder = emptyFolder({ "dimsync.yaml": configText(other.url) });
    const { stdout, stderr } = await dimsyncHere(["schema", "--from-live"], { cwd: folder, env: { [keyVariable]: other.apiKey } });
    expect(stderr).toContain("The columns of tables that are not replicated are left out in ");
    expect(JSON.parse(stdout).title).toBe("Manifest");
  });

  it.each([
    [["Policy", "--from-live"], "The schema Policy has no names of schemas, tables and columns."],
    [["--integration", "orders"], "--integration needs --from-live or --snapshot FILE."],
    [["--from-live", "--snapshot", "x.json"], "--from-live and --snapshot cannot be combined."],
    [["--from-live", "--integration", "order"], 'No integration matches --integration "order". Did you mean orders?'],
    [["--snapshot", "x.json"], "x.json"],
  ])("refuses %j", async (args, message) => {
    const { code, stdout, stderr } = await run(project(), ...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain(message);
  });
});
