import { existsSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { type EmbeddedService, startEmbeddedService } from "../../src/embedded/index.ts";
import { dimsyncHere, emptyFolder } from "../cli/built-cli.ts";
import { ordersManifest } from "../support/orders.ts";

// A project is data: its code only runs if the operator allows it.

const key = "canary-key-81";
let service: EmbeddedService;
beforeAll(async () => {
  service = await startEmbeddedService({ apiKeys: { [key]: "bot@example.com" } });
  return () => service.close();
});

const orders = { "manifests/orders.yaml": ordersManifest("email: { hashed: true }") };
const configText = (apiKey = "env: DIMSYNC_API_KEY"): string => `apiVersion: dimsync/v1
kind: Config
manifests: [manifests]
targets:
  prod:
    baseUrl: ${service.url}
    apiKey: { $secret: { ${apiKey} } }
`;

describe("attack 6: an agent writes code and asks for a plan", () => {
  test("the command of a secret does not run", async () => {
    const cwd = emptyFolder({ "dimsync.yaml": configText(`exec: [sh, -c, "touch ran; echo ${key}"]`), ...orders });
    for (const argv of [["plan"], ["get", "integrations"], ["doctor"]]) {
      const { code: exit, stdout, stderr } = await dimsyncHere(argv, { cwd });
      expect([argv, exit, existsSync(join(cwd, "ran"))]).toEqual([argv, 1, false]);
      expect(stdout + stderr).toContain("is the output of a command of the project");
    }
    const { stderr } = await dimsyncHere(["plan"], { cwd });
    expect(stderr).toContain("dimsync.yaml:7:");
    expect(stderr).toContain("E_CODE_NOT_ALLOWED");
    expect(await dimsyncHere(["plan", "--allow-code"], { cwd })).toMatchObject({ code: 0 });
    expect(existsSync(join(cwd, "ran"))).toBe(true);
  });

  test("nor does the command of the URL of the records, whose line is named", async () => {
    const records = "    records: { postgres: { url: { $secret: { exec: [touch, ran] } }, id: one } }\n";
    const cwd = emptyFolder({ "dimsync.yaml": `${configText()}${records}`, ...orders });
    for (const argv of [["plan"], ["apply", "--yes"], ["records", "show"]]) {
      const { code: exit, stderr } = await dimsyncHere(argv, { cwd, env: { DIMSYNC_API_KEY: key } });
      expect([argv, exit, existsSync(join(cwd, "ran"))]).toEqual([argv, 1, false]);
      expect(stderr).toContain("dimsync.yaml:8:");
      expect(stderr).toContain("E_CODE_NOT_ALLOWED");
    }
  });

  test("commands that need no code need no permission, and an operator can allow it", async () => {
    const secret = "connection: { bucket: lake, secret_key: { $secret: { exec: [touch, ran] } } }";
    const asset = `apiVersion: dimsync/v1\nkind: Asset\nmetadata: { name: lake }\nlifecycle: { create: ifMissing }\nspec: { name: Lake, type: s3, connectionType: destination, ${secret} }\n`;
    const cwd = emptyFolder({ "dimsync.yaml": configText(), "manifests/asset.yaml": asset });
    const run = (...argv: readonly string[]) => dimsyncHere(argv, { cwd, env: { DIMSYNC_API_KEY: key } });
    // plan resolves no secret of a manifest.
    expect(await run("plan")).toMatchObject({ code: 0 });
    const { stderr } = await run("apply", "--yes");
    expect(stderr).toContain("manifests/asset.yaml:5:");
    expect(stderr).toContain("E_CODE_NOT_ALLOWED");
    for (const argv of [["validate"], ["list"]]) expect(await run(...argv)).toMatchObject({ code: 0 });
    expect(existsSync(join(cwd, "ran"))).toBe(false);
    expect((await run("apply", "--yes", "--allow-code")).stderr).not.toContain("E_CODE_NOT_ALLOWED");
    expect(existsSync(join(cwd, "ran"))).toBe(true);
  });
});
