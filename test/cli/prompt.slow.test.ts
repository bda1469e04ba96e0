// Apply asks a person, and anything but yes sends nothing.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { program } from "../support/programs.mjs";
import { needs } from "../support/programs.ts";
import { startService } from "../support/service.ts";
import { waiting } from "../support/waiting.ts";
import { builtCli, dimsyncHere, ended, quickstart, quickstartSecrets } from "./built-cli.ts";

/**
 * Runs `dimsync apply` on a new terminal (`script` of util-linux) and types the keys at the prompt.
 */
async function applyOnTerminal(cwd: string, keys: string) {
  const child = spawn(program("script"), ["-qec", `"${process.execPath}" "${builtCli}" apply`, "/dev/null"], {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", TERM: "xterm", ...quickstartSecrets },
    stdio: ["pipe", "pipe", "pipe"],
  });
  let screen = "";
  child.stdout.on("data", (chunk) => {
    const before = screen.includes("[y/N]");
    screen += chunk;
    if (!before && screen.includes("[y/N]")) child.stdin.write(keys);
  });
  const { code } = await ended(child);
  return { code, screen };
}

describe("the confirmation of apply", needs("script"), () => {
  test("shows the plan and the target first, and continues with y", async () => {
    const cwd = quickstart();
    const { code, screen } = await applyOnTerminal(cwd, "y\n");
    expect(screen).toMatch(/demo: .*Apply this to demo \(embedded:\.dimsync\/account\.json\)\? \[y\/N\]/su);
    expect(screen).toContain("9 done");
    // `script` says that its terminal has no columns.
    expect(screen).toContain("Sent: 16 GET, 3 PATCH, 4 POST.");
    expect(code).toBe(0);
    expect((await dimsyncHere(["plan", "--detailed-exitcode"], { cwd })).code).toBe(0);
  });

  const refusals: Readonly<Record<string, readonly [keys: string, code: number, says: string]>> = {
    n: ["n\n", 0, "Apply cancelled. Nothing was sent."],
    "an empty line": ["\n", 0, "Apply cancelled. Nothing was sent."],
    "a word that isn't yes": ["yep\n", 0, "Apply cancelled. Nothing was sent."],
    "the end of the input (Ctrl-D)": ["\u0004", 0, "Apply cancelled. Nothing was sent."],
    "Ctrl-C": ["\u0003", 130, "interrupted"],
  };
  for (const [what, [keys, expected, says]] of Object.entries(refusals))
    test(`treats ${what} as no: nothing is sent or recorded`, async () => {
      const cwd = quickstart();
      const { code, screen } = await applyOnTerminal(cwd, keys);
      expect(screen).toContain(says);
      expect(code).toBe(expected);
      expect(existsSync(join(cwd, "dimsync.bindings.yaml"))).toBe(false);
      expect((await dimsyncHere(["plan", "--detailed-exitcode"], { cwd })).code).toBe(2);
    });
});

test(
  "a terminal that goes away ends apply after the request on its way, and the next apply creates nothing twice",
  needs("script"),
  async () => {
    const posted: string[] = [];
    const service = await startService({
      onExchange: ({ method, path }) => {
        if (method !== "POST") return;
        posted.push(path);
        terminal.kill("SIGKILL");
      },
    });
    onTestFinished(() => service.close());
    const cwd = quickstart();
    const env = { ...quickstartSecrets, DIMSYNC_BASE_URL: service.url, DIMSYNC_API_KEY: service.apiKey };
    const command = `"${process.execPath}" "${builtCli}" apply --yes`;
    const terminal = spawn(program("script"), ["-qec", command, "/dev/null"], { cwd, env: { PATH: process.env["PATH"] ?? "", ...env } });
    await ended(terminal);
    // The run still holds its lease until it has ended.
    await vi.waitFor(async () => expect(await dimsyncHere(["apply", "--yes"], { cwd, env })).toMatchObject({ code: 0 }), waiting);
    expect(posted.filter((path) => !path.endsWith("/relation")).sort()).toEqual(["/v1/assets", "/v1/integrations"]);
    expect((await dimsyncHere(["plan", "--detailed-exitcode"], { cwd, env })).code).toBe(0);
  },
);
