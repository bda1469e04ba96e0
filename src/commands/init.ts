import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { schemaText } from "../manifests/schema-text.ts";
import { DimsyncError } from "../model/errors.ts";
import type { ExitCode } from "../model/exit.ts";
import type { Context } from "./context.ts";

/** `dimsync init [DIR]`: config, folders, editor schemas and CI workflows. Leaves every file that is there as it is. */
export async function runInit({ io, cwd }: Context, directory: string | undefined): Promise<ExitCode> {
  const root = resolve(cwd, directory ?? ".");
  for (const [path, text] of Object.entries(files())) {
    const file = join(root, path);
    try {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text, { flag: "wx" });
      io.stderr(`created  ${relative(cwd, file)}\n`);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST")
        throw new DimsyncError(
          "E_INIT",
          `${file} could not be written: ${(error as Error).message}. Choose a folder that can be written to.`,
          { cause: error },
        );
      const same = (await readFile(file, "utf8").catch(() => undefined)) === text;
      io.stderr(`${same ? "as is  " : "kept   "}  ${relative(cwd, file)}\n`);
    }
  }
  io.stderr("\nNext: set DIMSYNC_API_KEY and targets.prod.baseUrl in dimsync.yaml, then\n  dimsync validate\n  dimsync plan\n");
  return 0;
}

const files = (): Readonly<Record<string, string>> => ({
  "dimsync.yaml": config,
  "manifests/README.md": "# Manifests\n\nOne YAML document per integration, asset, tag and schema configuration; see `dimsync schema`.\n",
  "schema/config.schema.json": schemaText("Config") ?? "",
  "schema/manifest.schema.json": schemaText("Manifest") ?? "",
  ".gitignore": ".dimsync/\nnode_modules/\n",
  ".github/workflows/dimsync-plan.yml": workflow("dimsync plan", "pull_request:", "", [
    "dimsync validate",
    "dimsync plan -o human -o markdown=plan.md",
    'cat plan.md >> "$GITHUB_STEP_SUMMARY"',
  ]),
  ".github/workflows/dimsync-apply.yml": workflow(
    "dimsync apply",
    "push:\n    branches: [main]",
    "concurrency:\n  group: dimsync-apply\n  cancel-in-progress: false\n",
    ["dimsync apply --yes -o human -o markdown=result.md", 'cat result.md >> "$GITHUB_STEP_SUMMARY"'],
  ),
  ".github/workflows/dimsync-drift.yml": workflow("dimsync drift", 'schedule:\n    - cron: "17 5 * * *"\n  workflow_dispatch:', "", [
    "dimsync drift -o human -o markdown=drift.md",
    'cat drift.md >> "$GITHUB_STEP_SUMMARY"',
  ]),
});

const config = `# yaml-language-server: $schema=./schema/config.schema.json
apiVersion: dimsync/v1
kind: Config
manifests: [manifests]
bindings: dimsync.bindings.yaml # written by apply; commit it
targets:
  prod:
    baseUrl: https://api.example.com
    apiKey: { $secret: { env: DIMSYNC_API_KEY } }
`;

/** The steps run whatever comes before them only where it succeeded; the summary is written even where dimsync found something. */
function workflow(name: string, on: string, extra: string, steps: readonly string[]): string {
  const [main, ...rest] = steps.filter((step) => step.startsWith("dimsync"));
  const summary = steps.find((step) => !step.startsWith("dimsync"));
  const runs = [main, ...rest].filter((step) => step !== undefined);
  return `name: ${name}
on:
  ${on}
permissions:
  contents: read
${extra}jobs:
  dimsync:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with: { node-version: 22 }
      - run: npm install --global dimsync
${runs.map((step) => `      - run: ${step}\n        env: { DIMSYNC_API_KEY: "\${{ secrets.DIMSYNC_API_KEY }}" }\n`).join("")}      - if: always()
        run: ${summary}
`;
}
