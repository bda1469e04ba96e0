import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Deployment } from "kubernetes-models/apps/v1/Deployment";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1/PodDisruptionBudget";
import { Service } from "kubernetes-models/v1/Service";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { dimsync, ended, startCli } from "../cli/built-cli.ts";
import { freePort } from "../support/free-port.ts";
import { sharedPostgres } from "../support/postgres/shared.ts";
import { program } from "../support/programs.mjs";
import { needs } from "../support/programs.ts";
import { writeProject } from "../support/project-folder.ts";

const folder = "examples/controller";
const textOf = (path: string): string => readFileSync(join(folder, path), "utf8");
const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => statSync(join(folder, path)).isFile());

/** The documents of a YAML file without mistakes. */
function documentsOf(path: string): readonly unknown[] {
  const documents = parseAllDocuments(textOf(path), { strict: true, uniqueKeys: true });
  expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([]);
  return documents.map((document) => document.toJS());
}

describe("the Kubernetes manifests", () => {
  const [deployment, service, budget] = documentsOf("kubernetes/controller.yaml") as readonly never[];

  it("match the schemas of Kubernetes", () => {
    new Deployment(deployment).validate();
    new Service(service).validate();
    new PodDisruptionBudget(budget).validate();
    expect(() => new Deployment(Object.assign({}, deployment, { spec: { replicas: "two" } })).validate()).toThrow("replicas");
  });

  const { spec } = new Deployment(deployment);
  const [container] = spec?.template.spec?.containers ?? [];

  it("select the pods of the deployment", () => {
    const labels = spec?.template.metadata?.labels;
    expect(spec?.selector.matchLabels).toEqual(labels);
    expect(new Service(service).spec?.selector).toEqual(labels);
    expect(new PodDisruptionBudget(budget).spec?.selector?.matchLabels).toEqual(labels);
    expect(new PodDisruptionBudget(budget).spec?.minAvailable).toBeLessThan(spec?.replicas ?? 0);
  });

  it("probe the health of the port that the controller listens on", () => {
    const port = container?.ports?.[0];
    expect(container?.args).toContain(`0.0.0.0:${port?.containerPort}`);
    expect(container?.livenessProbe?.httpGet).toEqual({ path: "/healthz", port: port?.name });
    expect(container?.readinessProbe?.httpGet).toEqual({ path: "/readyz", port: port?.name });
    expect(new Service(service).spec?.ports?.[0]?.targetPort).toBe(port?.name);
  });

  it("take secrets from Secrets only", () => {
    for (const { name, value, valueFrom } of container?.env ?? []) {
      expect([name, value]).toEqual([name, undefined]);
      expect(valueFrom?.secretKeyRef).toMatchObject({ name: "dimsync-controller", key: name });
    }
    expect(container?.envFrom).toEqual([{ secretRef: { name: "dimsync-accounts" } }]);
  });

  it("run as an ordinary user that can write only to volumes", () => {
    expect(container?.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    const volumes = spec?.template.spec?.volumes?.map(({ name }) => name);
    expect(container?.volumeMounts?.map(({ name }) => name)).toEqual(volumes);
  });
});

interface Compose {
  readonly services: Readonly<
    Record<
      string,
      {
        readonly command?: readonly string[];
        readonly environment: Readonly<Record<string, string>>;
        readonly depends_on?: object;
        readonly volumes?: readonly string[];
      }
    >
  >;
  readonly volumes: object;
}

it("the compose file names services and volumes that it has, and no secret", () => {
  const [compose] = documentsOf("compose.yaml") as readonly [Compose];
  for (const { depends_on: needed = {}, volumes = [] } of Object.values(compose.services)) {
    expect(Object.keys(compose.services)).toEqual(expect.arrayContaining(Object.keys(needed)));
    for (const volume of volumes) expect(Object.keys(compose.volumes)).toContain(volume.split(":")[0]);
  }
  for (const { environment } of Object.values(compose.services))
    for (const [name, value] of Object.entries(environment)) if (/PASSWORD|TOKEN|URL/u.test(name)) expect(value).toMatch(/\$\{\w+:\?\}/u);
});

it("the unit passes systemd-analyze verify, and a broken one does not", needs("systemd-analyze"), () => {
  const unit = textOf("systemd/dimsync-controller.service").replace("/usr/local/bin/dimsync", process.execPath);
  const verify = (text: string): string => {
    const file = join(writeProject({ "dimsync-controller.service": text }), "dimsync-controller.service");
    writeFileSync(file, text);
    return spawnSync(program("systemd-analyze"), ["verify", "--man=no", file], { encoding: "utf8" }).stderr.replaceAll(
      /^(?!.*dimsync).*\n/gmu,
      "",
    );
  };
  expect(verify(unit)).toBe("");
  expect(verify(unit.replace("Restart=on-failure", "Restart=sometimes"))).toContain("restart specifier");
});

describe("all of them", () => {
  const commands = [
    ...textOf("compose.yaml").matchAll(/\[(controller, run, [^\]]*)\]/gu),
    ...textOf("kubernetes/controller.yaml").matchAll(/\[(controller, run, [^\]]*)\]/gu),
  ]
    .map(([, words = ""]) => words.replaceAll(/[",]/gu, ""))
    .concat(/dimsync (controller run .*)/u.exec(textOf("systemd/dimsync-controller.service"))?.[1] ?? []);

  it("run the same command, which only reads", () => {
    expect(commands).toHaveLength(3);
    expect(new Set(commands.map((command) => command.replace(/0\.0\.0\.0|127\.0\.0\.1/u, "HOST")))).toEqual(
      new Set(["controller run --listen HOST:8480 --role all --accounts-at-once 8 --max-mode report"]),
    );
  });

  it("use only flags and variables that the command has", async () => {
    const { stdout: help } = await dimsync(["controller", "--help"]);
    const has = (word: string): boolean => new RegExp(`(?<![\\w-])${word}(?![\\w-])`, "u").test(help);
    const flags = new Set(commands.flatMap((command) => command.match(/--[a-z-]+/gu) ?? []));
    expect([...flags].filter((flag) => !has(flag))).toEqual([]);
    const variables = new Set(
      files
        .filter((path) => !path.endsWith(".mjs"))
        .flatMap((path) => textOf(path).match(/\bDIMSYNC_(?!IMAGE\b|API_KEY_PROD\b)\w+/gu) ?? []),
    );
    expect([...variables].sort()).toEqual(["DIMSYNC_CONTROLLER_TOKEN", "DIMSYNC_DATABASE_URL"]);
    expect([...variables].filter((name) => !has(name))).toEqual([]);
    const readmeFlags = textOf("README.md").match(/(?<=`)--[a-z-]+/gu) ?? [];
    expect(readmeFlags.filter((flag) => !has(flag))).toEqual([]);
  });

  it("start: the command is healthy and ready, refuses requests without the token, and stops", needs("postgresql"), async () => {
    const { database } = await sharedPostgres();
    const address = `127.0.0.1:${await freePort()}`;
    const words = (commands[0] ?? "").replace("0.0.0.0:8480", address).split(/,? +/u);
    const token = "0123456789abcdef0123456789abcdef";
    const child = startCli(words, { env: { DIMSYNC_DATABASE_URL: await database(), DIMSYNC_CONTROLLER_TOKEN: token } });
    const end = ended(child);
    const status = (path: string): Promise<number> =>
      fetch(`http://${address}${path}`).then(
        ({ status: code }) => code,
        () => 0,
      );
    await expect.poll(() => status("/readyz")).toBe(200);
    expect(await Promise.all(["/healthz", "/", "/metrics"].map(status))).toEqual([200, 401, 401]);
    child.kill("SIGTERM");
    const { code, stderr } = await end;
    expect(code, stderr).toBe(0);
  });

  it("are described in the README", () => {
    for (const file of files.filter((path) => path !== "README.md")) expect(textOf("README.md")).toContain(`\`${file}\``);
  });
});

it("the demo finds a change, repairs it, and shows both in the history", () => {
  const env = { PATH: process.env["PATH"] ?? "" };
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, "demo.mjs"), "--short"], { encoding: "utf8", env });
  expect([status, stderr]).toEqual([0, expect.stringMatching(/oslo: exit 3, 1 exposed, 1 item to change\n.*oslo: exit 0, 0 exposed/u)]);
  const words = stdout.replaceAll(/\s+/gu, " ");
  expect(words).toMatch(/oslo in-sync 0 0 0 \d+ \w+ ago protect/u);
  const change = "Schemas/orders public.customers.email hashed";
  expect(words).toMatch(new RegExp(`closed by dimsync ${change} .*opened by dana@example\\.com ${change} `, "u"));
  expect(words).toMatch(/ protect exit 0 0 exposed, 0 differ, 1 sent \S+ \w+ report exit 3 1 exposed, 1 differ /u);
});
