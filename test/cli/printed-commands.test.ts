// Every command that is printed can be run as it stands.
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { type Ran, runCommand } from "../support/command.ts";
import { ordersManifest } from "../support/orders.ts";
import { keyVariable, writeProject } from "../support/project-folder.ts";
import { startService, type TestService } from "../support/service.ts";
import { programOf, shownCommands } from "./program.ts";

const manifests = `${ordersManifest("email: { hashed: true }, first_name: { hashed: true }")}---
apiVersion: dimsync/v1
kind: Tag
metadata: { name: gone }
spec: { name: Gone }
---
apiVersion: dimsync/v1
kind: Asset
metadata: { name: lake }
spec: { name: Lake, type: s3, connectionType: destination }
---
apiVersion: dimsync/v1
kind: Asset
metadata: { name: pond }
lifecycle: { create: ifMissing }
spec: { name: Pond, type: s3, connectionType: destination }
`;

/** A project of two targets with the same account, with a difference of each kind. */
function projectOn({ url }: TestService): string {
  const target = { baseUrl: url, apiKey: { $secret: { env: keyVariable } } };
  return writeProject({
    "dimsync.yaml": stringify({
      ...{ apiVersion: "dimsync/v1", kind: "Config", manifests: ["manifests"] },
      targets: { staging: target, prod: { ...target, catalog: "dimsync.catalog.yaml" } },
    }),
    "dimsync.catalog.yaml":
      'apiVersion: dimsync/v1\nkind: Catalog\nreviewed:\n  - integrations: { 8f1c: Orders, "0": Gone }\n    tables: { public/customers: [id, lost] }\n',
    "dimsync.bindings.yaml":
      'apiVersion: dimsync/v1\nkind: Bindings\ntargets:\n  prod:\n    Tag/gone: { id: "dead" }\n    Tag/old: { id: "t-9" }\n',
    "manifests/a.yaml": manifests,
  });
}

/** The command lines in an output: lines of their own, code of Markdown, and members of JSON. */
function commandsIn({ stdout, stderr }: Pick<Ran, "stdout" | "stderr">): readonly string[] {
  const text = `${stdout}\n${stderr}`;
  const lines = [...text.matchAll(/^[\s│]*(?:\$ )?(dimsync (?!could|can't|does)[a-z].*)$/gmu)].map(([, line = ""]) => line);
  const code = [...text.matchAll(/`(dimsync [a-z][^`]*)`/gu)].map(([, line = ""]) => line);
  const members = [...text.matchAll(/"command": ("(?:[^"\\]|\\.)*")/gu)].map(([, json = '""']) => JSON.parse(json) as string);
  const advice = [...text.matchAll(/"advice": "[^"]*: (dimsync [^"]*)"/gu)].map(([, line = ""]) => line);
  return [...lines, ...code, ...members, ...advice].map((line) => line.trim());
}

/** What is wrong with a command line, as the CLI would see it. */
function faultOf(line: string): string | undefined {
  const program = programOf();
  const words = [...line.matchAll(/&&|(?:'[^']*'|"[^"]*"|[^\s'"])+/gu)].map(([word]) => word);
  for (let start = 0; start < words.length; ) {
    const end = words.indexOf("&&", start) < 0 ? words.length : words.indexOf("&&", start);
    const [dimsync, task, ...rest] = words.slice(start, end);
    const command = shownCommands(program).find((one) => one.name() === task);
    if (dimsync !== "dimsync" || command === undefined) return `${line}: no such command`;
    const known = [...program.options, ...command.options];
    for (const word of rest.filter((one) => one.startsWith("-")))
      if (!known.some((option) => option.short === word || option.long === word.split("=")[0])) return `${line}: ${word} is not an option`;
    if (!rest.join(" ").includes("-t prod")) return `${line}: does not name the target`;
    start = end + 1;
  }
  return undefined;
}

test("every command that is printed for one of several targets parses and names it", async () => {
  const service = await startService({ isDoctor: true, faults: ["POST /v1/assets=reset-after"] });
  const cwd = projectOn(service);
  const run = (...argv: readonly string[]): Promise<Ran> =>
    runCommand(argv, cwd, { [keyVariable]: service.apiKey, DIMSYNC_TARGET: "prod" });
  const seen = new Set<string>();
  for (const argv of [
    ["validate"],
    ...["human", "markdown", "json"].flatMap((format) => [
      ["plan", "-o", format],
      ["drift", "-o", format],
    ]),
    ["import", "--dry-run"],
    ["drift", "--resolve", "revert"],
    ["apply", "--yes"],
    ["apply", "--yes", "-o", "json"],
    ["plan"],
    ["records", "show"],
    ["doctor", "-o", "json"],
    ["records", "unlock"],
    ["explain", "Schemas/orders", "public.customers.email"],
  ]) {
    const ran = await run(...argv);
    const commands = commandsIn(ran);
    expect(
      commands.flatMap((line) => faultOf(line) ?? []),
      argv.join(" "),
    ).toEqual([]);
    for (const line of commands) seen.add(line.split(" ")[1] ?? "");
  }
  await service.close();
  expect([...seen].sort()).toEqual(["apply", "bind", "catalog", "drift", "resolve", "unbind"]);
});

test("a command for the next run repeats the folder, the config and the target of this one", async () => {
  const cwd = writeProject({});
  const { stderr } = await runCommand(["apply", "-C", ".", "--config", "other.yaml", "-t", "prod"], cwd);
  expect(stderr).toContain(
    "  dimsync plan --out plan.json -C . --config other.yaml -t prod && dimsync apply plan.json -C . --config other.yaml -t prod\n",
  );
});
