import { parseArgs } from "node:util";
import { makeProgram } from "../../src/cli.ts";
import { runCompare } from "../../src/commands/compare.ts";
import { runDoctor } from "../../src/commands/doctor.ts";
import { runImport } from "../../src/commands/import.ts";
import type { Io } from "../../src/commands/io.ts";
import { reportError } from "../../src/commands/report.ts";
import { runSnapshot } from "../../src/commands/snapshot.ts";
import { runTest } from "../../src/commands/test-manifests.ts";
import { type Ran, runCommand } from "../support/command.ts";

/** As `runCommand`; commands that the command line doesn't have yet are run by their functions. */
export async function runAdoptCommand(argv: readonly string[], cwd: string, env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  const out: string[] = [];
  const err: string[] = [];
  const io: Io = {
    stdout: (text) => void out.push(text),
    stderr: (text) => void err.push(text),
    stdoutIsTty: false,
    stderrIsTty: false,
    stdinIsTty: false,
    columns: 100,
    env,
    cwd,
    ask: () => Promise.reject(new Error("There is nobody to ask.")),
    interrupted: new AbortController().signal,
  };
  const [name = "", ...rest] = argv;
  if (makeProgram(io, () => {}).program.commands.some((command) => command.name() === name)) return runCommand(argv, cwd, env);
  const { values, positionals } = parseArgs({
    args: rest,
    allowPositionals: true,
    options: {
      out: { type: "string" },
      from: { type: "string" },
      to: { type: "string" },
      snapshot: { type: "string" },
      "dry-run": { type: "boolean" },
      literal: { type: "boolean" },
      target: { type: "string", short: "t", multiple: true },
      output: { type: "string", short: "o", multiple: true },
    },
  });
  const flags = {
    ...{ target: values.target ?? [], var: [], varFile: [], only: [], exclude: [], output: values.output ?? [], color: false },
    ...(values.out === undefined ? {} : { out: values.out }),
    ...(values.from === undefined ? {} : { from: values.from }),
    ...(values.to === undefined ? {} : { to: values.to }),
    ...(values.snapshot === undefined ? {} : { snapshot: values.snapshot }),
    dryRun: values["dry-run"] === true,
    literal: values.literal === true,
  };
  const context = { io, flags, cwd };
  const commands: Readonly<Record<string, () => Promise<number>>> = {
    import: () => runImport(context, positionals),
    doctor: () => runDoctor(context),
    snapshot: () => runSnapshot(context),
    compare: () => runCompare(context),
    test: () => runTest(context, positionals),
  };
  const code = await (commands[name]?.() ?? Promise.reject(new Error(`There is no command ${name}.`))).catch((error: unknown) =>
    reportError(context, error),
  );
  return { code, stdout: out.join(""), stderr: err.join("") };
}
