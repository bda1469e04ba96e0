// A webhook gets the report, and its URL is never shown.
import { describe, expect, test } from "vitest";
import { dimsync } from "../../cli/built-cli.ts";
import { runCommand } from "../../support/command.ts";
import { configText, filesIn, keyVariable } from "../../support/project-folder.ts";
import { selfSigned } from "../service/certificate.ts";
import { proxyTo } from "../service/connect-proxy.ts";
import { env, story } from "./account.ts";
import { startReceiver } from "./receiver.ts";

const manifest =
  "apiVersion: dimsync/v1\nkind: Integration\nmetadata: { name: orders }\nspec:\n  match: { name: Orders }\n  expect: { paused: true }\n";
const webhook = (name: string, more: Readonly<Record<string, string>> = {}) => ({ url: { $secret: { env: name } }, ...more });

/** A project whose account differs from its manifest, and two webhooks whose URLs are in HOOK and OTHER_HOOK. */
async function drifting(notify: unknown, ofTarget?: unknown) {
  const [hook, other] = [await startReceiver(), await startReceiver()];
  const reported = await story({ "a.yaml": manifest }, { notify });
  if (ofTarget !== undefined) {
    const apiKey = { $secret: { env: keyVariable } };
    reported.write(
      "dimsync.yaml",
      configText(reported.service.url, { notify, targets: { test: { baseUrl: reported.service.url, apiKey, notify: ofTarget } } }),
    );
  }
  const secrets = { ...env(reported.service), HOOK: hook.url, OTHER_HOOK: other.url };
  const drift = async (...argv: readonly string[]) => {
    const ran = await runCommand(["ci", "drift", "--no-issue", ...argv], reported.folder, secrets);
    expect(`${ran.stdout}${ran.stderr}`).not.toContain("canary");
    for (const [file, text] of filesIn(reported.folder)) if (file !== "dimsync.yaml") expect(text, file).not.toContain("canary");
    return ran;
  };
  const counts = () => [hook.received.length, other.received.length];
  return { hook, other, drift, counts };
}

describe("notify in dimsync.yaml", () => {
  const rows: Readonly<Record<string, readonly [argv: readonly string[], counts: readonly [hook: number, other: number]]>> = {
    "is notified by ci drift": [[], [1, 0]],
    "unless the report is limited to addresses": [
      ["--only", "Integration/*"],
      [0, 0],
    ],
    "unless an address is excluded": [
      ["--exclude", "Integration/orders"],
      [0, 0],
    ],
  };
  test.each(Object.entries(rows))("%s", async (_sentence, [argv, wanted]) => {
    const { drift, counts } = await drifting(webhook("HOOK"));
    await drift(...argv);
    expect(counts()).toEqual(wanted);
  });

  test("the webhook of a target replaces the common one", async () => {
    const { drift, counts } = await drifting(webhook("HOOK"), webhook("OTHER_HOOK"));
    await drift();
    expect(counts()).toEqual([0, 1]);
  });

  test("dimsync.yaml sets the format", async () => {
    const { hook, drift } = await drifting(webhook("HOOK", { format: "slack" }));
    await drift();
    expect(hook.received.map(({ body }) => Object.keys(body))).toEqual([["text"]]);
  });

  test("a missing variable is a warning and does not change the exit code", async () => {
    const { drift } = await drifting(webhook("NO_HOOK"));
    expect(await drift()).toMatchObject({ code: 2, stderr: expect.stringContaining("The environment variable NO_HOOK is not set") });
  });

  test("a literal URL is refused and not shown", async () => {
    const { drift, counts } = await drifting({ url: "https://hooks.example.com/canary" });
    const { code, stdout } = await drift();
    expect(code).toBe(1);
    expect(stdout).toMatch(/dimsync\.yaml:15:8 +E_LITERAL_SECRET/u);
    expect(counts()).toEqual([0, 0]);
  });
});

describe("the connection to the webhook", () => {
  const host = "hooks.example.com";
  const certificate = selfSigned(host);

  /** Runs the built command line, since Node only reads NODE_EXTRA_CA_CERTS when it starts. */
  async function drift(more: (port: number) => Promise<Readonly<Record<string, string>>>) {
    const receiver = await startReceiver(certificate);
    const reported = await story({ "a.yaml": manifest }, { notify: webhook("HOOK") });
    reported.write("ca.pem", certificate.cert);
    const environment = { ...env(reported.service), NODE_EXTRA_CA_CERTS: `${reported.folder}/ca.pem`, ...(await more(receiver.port)) };
    const ran = await dimsync(["ci", "drift", "--no-issue"], { cwd: reported.folder, env: environment });
    expect(`${ran.stdout}${ran.stderr}`).not.toContain("canary");
    return { ...ran, received: receiver.received };
  }

  test("uses HTTPS_PROXY, with a tunnel that hides the URL", async () => {
    let tunnels: Awaited<ReturnType<typeof proxyTo>>["tunnels"] = [];
    const { code, stderr, received } = await drift(async (port) => {
      const proxy = await proxyTo(port);
      ({ tunnels } = proxy);
      return { HOOK: `https://${host}/hook/canary?a=b`, HTTPS_PROXY: proxy.url };
    });
    expect({ code, warned: stderr.includes("webhook") }).toEqual({ code: 2, warned: false });
    expect(received.map(({ body, headers }) => [body["kind"], headers.host])).toEqual([["DriftNotification", host]]);
    expect(tunnels.map(({ target }) => target)).toEqual([`${host}:443`]);
    expect(JSON.stringify(tunnels)).not.toContain("canary");
  });
});
