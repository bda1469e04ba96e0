import { expect } from "vitest";
import { applyAccount } from "../../../src/core/operations/apply.ts";
import type { EmbeddedService } from "../../../src/embedded/index.ts";
import { loadProject } from "../../../src/index.ts";
import { outcomes } from "../../support/steps.ts";
import { assetManifest, integrationManifest, type Meddle, meddler, together } from "../apply/scene.ts";
import type { Machine } from "./project.ts";

/** Two objects to create. */
export const overtakenManifests = together(assetManifest(), integrationManifest("returns"));

function newGate() {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

/**
 * Applies on one machine while another one applies the same, always in this order:
 * 1. Both creates have looked into the records, and read the account. The responses are held.
 * 2. The other run creates both objects, and ends.
 * 3. One response arrives. That create notices the other run, so this run has the new records, and is skipped to be planned again.
 * 4. The second response arrives, which does not show what the other run created. Now only the new records do.
 */
export async function expectNothingTwice(service: EmbeddedService, first: Pick<Machine, "folder" | "env">, second: Pick<Machine, "run">) {
  const [applied, skipped] = [newGate(), newGate()];
  let lists = 0;
  const meddle: Meddle = async ({ path }) => {
    if (path !== "/v1/integrations") return;
    lists += 1;
    // The first list is that of the plan.
    const create = lists - 1;
    if (create === 2) {
      const { code, stdout, stderr } = await second.run("apply", "--yes");
      expect(code, stdout + stderr).toBe(0);
      applied.open();
    }
    if (create === 1) await applied.opened;
    if (create === 2) await skipped.opened;
  };
  const env = { ...first.env, DIMSYNC_BASE_URL: await meddler(service.url, meddle) };
  const { result } = await applyAccount(
    await loadProject({ cwd: first.folder, env }),
    {},
    {
      env,
      signal: new AbortController().signal,
      onProgress: (event) => {
        if (event.type === "step" && event.label.endsWith(" skipped")) skipped.open();
      },
    },
  );
  expect([result.exit.code, outcomes(result).filter(({ outcome }) => outcome !== "done")]).toEqual([0, []]);
  expect(Object.keys(result.bindings).sort()).toEqual(["Asset/archive", "Integration/returns"]);
  const creates = service.requests.flatMap(({ method, path }) => (method === "POST" ? [path] : []));
  expect(creates.sort()).toEqual(["/v1/assets", "/v1/integrations"]);
}
