// Each folder is a scenario: plan, apply, plan again, on the command line, against the service on
// loopback. See README.md beside this file.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type AccountState, type EmbeddedOptions, type Exchange, seedAccount } from "../../src/embedded/index.ts";
import { accountChanges, changeLines } from "../support/accounts/changes.ts";
import { callLines } from "../support/calls.ts";
import { type Ran, runCommand } from "../support/command.ts";
import { configText, filesIn, keyVariable, writeProject } from "../support/project-folder.ts";
import { sampleOf } from "../support/sample.ts";
import { inForm, startService } from "../support/service.ts";

/** scenario.yaml. Everything is optional. */
interface Scenario {
  /** Flags for plan and apply alike. */
  readonly args?: readonly string[];
  /** Exit code of `plan --detailed-exitcode`. Default: 2. */
  readonly plan?: number;
  /** Exit code of apply. Default: 0. */
  readonly apply?: number;
  /** The plan after apply: "empty" (default), or its exit code. */
  readonly again?: "empty" | number;
  readonly service?: EmbeddedOptions;
  /** Secrets: canaries that may only appear in request bodies. */
  readonly env?: Readonly<Record<string, string>>;
}

const root = fileURLToPath(new URL(".", import.meta.url));
const names = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)
  .sort();

const plays = ["plan", "apply", "plan again"] as const;

interface Play {
  readonly runs: readonly { readonly name: (typeof plays)[number]; readonly ran: Ran; readonly calls: readonly Exchange[] }[];
  readonly codes: Readonly<Record<"plan" | "apply" | "again", number | undefined>>;
  readonly url: string;
  readonly project: string;
  /** The values of the account that changed. */
  readonly changes: string;
}

/** `options`: of the service, beside those of the scenario. */
async function play(name: string, options: EmbeddedOptions = {}): Promise<Play> {
  const folder = join(root, name);
  const scenario = scenarioOf(name);
  const secrets = scenario.env ?? {};
  const exchanges: Exchange[] = [];
  const before = await accountOf(folder);
  const service = await startService({
    ...options,
    ...scenario.service,
    state: before,
    now: () => new Date("2026-06-01T12:00:00Z"),
    onExchange: (exchange) => void exchanges.push(exchange),
  });
  const project = writeProject({
    ...manifestsOf(folder),
    ...bindingsOf(folder),
    "dimsync.yaml": configText(service.url, yamlIn(join(folder, "dimsync.yaml")) as Record<string, unknown>),
  });
  const env = { ...secrets, [keyVariable]: service.apiKey };
  const args = [...(scenario.args ?? []), "-q", "--no-color"];
  const argvs = [
    ["plan", "--detailed-exitcode", "--out", "plan.json"],
    ["apply", "--yes", "--result", "result.json"],
    ["plan", "--detailed-exitcode", "-o", "json"],
  ];
  const runs: Play["runs"][number][] = [];
  for (const [index, title] of plays.entries()) {
    const ran = await runCommand([...(argvs[index] ?? []), ...args], project, env);
    runs.push({ name: title, ran, calls: exchanges.splice(0) });
    if (title === "plan") expect(service.state(), "a plan changes nothing").toEqual(before);
  }
  const after = service.state();
  const drift = await runCommand(["drift", "-o", "json", ...args], project, env);
  await service.close();
  writeFileSync(join(project, "drift.json"), drift.stdout);
  for (const document of ["plan.json", "result.json", "drift.json"])
    if (readIfThere(join(project, document)) !== "")
      expect(await runCommand(["show", document], project), document).toMatchObject({ code: 0, stderr: "" });
  const [plan, apply, again] = runs.map(({ ran }) => ran.code);
  const changes = changeLines(accountChanges(before, after), secrets);
  return { runs, codes: { plan, apply, again }, url: service.url, project, changes };
}

describe("each scenario has the results in its folder", () => {
  test.each(names)("%s", async (name) => {
    const folder = join(root, name);
    const scenario = scenarioOf(name);
    const secrets = scenario.env ?? {};
    const { runs, codes, url, project, changes } = await play(name);
    const [plan, apply, again] = runs.map(({ ran }) => ran);

    const shown = (ran: Ran | undefined): string =>
      ran === undefined
        ? ""
        : (ran.stdout + noise(ran))
            .replaceAll(url, "http://service")
            .replaceAll(/run [0-9a-f-]{36}/gu, "run RUN")
            .replaceAll(/not\s+kept on \d{4}-\d\d-\d\d/gu, (text) => text.replace(/[\d-]+$/u, "TODAY"));
    await golden(folder, "plan.txt", shown(plan));
    await golden(folder, "result.txt", shown(apply));
    await golden(folder, "calls.txt", runs.map(({ name: title, calls }) => `${title}\n${callLines(calls, secrets)}`).join("\n"));
    await golden(folder, "account.txt", `${changes || "(nothing changed)\n"}\n${bindingsText(project)}`);

    expect(codes).toEqual(codesOf(scenario));
    if (isEmptyAgain(scenario))
      expect(JSON.parse(again?.stdout ?? "")).toMatchObject({ complete: true, calls: { planned: {}, later: {} } });
    for (const { ran, calls } of runs.filter(({ name: title }) => title !== "apply")) {
      expect(
        calls.map(({ method }) => method).filter((method) => method !== "GET"),
        ran.stdout,
      ).toEqual([]);
      const paths = calls.map(({ path, query }) => `${path} ${JSON.stringify(query)}`);
      expect(paths, "nothing is read twice").toEqual([...new Set(paths)]);
    }
    for (const value of Object.values(secrets)) {
      for (const { ran } of runs) expect(ran.stdout + ran.stderr).not.toContain(value);
      for (const [file, text] of filesIn(project)) expect(text, file).not.toContain(value);
    }
  });
});

