// An asset can't be read back, so a manifest with another name must not create it a second time.

import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { AccountState } from "../../../src/embedded/index.ts";
import { diagnosticsOf } from "../../support/findings.ts";
import { blockedSteps, outcomes, readySteps, unseenSteps } from "../../support/steps.ts";
import { endings, integrationManifest, scene, together } from "./scene.ts";

const assetNamed = (address: string, spec = "name: Vault, type: s3", more = ""): string => `
apiVersion: dimsync/v1
kind: Asset
metadata: { name: ${address}${more} }
lifecycle: { create: ifMissing }
spec: { ${spec}, connectionType: destination }
`;

const vaults = ({ assets }: AccountState) => assets.filter(({ name }) => name === "Vault");

describe("a manifest whose name changed", () => {
  it("of an asset: the plan records the id under the new address, and nothing is created", async () => {
    const at = await scene(assetNamed("vault4"));
    const [id] = Object.values((await at.apply()).result.bindings);
    at.write("manifests/all.yaml", assetNamed("vault"));
    const { plan } = await at.plan();
    expect(readySteps(plan)).toMatchObject([
      { verb: "bind", address: "Asset/vault", liveId: id, renamedFrom: "Asset/vault4", requests: [] },
    ]);
    expect(unseenSteps(plan)).toEqual([]);
    expect((await at.run(["plan", "--no-color", "-q"])).stdout).toContain(`record id   Asset/vault, renamed from Asset/vault4   ${id}\n`);
    const { code, result } = await at.apply();
    expect(code).toBe(0);
    expect(result.bindings).toEqual({ "Asset/vault": id });
    expect(vaults(at.service.state())).toHaveLength(1);
    expect(readySteps((await at.plan()).plan)).toEqual([]);
  });

  it("of an asset that changes too: the id is recorded, then the changes are sent", async () => {
    const at = await scene(assetNamed("vault4"));
    await at.apply();
    at.write("manifests/all.yaml", assetNamed("vault", "name: Vault, type: s3, description: raw data"));
    const { result } = await at.apply();
    expect(endings(result)).toEqual({ "bind Asset/vault": "done", "update Asset/vault": "done" });
    expect(vaults(at.service.state())).toMatchObject([{ description: "raw data" }]);
    expect(readySteps((await at.plan()).plan)).toEqual([]);
  });

  it("of an asset whose bindings were lost: the journal has the id", async () => {
    const at = await scene(assetNamed("vault4"));
    const [id] = Object.values((await at.apply()).result.bindings);
    rmSync(join(at.folder, "dimsync.bindings.yaml"));
    at.write("manifests/all.yaml", assetNamed("vault"));
    expect(readySteps((await at.plan()).plan)).toMatchObject([{ verb: "bind", liveId: id, renamedFrom: "Asset/vault4" }]);
    expect((await at.apply()).result.bindings).toEqual({ "Asset/vault": id });
    expect(vaults(at.service.state())).toHaveLength(1);
  });

  it("of an asset whose create has no known outcome: nothing is created before that is resolved", async () => {
    const at = await scene(assetNamed("vault4"), { service: { faults: ["POST /v1/assets=reset-before"] } });
    expect((await at.apply()).code).toBe(4);
    at.service.clearFaults();
    at.write("manifests/all.yaml", assetNamed("vault"));
    const { plan } = await at.plan();
    expect(readySteps(plan)).toEqual([]);
    expect(blockedSteps(plan).find(({ address }) => address === "Asset/vault")).toMatchObject({
      code: "E_UNKNOWN_OUTCOME",
      message: expect.stringContaining("Asset/vault4"),
      command: "dimsync resolve Asset/vault4 --created=ID",
    });
  });

  it("of an integration: the id is recorded under the new address", async () => {
    const at = await scene(integrationManifest("returns"));
    const [id] = Object.values((await at.apply()).result.bindings);
    at.write("manifests/all.yaml", integrationManifest("returns").replace("metadata: { name: returns }", "metadata: { name: refunds }"));
    expect(readySteps((await at.plan()).plan)).toMatchObject([{ verb: "bind", liveId: id, renamedFrom: "Integration/returns" }]);
    const { code, result } = await at.apply();
    expect(code).toBe(0);
    expect(result.bindings).toEqual({ "Integration/refunds": id });
    expect((await at.plan("--detailed-exitcode")).code).toBe(0);
  });
});

describe("an asset with the name and type of another one", () => {
  it("is not created while the other manifest exists: blocked, with the id and the command", async () => {
    const at = await scene(assetNamed("vault4"));
    const [id] = Object.values((await at.apply()).result.bindings);
    // The other manifest has a new name, which is not in the account yet.
    at.write("manifests/all.yaml", together(assetNamed("vault4", "name: Vault 4, type: s3"), assetNamed("vault")));
    const { plan } = await at.plan();
    expect(blockedSteps(plan)).toMatchObject([
      {
        address: "Asset/vault",
        code: "E_UNBOUND",
        message: expect.stringContaining(String(id)),
        command: `dimsync bind Asset/vault=${id}`,
      },
    ]);
    expect(readySteps(plan)).toMatchObject([{ verb: "update", address: "Asset/vault4" }]);
  });

  it("is created if its type differs", async () => {
    const at = await scene(assetNamed("vault4"));
    await at.apply();
    at.write("manifests/all.yaml", together(assetNamed("vault4"), assetNamed("vault", "name: Vault, type: snowflake")));
    expect(readySteps((await at.plan()).plan)).toMatchObject([{ verb: "create", address: "Asset/vault" }]);
    expect((await at.apply()).code).toBe(0);
    expect(vaults(at.service.state())).toHaveLength(2);
  });

  it("is an error in validate and blocked in plan, unless both are pinned or bound to different ids", async () => {
    const at = await scene(together(assetNamed("vault4"), assetNamed("vault")));
    const validate = await at.run(["validate", "-q"]);
    expect(validate.code).toBe(1);
    expect(validate.stdout).toContain("E_SHARED_IDENTITY");
    expect(blockedSteps((await at.plan()).plan)).toMatchObject(
      ["Asset/vault", "Asset/vault4"].map((address) => ({ address, code: "E_SHARED_IDENTITY" })),
    );
    at.write("manifests/all.yaml", together(assetNamed("vault4", undefined, ", id: d-20"), assetNamed("vault", undefined, ", id: d-21")));
    expect((await at.run(["validate", "-q"])).code).toBe(0);
    at.write("manifests/all.yaml", together(assetNamed("vault4"), assetNamed("vault")));
    expect((await at.run(["bind", "Asset/vault=d-20", "Asset/vault4=d-21"])).code).toBe(0);
    expect((await at.run(["validate", "-q"])).code).toBe(0);
    expect(diagnosticsOf((await at.plan()).plan)).toEqual([]);
  });

  it("is not created if the audit log shows that someone created it", async () => {
    const other = await scene(assetNamed("vault"));
    await other.apply();
    const at = await scene(assetNamed("vault"), { service: { state: other.service.state() } });
    const { code, result } = await at.apply();
    expect(code).toBe(4);
    expect(outcomes(result)).toMatchObject([
      { outcome: "blocked", code: "E_UNBOUND", message: expect.stringMatching(/"Vault" created.*bot@example.com/u) },
    ]);
    expect(at.writes()).toEqual([]);
    expect(vaults(at.service.state())).toHaveLength(1);
  });
});
