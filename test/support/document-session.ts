import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { builtCli } from "../cli/built-cli.ts";
import { dayIn } from "./clock.ts";
import { freePort } from "./free-port.ts";
import { gitEnv } from "./git/env.ts";
import { program } from "./programs.mjs";
import { writeProject } from "./project-folder.ts";

// Runs a Markdown page like a reader: writes its files, runs its commands, and puts their output
// into the page. `<!-- file: PATH -->` before a block names a file; `<!-- second terminal -->`
// before a console block keeps its command running; a comment `<!-- setup` … `-->` contains
// commands that readers do not see.

/** The port and the API key in the page; the real ones are different on each run. */
const shownPort = "8585";
const shownKey = "2cbff0b76c1b2e885379f77deae355c3";

const blocks = /(?:<!-- (?<mark>[^>]*?) -->\n)?```(?<language>\w+)\n(?<body>[\s\S]*?)```\n/gu;

/** The page with the current output of its commands. Throws if a command cannot be run. */
export async function replayed(page: string): Promise<string> {
  const session = await openSession();
  try {
    let [made, at] = ["", 0];
    for (const [, commands = ""] of page.matchAll(/<!-- setup\n([\s\S]*?)-->/gu)) session.run(commands);
    for (const match of page.matchAll(blocks)) {
      const { mark = "", language = "", body = "" } = match.groups ?? {};
      made += page.slice(at, match.index);
      at = match.index + match[0].length;
      if (mark.startsWith("file: ")) session.write(mark.slice("file: ".length), body);
      made += language === "console" ? match[0].replace(body, () => session.shown(mark === "second terminal", body)) : match[0];
      if (mark === "second terminal") await session.ready();
    }
    return made + page.slice(at);
  } finally {
    await session.close();
  }
}

async function openSession() {
  const home = writeProject({});
  const port = String(await freePort());
  const tools = join(home, "tools");
  mkdirSync(tools);
  writeFileSync(join(tools, "dimsync"), `#!/bin/sh\nexec "${process.execPath}" "${builtCli}" "$@"\n`, { mode: 0o755 });
  const env = { ...gitEnv, PATH: `${tools}:${process.env["PATH"]}`, HOME: home, COLUMNS: "100" };
  const state = { cwd: home, exported: "", key: shownKey, background: undefined as ChildProcess | undefined };
  const real = (text: string): string => text.replaceAll(shownPort, port).replaceAll(shownKey, state.key);
  const shown = (text: string): string => stable(text.replaceAll(port, shownPort).replaceAll(state.key, shownKey).replaceAll(home, "~"));

  const run = (command: string): string => {
    const script = `${state.exported}\n${real(command)}\nstatus=$?\n{ pwd; export -p; } > "${home}/state"\nexit $status`;
    const { stdout, stderr } = spawnSync(program("bash"), ["-c", `exec 2>&1\n${script}`], { cwd: state.cwd, env, encoding: "utf8" });
    const [cwd = "", ...exported] = readFileSync(join(home, "state"), "utf8").split("\n");
    Object.assign(state, { cwd, exported: exported.join("\n") });
    return shown(stdout + stderr);
  };
  return {
    run,
    write: (path: string, text: string): void => {
      mkdirSync(dirname(join(state.cwd, path)), { recursive: true });
      // Readers set a date of their own.
      writeFileSync(join(state.cwd, path), real(text).replaceAll("YYYY-MM-DD", dayIn(200)));
    },
    /** The block with the output of each of its commands. */
    shown: (isBackground: boolean, body: string): string => {
      const commands = body.split("\n").flatMap((line) => (line.startsWith("$ ") ? [line.slice(2)] : []));
      if (!isBackground) return commands.map((command) => `$ ${command}\n${run(command)}`).join("");
      const [command = ""] = commands;
      state.background = spawn(program("bash"), ["-c", `exec ${real(command)}`], {
        cwd: state.cwd,
        env,
        stdio: ["ignore", "pipe", "pipe"],
      });
      return body;
    },
    /** Waits until the background command has printed its API key. */
    ready: (): Promise<void> =>
      new Promise((resolve) => {
        state.background?.stdout?.on("data", (text: Buffer) => {
          state.key = /DIMSYNC_API_KEY=(\w+)/u.exec(String(text))?.[1] ?? state.key;
          if (state.key !== shownKey) resolve();
        });
      }),
    /** Ends the background command, which may still write to its home. */
    async close(): Promise<void> {
      if (state.background === undefined) return;
      const closed = once(state.background, "close");
      state.background.kill();
      await closed;
    },
  };
}

/**
 * Without values that change in each run: ids of runs, plans and new objects, times, durations, and the progress of
 * runs that take more than ten seconds.
 */
function stable(text: string): string {
  return text
    .replaceAll(/^dimsync: .* \(\d+ s\).*\n/gmu, "")
    .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gu, "3f6a8f0e-1b7c-4f5e-9a3d-5d2c8e1f7a90")
    .replaceAll(/\b[0-9a-f]{8}\b(?!-)/gu, "5b1e09c4")
    .replaceAll(/\bd-\d{3}\b/gu, "d-113")
    .replaceAll(/\b20\d\d-\d\d-\d\d \d\d:\d\d UTC/gu, "2026-11-02 09:30 UTC")
    .replaceAll(/\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/gu, "2026-11-02T09:30:00.000Z")
    .replaceAll(/\b\d+(?:\.\d+)? ?m?s\b(?= *$)/gmu, "1 s");
}
