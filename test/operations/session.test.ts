import { join } from "node:path";
import { expect, test } from "vitest";
import { plan, snapshot } from "../../src/index.ts";
import { merged } from "../../src/model/json/lazy.ts";
import { env, story } from "../drift/account.ts";
import { ordersManifest } from "../support/orders.ts";

test("a plan of a snapshot computes the digest of the manifests only if it is read", async () => {
  const { service, folder, load } = await story({ "all.yaml": ordersManifest("email: { hashed: true }") });
  const project = await load();
  const file = join(folder, "account.snapshot");
  await snapshot(project, file, { env: env(service) });
  let computed = 0;
  const counting = merged(project, {
    get manifestDigest() {
      computed++;
      return project.manifestDigest;
    },
  });
  const made = await plan(counting, { snapshotFile: file });
  expect(made.summary.update).toBe(1);
  expect(computed).toBe(0);
  expect(made.manifestDigest).toBe(project.manifestDigest);
});
