// The examples of the controller are valid, use what the command has, and start; the rules fire when they should.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Deployment } from "kubernetes-models/apps/v1/Deployment";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1/PodDisruptionBudget";
import { Service } from "kubernetes-models/v1/Service";
import { describe, expect, it } from "vitest";
import { parseAllDocuments, stringify } from "yaml";
import { metricsOf } from "../../src/features/controller/server.ts";
import { dimsync, ended, startCli } from "../cli/built-cli.ts";
import { accountRow } from "../features/controller/rows.ts";
import { controlledProject } from "../features/controller/world.ts";
import { freePort } from "../support/free-port.ts";
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
  const pod = spec?.template.spec;
  const [sync, container] = pod?.containers ?? [];

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
    for (const probe of [container?.livenessProbe, container?.readinessProbe])
      expect(probe?.httpGet).toEqual({ path: "/healthz", port: port?.name });
    expect(new Service(service).spec?.ports?.[0]?.targetPort).toBe(port?.name);
  });

  it("take secrets from Secrets only", () => {
    for (const { name, value, valueFrom } of container?.env ?? []) {
      expect([name, value]).toEqual([name, undefined]);
      expect(valueFrom?.secretKeyRef).toMatchObject({ name: "dimsync-controller", key: name });
    }
    expect(container?.envFrom).toEqual([{ secretRef: { name: "dimsync-accounts" } }]);
  });

  it("run as one ordinary user that can write only to volumes, and the worker not to the checkout", () => {
    const restricted = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } };
    for (const one of [...(pod?.initContainers ?? []), sync, container]) expect(one?.securityContext).toEqual(restricted);
    expect(container?.volumeMounts?.find(({ name }) => name === "checkout")).toMatchObject({ readOnly: true });
    expect(pod?.securityContext).toMatchObject({ runAsUser: 1000 });
    expect(container?.args?.[1]).toBe("/checkout/project");
    expect(sync?.args).toEqual(expect.arrayContaining(["--root=/checkout", "--link=project", "--depth=0"]));
  });
});

interface Compose {
  readonly services: Readonly<
    Record<
      string,
      { readonly environment?: Readonly<Record<string, string>>; readonly depends_on?: object; readonly volumes?: readonly string[] }
    >
  >;
  readonly volumes: object;
}

it("the compose file names services and volumes that it has, and no secret", () => {
  const [compose] = documentsOf("compose.yaml") as readonly [Compose];
  for (const { depends_on: needed = {}, volumes = [], environment = {} } of Object.values(compose.services)) {
    expect(Object.keys(compose.services)).toEqual(expect.arrayContaining(Object.keys(needed)));
    for (const volume of volumes) expect(Object.keys(compose.volumes)).toContain(volume.split(":")[0]);
    for (const [name, value] of Object.entries(environment)) if (/PASSWORD|TOKEN|URL/u.test(name)) expect(value).toMatch(/\$\{\w+:\?\}/u);
  }
});

it("the units pass systemd-analyze verify, and a broken one does not", needs("systemd-analyze"), () => {
  const units = files.filter((path) => path.startsWith("systemd/")).map((path) => path.slice("systemd/".length));
  const verify = (edit: (text: string) => string): string => {
    const at = writeProject({});
    for (const unit of units)
      writeFileSync(join(at, unit), edit(textOf(`systemd/${unit}`).replace("/usr/local/bin/dimsync", process.execPath)));
    const args = ["verify", "--man=no", ...units.map((unit) => join(at, unit))];
    return spawnSync(program("systemd-analyze"), args, { encoding: "utf8" }).stderr.replaceAll(
      /^(?!.*dimsync-(?:controller|pull)).*\n/gmu,
      "",
    );
  };
  expect(verify((text) => text)).toBe("");
  expect(verify((text) => text.replace("Restart=on-failure", "Restart=sometimes"))).toContain("restart specifier");
});

