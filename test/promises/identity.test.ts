// A manifest's object is the one it says (I): what a list of the account shows is never called gone, and no command gives it up.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type AccountState, seedAccount, startEmbeddedService } from "../../src/embedded/index.ts";
import { apply, drift, loadProject, plan } from "../../src/index.ts";

const head = { apiVersion: "dimsync/v1" };

type Manifests = readonly (readonly [id: string, manifest: object])[];

/** A manifest for each object that a list shows, by kind, with the id of the object. `changed`: says something that the account does not have. */
function manifestsOf({ integrations, assets, tags }: AccountState, changed: boolean): Readonly<Record<string, Manifests>> {
  const shown = integrations.filter(({ kind }) => kind === undefined);
  const used = new Set(shown.flatMap(({ source, destination }) => [source.id, destination.id]));
  const pinned = (kind: string, id: string, spec: object) => [id, { ...head, kind, metadata: { name: `x-${id}`, id }, spec }] as const;
  const described = changed ? { description: "new" } : {};
  const rules = changed ? [{ match: { column: "*email*" }, set: { hashed: true } }] : [];
  return {
    Integration: shown.map(({ id, paused, settings: { replicationFrequency } }) =>
      pinned("Integration", id, { settings: { paused: changed || paused, replicationFrequency } }),
    ),
    Schemas: shown.map(({ id }) => [
      id,
      { ...head, kind: "SchemaConfig", metadata: { name: `x-${id}` }, spec: { integration: { id }, rules, schemas: {} } },
    ]),
    Asset: assets.flatMap(({ id, name, type }) =>
      used.has(id) ? [pinned("Asset", id, { name, type, secretVersion: 0, ...described })] : [],
    ),
    Tag: tags.map(({ id, name }) => pinned("Tag", id, { name, ...described, resources: [{ dataAsset: { id: "da-7" } }] })),
  };
}

const profiles = {
  documented: { observed: false, extended: false },
  observed: { observed: true, extended: false },
  "observed, with the switch": { observed: true, extended: true },
} as const;

const cases = Object.entries(profiles).flatMap(([profile, options]) =>
  Object.keys(manifestsOf(seedAccount(), false)).map((kind) => ({ profile, kind, ...options })),
);

/** A project for all objects of a kind, whose service can refuse reads of single objects. */
async function project({ kind, observed, extended }: (typeof cases)[number], isChanged: boolean) {
  const service = await startEmbeddedService({ observed });
  const cwd = mkdtempSync(join(tmpdir(), "dimsync-identity-"));
  onTestFinished(async () => {
    rmSync(cwd, { recursive: true, force: true });
    await service.close();
  });
  const target = { baseUrl: service.url, apiKey: { $secret: { env: "KEY" } }, service: { extended } };
  const config = {
    ...{ ...head, kind: "Config", manifests: ["manifests"], targets: { prod: target } },
    client: { retries: 0, schemaWaitSeconds: 1, settleSeconds: 1 },
    guards: { maxChangedPercent: 100 },
    defaults: { taggedBy: "dana@example.com" },
  };
  const all = manifestsOf(service.state(), isChanged)[kind] ?? [];
  mkdirSync(join(cwd, "manifests"));
  writeFileSync(join(cwd, "dimsync.yaml"), JSON.stringify(config));
  const write = (manifests: Manifests): void =>
    writeFileSync(join(cwd, "manifests/all.yaml"), manifests.map(([, manifest]) => `---\n${JSON.stringify(manifest)}\n`).join(""));
  write(all);
  const env = { KEY: service.apiKey };
  const run = async (of: typeof plan | typeof drift | typeof apply) => await of(await loadProject({ cwd, env }), { env });
  return { service, all, write, run };
}

const givenUp = /\bgone\b|E_GONE|unbind/iu;

test.each(cases)("$kind, $profile: what a list shows is not gone when reads of it return 404", async (one) => {
  const { service, all, run } = await project(one, false);
  expect((await run(apply)).exit.code).toBe(0);
  service.resetCounts();
  for (const [id] of all) service.addFault(`GET /${id}(/|$)=status:404`);
  for (const command of [plan, drift, apply]) expect(JSON.stringify(await run(command))).not.toMatch(givenUp);
  const isRead = one.extended || one.kind !== "Asset";
  expect(service.requests.some(({ status }) => status === 404)).toBe(isRead);
});

test.each(cases)("$kind, $profile: nor when one read during an apply does", async (one) => {
  for (const nth of [1, 2, 3]) {
    const { service, all, write, run } = await project(one, true);
    write(all.slice(0, 1));
    service.addFault(`GET /${all[0]?.[0]}(/|$)@${nth}=status:404`);
    expect([nth, JSON.stringify(await run(apply))]).toEqual([nth, expect.not.stringMatching(givenUp)]);
  }
});
