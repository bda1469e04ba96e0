// An integration and a tag from their creation on: settings and protected columns in one run, changes of all of them, drift that is
// accepted, and drift that is reverted. With each mode, the requests are counted.
import { expect, test } from "vitest";
import type { Plan } from "../../src/core/base/model/plan.ts";
import { type AccountState, type EmbeddedOptions, seedAccount } from "../../src/embedded/index.ts";
import { integrationManifest, scene, together } from "../core/apply/scene.ts";
import { readySteps } from "../support/steps.ts";

const integration = (settings: string): string => integrationManifest("returns").replace("  create:", `  settings: ${settings}\n  create:`);
const columns = (...more: readonly string[]): string => `apiVersion: dimsync/v1
kind: SchemaConfig
metadata: { name: returns }
spec: { integration: returns, rules: [${['{ match: { column: "*email*" }, set: { hashed: true } }', ...more].join(", ")}] }
`;
const mode = "{ match: { table: orders }, set: { syncMode: full refresh } }";
const tag = (resource: string): string => `apiVersion: dimsync/v1
kind: Tag
metadata: { name: gdpr }
lifecycle: { create: ifMissing }
spec: { name: GDPR, owner: { user: dana@example.com }, taggedBy: u-3, exclusive: true, resources: [{ integration: ${resource} }] }
`;
const first = together(
  integration('{ name: Returns, paused: false, replicationFrequency: "1440", onSchemaUpdate: ignoreAll }'),
  columns(),
  tag("returns"),
);
const later = (isExtended: boolean): string =>
  together(
    integration('{ name: Returns (EU), paused: true, replicationFrequency: cron, cronExpression: "0 4 * * *", onSchemaUpdate: ignoreAll }'),
    columns(...(isExtended ? [mode] : [])),
    tag("Orders"),
  );

/** Somebody renames and resumes the integration, and moves the tag. */
function drifted({ integrations, tags }: AccountState): void {
  const returns = integrations.at(-1);
  if (returns !== undefined) Object.assign(returns, { name: "Returned", paused: false });
  const gdpr = tags.find(({ name }) => name === "GDPR");
  if (gdpr !== undefined) gdpr.relations = [{ resourceId: "b27d", resourceType: "Integration", taggedBy: "u-3" }];
}

const create = "POST /v1/integrations";
const protect = "PATCH /v1/integrations/*/schemas";
const change = "PATCH /v1/integrations/*";
const [newTag, attach, detach] = ["POST /v1/tags", "POST /v1/tags/*/relation", "DELETE /v1/tags/*/relation"];

/** The writes of each apply, how many GETs it sends, and its exit code. */
interface Life {
  readonly created: readonly string[];
  readonly changed: readonly string[];
  readonly reverted: readonly string[];
  readonly reads: readonly number[];
  readonly codes: readonly number[];
}

const whole: Life = {
  created: [create, newTag, protect, attach, change],
  changed: [change, protect, attach, detach],
  reverted: [change, attach, detach],
  reads: [17, 14, 13],
  codes: [0, 0, 0],
};
/** No request can resume an integration that was created paused, so none is created until the manifest pauses it. */
const documented: Life = { created: [], changed: [create, protect], reverted: [], reads: [3, 8, 5], codes: [3, 4, 4] };
const refused: Life = {
  created: [create, newTag, protect, change],
  changed: [newTag, change, protect],
  reverted: [newTag, change],
  reads: [17, 13, 12],
  codes: [4, 4, 4],
};

test.each<[mode: string, service: EmbeddedOptions, extended: boolean, life: Life]>([
  ["the service has the requests, and the switch is on", { observed: true }, true, whole],
  ["the service has them, and the switch is off: none is sent", { observed: true }, false, documented],
  ["the service lacks them, and the switch is on: each is tried once in a run", { observed: true, extended: false }, true, refused],
])("%s", async (_, service, extended, life) => {
  const at = await scene(first, {
    service: { ids: "short", state: seedAccount(), ...service },
    config: { service: { extended }, guards: { maxChangedPercent: 100 }, client: { timeoutSeconds: 600, retries: 0 } },
  });
  const sent: string[][] = [];
  const codes: number[] = [];
  const reads: number[] = [];
  const readCount = () => at.service.counts()["GET"] ?? 0;
  const apply = async () => {
    const [before, readsBefore] = [at.writes().length, readCount()];
    const { code } = await at.apply();
    codes.push(code);
    reads.push(readCount() - readsBefore);
    sent.push(
      at
        .writes()
        .slice(before)
        .map((one) => one.replace(/^(\S+ \/v1\/\w+\/)[^/]+/u, "$1*"))
        .sort(),
    );
  };
  await apply();
  at.write("manifests/all.yaml", later(extended));
  await apply();
  at.service.mutate(drifted);
  if (life === whole) {
    const report = await at.run(["drift", "-o", "json"]);
    expect(report.code).toBe(2);
    expect(readySteps(JSON.parse(report.stdout) as Plan).map(({ verb, address }) => `${verb} ${address}`)).toEqual([
      "update Integration/returns",
      "relate Tag/gdpr#8f1c",
      "unrelate Tag/gdpr#b27d",
    ]);
  }
  await apply();
  const sorted = ({ created, changed, reverted }: Life) => [created, changed, reverted].map((one) => [...one].sort());
  expect({ codes, reads, sent }).toEqual({ codes: life.codes, reads: life.reads, sent: sorted(life) });
});

test("drift of settings and sync modes is accepted into the manifests; that of tag relations is left to people", async () => {
  const at = await scene(together(first, columns(mode)).replace(columns(), ""), {
    service: { observed: true, ids: "short", state: seedAccount() },
    config: { service: { extended: true } },
  });
  const applied = await at.apply();
  expect(applied.code, applied.stderr).toBe(0);
  at.service.mutate((account) => {
    drifted(account);
    const returns = account.integrations.at(-1);
    if (returns === undefined) return;
    Object.assign(returns, { paused: true });
    Object.assign(returns.settings, { replicationFrequency: "60" });
    for (const schema of Object.values(returns.schemas)) Object.assign(schema.tables["orders"] ?? {}, { syncMode: "Change Stream" });
  });
  const accepted = await at.run(["drift", "--resolve", "accept"]);
  expect(accepted.stderr).toContain("Differences accepted: 4, not accepted: 2.");
  expect(accepted.stderr).toContain("remove the resource from spec.resources");
  expect(accepted.stderr).toContain("Add the resource to spec.resources");
  const { plan } = await at.plan();
  expect([plan.complete, plan.steps.map(({ verb }) => verb)]).toEqual([true, ["relate", "unrelate"]]);
});