describe("all of them", () => {
  const commands = ["compose.yaml", "kubernetes/controller.yaml"]
    .flatMap((path) => [...textOf(path).matchAll(/\[-C, \/checkout\/project, (controller, [^\]]*)\]/gu)])
    .map(([, words = ""]) => words.replaceAll(/[",]/gu, ""))
    .concat(/project (controller .*)/u.exec(textOf("systemd/dimsync-controller.service"))?.[1] ?? []);

  it("run the same command, which only reads", () => {
    expect(commands).toHaveLength(3);
    expect(new Set(commands.map((command) => command.replace(/0\.0\.0\.0|127\.0\.0\.1/u, "HOST")))).toEqual(
      new Set(["controller --listen HOST:8480 --accounts-at-once 8 --max-mode report"]),
    );
  });

  it("use only flags and variables that the command has", async () => {
    const { stdout: help } = await dimsync(["controller", "--help"]);
    const has = (word: string): boolean => new RegExp(`(?<![\\w-])${word}(?![\\w-])`, "u").test(help);
    const flags = new Set(commands.flatMap((command) => command.match(/--[a-z-]+/gu) ?? []));
    expect([...flags].filter((flag) => !has(flag))).toEqual([]);
    const texts = files.filter((path) => !path.endsWith(".mjs")).map(textOf);
    const variables = new Set(texts.flatMap((text) => text.match(/\bDIMSYNC_(?!IMAGE\b|API_KEY_PROD\b)\w+/gu) ?? []));
    expect([...variables].sort()).toEqual(["DIMSYNC_CONTROLLER_TOKEN", "DIMSYNC_DATABASE_URL"]);
    expect([...variables].filter((name) => !has(name))).toEqual([]);
  });

  it("start: the command is healthy and ready, refuses requests without the token, and stops", needs("postgresql"), async () => {
    const under = await controlledProject({ database: "postgresql" });
    const address = `127.0.0.1:${await freePort()}`;
    const words = (commands[0] ?? "").replace("0.0.0.0:8480", address).split(" ");
    const env = { ...under.env, DIMSYNC_CONTROLLER_TOKEN: "0123456789abcdef0123456789abcdef" };
    const child = startCli(words, { cwd: under.folder, env });
    const end = ended(child);
    const status = (path: string): Promise<number> =>
      fetch(`http://${address}${path}`).then(
        ({ status: code }) => code,
        () => 0,
      );
    await expect.poll(() => status("/readyz"), { timeout: 60_000 }).toBe(200);
    expect(await Promise.all(["/healthz", "/", "/metrics"].map(status))).toEqual([200, 401, 401]);
    child.kill("SIGTERM");
    const { code, stderr } = await end;
    expect(code, stderr).toBe(0);
  });

  it("are described in the README", () => {
    for (const file of files.filter((path) => path !== "README.md")) expect(textOf("README.md")).toContain(`\`${file}\``);
  });
});

describe("Prometheus", needs("promtool"), () => {
  const promtool = (args: readonly string[], input?: string) => {
    const { status, stdout, stderr } = spawnSync(program("promtool"), args, { input, encoding: "utf8" });
    return { status, text: `${stdout}${stderr}` };
  };
  const metrics = metricsOf([
    accountRow({ target: "prod", labels: { team: "data", "cost.center": 'a"b' } }),
    accountRow({ target: "eu", checkedAt: null }),
  ]);
  const dashboard = textOf("grafana-dashboard.json");
  const queries = [...dashboard.matchAll(/"expr": "((?:[^"\\]|\\.)*)"/gu)].map(([, text = ""]) =>
    String(JSON.parse(`"${text}"`)).replaceAll("$target", ".*"),
  );

  it("finds nothing wrong with the metrics, and reads the labels of accounts", () => {
    expect(promtool(["check", "metrics"], metrics)).toEqual({ status: 0, text: "" });
    expect(metrics).toContain(
      'dimsync_controller_exposed_columns{target="prod",mode="report",label_team="data",label_cost_center="a\\"b"} 0',
    );
  });

  it("accepts the queries of the dashboard", () => {
    const rules = queries.map((expr, index) => ({ record: `query:${index}`, expr }));
    const at = writeProject({ "rules.yaml": stringify({ groups: [{ name: "dashboard", rules }] }) });
    expect(promtool(["check", "rules", `${at}/rules.yaml`]).text).toContain(`SUCCESS: ${queries.length} rules found`);
  });

  it("has every metric that rules and dashboard use", () => {
    const used = new Set(`${dashboard}${textOf("prometheus-rules.yaml")}`.match(/dimsync_controller_\w+/gu));
    expect([...used].filter((name) => !metrics.includes(`# TYPE ${name} `))).toEqual([]);
  });

  it("fires the alerts when it should", () => {
    expect(promtool(["check", "rules", "examples/controller/prometheus-rules.yaml"])).toMatchObject({ status: 0 });
    expect(promtool(["test", "rules", "test/examples/prometheus-rules.test.yaml"]).text).toContain("SUCCESS");
  });
});

it("the routes of Alertmanager name alerts and receivers that exist", () => {
  const [config] = documentsOf("alertmanager.yaml") as readonly [
    {
      readonly route: { readonly receiver: string; readonly routes: readonly { readonly receiver: string }[] };
      readonly receivers: readonly { readonly name: string }[];
    },
  ];
  const names = config.receivers.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining([config.route.receiver, ...config.route.routes.map(({ receiver }) => receiver)]));
  const alerts = [...textOf("alertmanager.yaml").matchAll(/alertname="(\w+)"/gu)].map(([, name = ""]) => name);
  for (const alert of alerts) expect(textOf("prometheus-rules.yaml")).toContain(`alert: ${alert}\n`);
});

it("the demo finds a change, repairs it, and says who made it", () => {
  const env = { PATH: process.env["PATH"] ?? "" };
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, "demo.mjs"), "--short"], { encoding: "utf8", env });
  expect([status, stderr]).toEqual([0, expect.stringContaining("oslo: Repairs Schemas/orders public.customers.email.")]);
  expect(stdout).toContain("oslo: 0 exposed, 0 different (mode protect)");
  expect(stdout).toMatch(/customers\/columns\/email\/hashed: Orders was changed by dana@example\.com, .+; repaired 20/u);
});
