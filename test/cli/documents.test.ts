// The README shows what the program prints, and its links and commands exist.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { dimsync, quickstart, repository } from "./built-cli.ts";

const textOf = (path: string): string => readFileSync(join(repository, path), "utf8");

describe("the workflows", () => {
  test.each(readdirSync(join(repository, ".github/workflows")).filter((name) => name.endsWith(".yml")))(
    "%s is a valid workflow",
    (name) => {
      const documents = parseAllDocuments(textOf(`.github/workflows/${name}`), { strict: true, uniqueKeys: true });
      expect(documents).toHaveLength(1);
      const workflow = parse(textOf(`.github/workflows/${name}`));
      expect(typeof workflow.name).toBe("string");
      expect(Object.keys(workflow.on).length).toBeGreaterThan(0);
      // Without it, the token has all permissions.
      expect(workflow.permissions).toBeDefined();
      for (const job of Object.values<Job>(workflow.jobs)) {
        if (job.uses !== undefined) continue;
        expect(typeof job["runs-on"]).toBe("string");
        for (const step of job.steps ?? []) expect([step.run, step.uses].filter((what) => typeof what === "string")).toHaveLength(1);
      }
    },
  );
});

describe("the README", () => {
  const block = (name: string): string =>
    new RegExp(`<!-- ${name} -->\n+\`\`\`[a-z]*\n(.*?)\`\`\``, "su").exec(textOf("README.md"))?.[1] ?? "";

  test("shows an unchanged manifest of the quick start", () => {
    const manifest = block("manifest");
    expect(manifest).toMatch(/^apiVersion/u);
    expect(textOf("examples/quickstart/manifests/orders.yaml")).toContain(manifest);
  });

  test("shows the plan that the program prints", async () => {
    const { stdout } = await dimsync(["plan", "--only", "*/orders"], { cwd: quickstart() });
    expect(`$ dimsync plan --only '*/orders'\n${stdout}`).toBe(block("plan"));
  });

  test("links to existing files", () => {
    const links = [...textOf("README.md").matchAll(/\]\(([^)#:]+)\)/gu)].map(([, path = ""]) => path);
    expect(links.length).toBeGreaterThan(5);
    for (const path of links) expect(() => readFileSync(join(repository, path))).not.toThrow();
  });

  test("only uses scripts of package.json in its commands", () => {
    const { scripts } = JSON.parse(textOf("package.json"));
    for (const [, script = ""] of textOf("README.md").matchAll(/npm run ([a-z]+)/gu)) expect(Object.keys(scripts)).toContain(script);
  });
});

interface Step {
  readonly name?: string;
  readonly run?: string;
  readonly uses?: string;
  readonly if?: string;
}

interface Job {
  readonly "runs-on"?: string;
  readonly uses?: string;
  readonly steps?: readonly Step[];
}
