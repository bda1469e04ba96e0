// Apply goes on from what other runs did meanwhile, and reports each step once.
import { expect, it, test } from "vitest";
import { unfinishedItems } from "../../../src/core/apply/result.ts";
import { systemClock } from "../../../src/core/base/model/runtime/clock.ts";
import { type ApplyAccountOptions, applyAccount } from "../../../src/core/operations/apply.ts";
import type { RunEnvironment } from "../../../src/core/operations/run.ts";
import { loadProject } from "../../../src/index.ts";
import { outcomes, stepsFrom } from "../../support/steps.ts";
import { expectNothingTwice, overtakenManifests } from "../records/overtaken.ts";
import { assetManifest, endings, integrationManifest, ordersManifest, type Scene, scene, tagManifest, together } from "./scene.ts";

type AroundOptions = ApplyAccountOptions & Pick<RunEnvironment, "onProgress" | "clock"> & Partial<Pick<RunEnvironment, "signal">>;

/** Applies, and calls `between` when the plan is made and nothing is written yet. */
async function applyAround(at: Scene, between: () => Promise<unknown>, { onProgress, clock, signal, ...options }: AroundOptions = {}) {
  let isFirst = true;
  const beforeFirstWrite = async (): Promise<void> => {
    if (isFirst) await between();
    isFirst = false;
  };
  const environment = { env: at.env, signal: signal ?? new AbortController().signal, onProgress, clock };
  return await applyAccount(await loadProject({ cwd: at.folder, env: at.env }), { ...options, beforeFirstWrite }, environment);
}

const manifests = together(
  ordersManifest,
  tagManifest("the best", ", taggedBy: u-1, resources: [{ integration: orders }, { asset: archive }]"),
  assetManifest(),
);

it("an apply that finds its items done by another run ends with 0, also what depends on them", async () => {
  const at = await scene(manifests);
  let sent: readonly string[] = [];
  const { result } = await applyAround(at, async () => {
    expect((await at.run(["apply", "--yes"])).code).toBe(0);
    sent = at.writes();
  });
  expect([
    result.exit.code,
    outcomes(result)
      .map(({ outcome }) => outcome)
      .filter((outcome) => outcome !== "done"),
  ]).toEqual([0, []]);
  expect(Object.keys(result.bindings).sort()).toEqual(["Asset/archive", "Integration/orders", "Tag/gold"]);
  expect(at.writes()).toEqual(sent);
  expect((await at.plan("--detailed-exitcode")).code).toBe(0);
});

it("an apply whose items another run did in part does the rest", async () => {
  const at = await scene(manifests);
  const { result } = await applyAround(at, async () =>
    expect((await at.run(["apply", "--yes", "--only", "Integration/orders"])).code).toBe(0),
  );
  expect(result.exit.code).toBe(0);
  expect(outcomes(result).map(({ outcome }) => outcome)).not.toContain("skipped");
  expect((await at.plan("--detailed-exitcode")).code).toBe(0);
});

it("an apply whose bind is stale plans what was skipped because of it again, or drops it", async () => {
  const at = await scene(manifests);
  const { result } = await applyAround(at, async () => expect((await at.run(["bind", "Tag/gold=t-1"])).code).toBe(0));
  expect(outcomes(result).filter(({ outcome }) => outcome !== "done")).toEqual([]);
  expect([result.exit.code, result.bindings["Tag/gold"]]).toEqual([0, "t-1"]);
  expect(at.writes().filter((request) => request.includes("/t-3"))).toEqual([]);
});

it("no integration gets the tag if another run meanwhile binds the manifest to an object that it does not describe", async () => {
  const at = await scene(manifests);
  const { result } = await applyAround(at, async () => expect((await at.run(["bind", "Integration/orders=b27d"])).code).toBe(0));
  const { "relate Tag/gold#8f1c": before, "relate Tag/gold#b27d": now } = endings(result);
  expect([before, now]).toEqual([undefined, undefined]);
});

it("an apply that cannot record anything says why, and has no result", async () => {
  const at = await scene(manifests);
  const lock = async () => expect((await at.run(["records", "lock", "--reason", "moving"])).code).toBe(0);
  await expect(applyAround(at, lock)).rejects.toMatchObject({ code: "E_LOCKED", exit: 6 });
  expect(at.writes()).toEqual([]);
});

it("an interrupted apply plans no further round", async () => {
  const at = await scene(together(assetManifest(), integrationManifest("returns", { destination: "{ asset: archive }" })));
  const stop = new AbortController();
  const onProgress: RunEnvironment["onProgress"] = (event) =>
    void (event.type === "step" && event.label.endsWith("done") && stop.abort(new Error("interrupted")));
  const { result } = await applyAround(at, async () => undefined, { onProgress, signal: stop.signal });
  expect([endings(result), result.findings, at.writes()]).toEqual([
    { "create Asset/archive": "done", "create Integration/returns": "waits E_STILL_WAITING" },
    [],
    ["POST /v1/assets"],
  ]);
});

it("an item that changed meanwhile is in the result even if the next round cannot be planned", async () => {
  const at = await scene(tagManifest("the best"));
  // The clock fails once, while the second round is planned.
  let rounds = 0;
  const onProgress: RunEnvironment["onProgress"] = ({ type, phase }) => void (type === "phase" && phase === "read" && rounds++);
  const now = (): Date => {
    if (rounds++ === 2) throw new Error("no time");
    rounds--;
    return systemClock.now();
  };
  const rename = async () =>
    at.service.mutate(({ tags }) => {
      for (const tag of tags) tag.description = "another";
    });
  const { result } = await applyAround(at, rename, { onProgress, clock: { ...systemClock, now } });
  expect(outcomes(result).filter(({ verb }) => verb === "update")).toMatchObject([
    { outcome: "skipped", code: "E_INTERNAL", message: expect.stringMatching(/another.* The next round could not be planned\.$/u) },
  ]);
});

test("what a plan blocked is not in the result beside what a later round did", () => {
  const plan = (items: readonly string[], blocked: readonly string[]) => ({
    steps: [
      ...items.map((address) => ({ ...at, address })),
      ...stepsFrom({ blocked: blocked.map((address) => ({ address, code: "E_DEPENDENCY" as const, message: "" })) }),
    ],
  });
  const at = { id: "s1", standing: "ready", verb: "update", dependsOn: [], changes: [], requests: [] } as const;
  const plans = [plan([], ["Tag/a", "Tag/b"]), plan(["Tag/a"], ["Tag/c"]), plan(["Tag/c"], []), plan([], ["Tag/c"])];
  expect(unfinishedItems(plans, []).map(({ address }) => address)).toEqual(["Tag/b", "Tag/c"]);
});

it("a create whose checks another run has overtaken, with records in the folder, is not sent", async () => {
  const at = await scene(overtakenManifests, { config: { client: { concurrency: 8 } } });
  await expectNothingTwice(at.service, at, { run: (...argv) => at.run(argv) });
});
