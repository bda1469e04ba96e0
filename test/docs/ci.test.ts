import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { startEmbeddedService } from "../../src/embedded/index.ts";
import { lintWorkflow } from "../ci/actionlint.ts";
import { runCommand } from "../support/command.ts";
import { ordersManifest } from "../support/orders.ts";
import { writeProject } from "../support/project-folder.ts";

test("docs/reference is what docs/generate.mjs makes of schemas, command line and sources", () => {
  execFileSync(process.execPath, ["docs/generate.mjs", "--check"], { stdio: ["ignore", "pipe", "pipe"], encoding: "utf8" });
});

const isPage = (name: string): boolean => name.endsWith(".md");
const pages = [
  ...readdirSync(".").filter(isPage),
  ...["docs", ".github", "examples"].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => isPage(name) && !name.includes("node_modules"))
      .map((name) => join(folder, name)),
  ),
];

/** Text without code, because brackets in code are not links. */
const prose = (text: string): string => text.replaceAll(/^(```+)[\s\S]*?^\1/gmu, "").replaceAll(/`[^`\n]*`/gu, "");

/** Anchors of a page's headings, as GitHub makes them. */
function anchorsOf(file: string): ReadonlySet<string> {
  const seen = new Map<string, number>();
  const anchors = [
    ...readFileSync(file, "utf8")
      .replaceAll(/^(```+)[\s\S]*?^\1/gmu, "")
      .matchAll(/^#{1,6} (.*)$/gmu),
  ].map(([, heading = ""]) => {
    const plain = heading
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, "")
      .replaceAll(" ", "-");
    const count = seen.get(plain) ?? 0;
    seen.set(plain, count + 1);
    return count === 0 ? plain : `${plain}-${count}`;
  });
  return new Set(anchors);
}

function brokenLinks(file: string, text: string): readonly string[] {
  return [...prose(text).matchAll(/\[[^\]]*\]\(([^)\s]+)\)/gu)].flatMap(([, link = ""]) => {
    if (/^[a-z]+:/u.test(link)) return [];
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? file : resolve(dirname(file), path);
    if (!existsSync(target) || relative(".", target).startsWith("..")) return [link];
    return anchor === undefined || (statSync(target).isFile() && anchorsOf(target).has(anchor)) ? [] : [link];
  });
}

describe("links", () => {
  test.each(pages)("%s", (file) => {
    expect(brokenLinks(file, readFileSync(file, "utf8"))).toEqual([]);
  });

  test("those that lead nowhere are found", () => {
    expect(
      brokenLinks("docs/ci.md", "[a](nowhere.md) [b](ci.md#nothing) [c](#in-ci) [d](https://example.com) [e](../../elsewhere.md)"),
    ).toEqual(["nowhere.md", "ci.md#nothing", "../../elsewhere.md"]);
  });
});

describe("docs/ci.md", () => {
  const text = readFileSync("docs/ci.md", "utf8");
  const action = parse(readFileSync("action.yml", "utf8")) as { readonly inputs: object; readonly outputs: object };

  test("names every input and output of the action", () => {
    for (const name of [...Object.keys(action.inputs), ...Object.keys(action.outputs)]) expect(text).toContain(`\`${name}\``);
  });

  const workflows = [...text.matchAll(/^```yaml\n(name: [\s\S]*?)^```/gmu)].map(([, workflow = ""]) => workflow);

  test("its workflows pass actionlint", async () => {
    expect(workflows).toHaveLength(3);
    for (const workflow of workflows) expect(await lintWorkflow(workflow, "docs.yml")).toEqual([]);
  });

  test("the callers of the reusable workflows grant the permissions that these need, and pass known inputs and secrets", () => {
    const callers = workflows.flatMap((workflow) =>
      Object.values((parse(workflow) as { readonly jobs: Readonly<Record<string, Caller>> }).jobs),
    );
    const calls = callers.flatMap((caller) => (caller.uses === undefined ? [] : [{ ...caller, uses: caller.uses }]));
    expect(calls).toHaveLength(4);
    for (const { uses, permissions, with: inputs = {}, secrets } of calls) {
      const [, file = ""] = /^OWNER\/dimsync\/(\S+)@v0$/u.exec(uses) ?? [];
      const called = parse(readFileSync(file, "utf8")) as Called;
      for (const { permissions: needed } of Object.values(called.jobs))
        for (const [name, access] of Object.entries(needed)) expect(["write", access], `${file}: ${name}`).toContain(permissions?.[name]);
      expect(Object.keys(called.on.workflow_call.inputs)).toEqual(expect.arrayContaining(Object.keys(inputs)));
      if (typeof secrets === "object")
        expect(Object.keys(called.on.workflow_call.secrets)).toEqual(expect.arrayContaining(Object.keys(secrets)));
    }
  });
});

describe("docs/other-ci.md", () => {
  const text = readFileSync("docs/other-ci.md", "utf8");
  const blocks = [...text.matchAll(/^```(yaml|groovy)\n([\s\S]*?)^```/gmu)].map(([, language = "", code = ""]) => ({ language, code }));

  test("has pipelines that are valid YAML, and install this version", () => {
    const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly version: string };
    expect(blocks.map(({ language }) => language)).toEqual(["yaml", "yaml", "groovy"]);
    for (const { language, code } of blocks) {
      expect(code).toContain(`dimsync@${version}`);
      if (language === "yaml") expect(parse(code)).toMatchObject({});
    }
  });

  test("its commands work with a key and a target of the environment", async () => {
    const commands = [...text.matchAll(/node_modules\/\.bin\/dimsync" ([a-z][^'\n]*)/gu)].map(([, command = ""]) => command.trim());
    expect(commands.map((command) => command.split(" ")[0])).toEqual([...Array(3)].flatMap(() => ["plan", "apply", "drift"]));
    const service = await startEmbeddedService();
    onTestFinished(service.close);
    const targets = `targets: { dev: { baseUrl: "https://dev.example.com" }, prod: { baseUrl: "${service.url}", apiKey: { $secret: { env: DIMSYNC_API_KEY } } } }`;
    const folder = writeProject({
      "dimsync.yaml": `apiVersion: dimsync/v1\nkind: Config\nmanifests: [manifests]\n${targets}\n`,
      "manifests/orders.yaml": ordersManifest("email: { hashed: true }"),
    });
    const env = { DIMSYNC_TARGET: "prod", DIMSYNC_API_KEY: service.apiKey, DIMSYNC_ALLOWED_HOSTS: "127.0.0.1" };
    expect(text).toContain("- mkdir -p test-results\n");
    mkdirSync(join(folder, "test-results"));
    for (const command of commands) {
      const { code, stderr } = await runCommand(command.split(" "), folder, env);
      expect([command, code], stderr).toEqual([command, 0]);
    }
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(["plan.md", "plan.xml", "apply.xml", "drift.xml"]));
  });
});

interface Caller {
  readonly uses?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly with?: Readonly<Record<string, string>>;
  readonly secrets?: "inherit" | Readonly<Record<string, string>>;
}
interface Called {
  readonly on: { readonly workflow_call: { readonly inputs: object; readonly secrets: object } };
  readonly jobs: Readonly<Record<string, { readonly permissions: Readonly<Record<string, string>> }>>;
}