/** Scenarios that end differently with the observed service, and the changes of the account that are missing then. */
const differences: Readonly<Record<string, RegExp>> = {
  // Schemas are shown without `enabled`, and a value that exposes is not sent if the live one is unknown.
  "082-schema-discovered-late": /\/schemas\/public\/enabled:/u,
  "090-a-chain-in-one-apply": /\/schemas\/public\/enabled:/u,
};

describe("with the observed service, each scenario ends as with the documented one", () => {
  test.each(sampleOf(names, { name: "observed scenarios", kindOf: () => "all", most: () => 3 }))("%s", async (name) => {
    const { runs, codes, changes } = await play(name, { ...inForm("observed"), ids: "short" });
    const file = (one: string): string => readFileSync(join(root, name, one), "utf8");
    const [documented = ""] = file("account.txt").split("\nbindings:");
    expect({ codes, outcomes: outcomesIn(runs[1]?.ran.stdout ?? ""), changes: declaredChanges(changes) }).toEqual({
      codes: codesOf(scenarioOf(name)),
      outcomes: outcomesIn(file("result.txt")),
      changes: declaredChanges(documented).filter((line) => differences[name]?.test(line) !== true),
    });
  });
});

/** "✓ Tag/pii updated" of each item; unseen values depend on the service. */
const outcomesIn = (result: string): readonly string[] =>
  [...result.matchAll(/^([^\s?] \S+\/\S+) +(\w+)/gmu)].map(([, item, outcome]) => `${item} ${outcome}`).sort();

/** The changes without what the service itself adds to a new integration. */
const declaredChanges = (text: string): readonly string[] =>
  text
    .split("\n")
    .filter((line) => /^[^(]/u.test(line) && !/^integrations\[[^\]]*\]\/(?:name|pendingDiscovery|settings\/agentId)\b/u.test(line));

const scenarioOf = (name: string): Scenario => yamlIn(join(root, name, "scenario.yaml")) as Scenario;
const isEmptyAgain = ({ again = "empty" }: Scenario): boolean => again === "empty";

const codesOf = (scenario: Scenario): Play["codes"] => ({
  plan: scenario.plan ?? 2,
  apply: scenario.apply ?? 0,
  again: isEmptyAgain(scenario) ? 0 : Number(scenario.again),
});

const noise = ({ stderr }: Ran): string => (stderr === "" ? "" : `\nstderr:\n${stderr}`);

const readIfThere = (file: string): string => (existsSync(file) ? readFileSync(file, "utf8") : "");

function yamlIn(file: string): unknown {
  return existsSync(file) ? (parse(readFileSync(file, "utf8")) ?? {}) : {};
}

/** The seeded account with the changes of the scenario's account.ts, which exports `change`. */
async function accountOf(folder: string): Promise<AccountState> {
  const account = seedAccount();
  const file = join(folder, "account.ts");
  if (!existsSync(file)) return account;
  const { change } = (await import(pathToFileURL(file).href)) as { readonly change: (account: AccountState) => void };
  change(account);
  return account;
}

function manifestsOf(folder: string): Record<string, string> {
  return Object.fromEntries([...filesIn(join(folder, "manifests"))].map(([path, text]) => [`manifests/${path}`, text]));
}

function bindingsOf(folder: string): Record<string, string> {
  const file = join(folder, "bindings.yaml");
  return existsSync(file) ? { "dimsync.bindings.yaml": readFileSync(file, "utf8") } : {};
}

/** The bindings of the only target after the run. */
function bindingsText(project: string): string {
  const text = filesIn(project).get("dimsync.bindings.yaml");
  return `bindings:\n${
    text
      ?.split("\n")
      .filter((line) => line.startsWith("    "))
      .join("\n") ?? "    (none)"
  }\n`;
}

/**
 * Compares with the file. `vitest -u` updates it; read the diff line by line before you commit it.
 */
const golden = (folder: string, file: string, text: string): Promise<void> => expect(text).toMatchFileSnapshot(join(folder, file));
