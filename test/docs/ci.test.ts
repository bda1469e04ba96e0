// The reference is generated, and the links and commands of the documents work.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { startEmbeddedService } from "../../src/embedded/index.ts";
import { lintWorkflow } from "../features/ci/actionlint.ts";
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
});

describe("the GitHub action", () => {
  const action = parse(readFileSync("action.yml", "utf8")) as { readonly inputs: object; readonly outputs: object };

  test("has its inputs and outputs in docs/other-ci.md", () => {
    const text = readFileSync("docs/other-ci.md", "utf8");
    for (const name of [...Object.keys(action.inputs), ...Object.keys(action.outputs)]) expect(text).toContain(`\`${name}\``);
  });

  test("is used in a workflow of docs/other-ci.md that passes actionlint", async () => {
    const [, workflow = ""] = /^```yaml\n(name: [\s\S]*?)^```/mu.exec(readFileSync("docs/other-ci.md", "utf8")) ?? [];
    expect(workflow).toContain("uses: OWNER/dimsync@v0");
    expect(await lintWorkflow(workflow, "docs.yml")).toEqual([]);
  });
});

describe("docs/other-ci.md", () => {
  const [, text = ""] = readFileSync("docs/other-ci.md", "utf8").split("\n## Systems without `dimsync ci`\n");
  const [, script = ""] = /^```sh\n([\s\S]*?)^```/mu.exec(text) ?? [];

  test("has commands that install this version, and work with a key and a target of the environment", async () => {
    const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly version: string };
    expect(script).toContain(`dimsync@${version}\n`);
    const commands = [...script.matchAll(/node_modules\/\.bin\/dimsync" ([a-z].*)$/gmu)].map(([, command = ""]) => command);
    expect(commands.map((command) => command.split(" ")[0])).toEqual(["plan", "apply", "drift"]);
    const service = await startEmbeddedService();
    onTestFinished(service.close);
    const targets = `targets: { dev: { baseUrl: "https://dev.example.com" }, prod: { baseUrl: "${service.url}", apiKey: { $secret: { env: DIMSYNC_API_KEY } } } }`;
    const folder = writeProject({
      "dimsync.yaml": `apiVersion: dimsync/v1\nkind: Config\nmanifests: [manifests]\n${targets}\n`,
      "manifests/orders.yaml": ordersManifest("email: { hashed: true }"),
    });
    const env = { DIMSYNC_TARGET: "prod", DIMSYNC_API_KEY: service.apiKey, DIMSYNC_ALLOWED_HOSTS: new URL(service.url).host };
    for (const command of commands) {
      const { code, stderr } = await runCommand(command.split(" "), folder, env);
      expect([command, code], stderr).toEqual([command, 0]);
    }
    expect(readdirSync(folder)).toContain("plan.md");
  });
});
