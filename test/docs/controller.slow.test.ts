import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { dimsync, startCli } from "../cli/built-cli.ts";
import { ordersManifest } from "../support/orders.ts";
import { sharedPostgres } from "../support/postgres/shared.ts";
import { needs } from "../support/programs.ts";
import { writeProject } from "../support/project-folder.ts";
import { startService } from "../support/service.ts";
import { waiting } from "../support/waiting.ts";

const page = readFileSync("docs/controller.md", "utf8");

test("docs/controller.md installs the versions of the packages that dimsync is tested with", () => {
  const { peerDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
  for (const name of ["pg-boss", "@electric-sql/pglite"]) expect(page).toContain(` ${name}@${peerDependencies[name]}`);
});

test("a project whose records are in files is set up for a team with the commands of docs/controller.md", needs("postgresql"), async () => {
  const service = await startService({ apiKeys: { "a-key": "bot@example.com" } });
  onTestFinished(() => service.close());
  const [, controller = ""] = /^ {4}(controller: \{.*)$/mu.exec(page) ?? [];
  const cwd = writeProject({
    "dimsync.yaml": `apiVersion: dimsync/v1
kind: Config
manifests: [manifests]
targets:
  prod:
    baseUrl: ${service.url}
    apiKey: { $secret: { env: KEY } }
    ${controller}
`,
    "manifests/orders.yaml": ordersManifest("email: { hashed: true }"),
  });
  const secrets = { KEY: "a-key", USER: "ann" };
  expect(await dimsync(["apply", "--yes"], { cwd, env: secrets })).toMatchObject({ code: 0 });
  const env = { ...secrets, DIMSYNC_DATABASE_URL: await (await sharedPostgres()).database() };
  const bindings = join(cwd, "dimsync.bindings.yaml");
  expect(existsSync(bindings)).toBe(true);
  const [, section = ""] = page.split("\n## Set it up for a team\n");
  const commands = [...(section.split("\n## ")[0] ?? "").matchAll(/^ {4,}dimsync (.*)$/gmu)].map(([, command = ""]) => command);
  expect(commands).toHaveLength(4);
  for (const command of commands) {
    const args = command.split(" ");
    if (args[1] === "run") {
      // The port of the page could be in use.
      const child = startCli([...args, "--listen", "127.0.0.1:0"], { cwd, env });
      onTestFinished(() => void child.kill("SIGKILL"));
      let log = "";
      child.stderr?.on("data", (chunk) => {
        log += String(chunk);
      });
      await vi.waitFor(() => expect(log).toContain("The controller works with"), waiting);
    } else
      await vi.waitFor(
        async () => expect([command, await dimsync(args, { cwd, env })]).toEqual([command, expect.objectContaining({ code: 0 })]),
        waiting,
      );
    if (args[1] === "migrate") rmSync(bindings);
  }
  await vi.waitFor(
    async () => expect((await dimsync(["controller", "status"], { cwd, env })).stdout).toMatch(/^prod +in-sync /mu),
    waiting,
  );
});
