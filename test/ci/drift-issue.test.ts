import { expect, test } from "vitest";
import { markerOf } from "../../src/ci/comments.ts";
import { labelledIssues } from "../../src/ci/github.ts";
import { putDriftIssue } from "../../src/ci/issues.ts";
import { openRest } from "../../src/ci/rest.ts";
import type { Plan } from "../../src/model/plan.ts";
import { driftReport } from "../render/full-plan.ts";
import { plan } from "../render/plans.ts";
import { type ForgeStandIn, standInToken, startForge } from "./forge-stand-in.ts";

const put = ({ url }: ForgeStandIn, report: Plan, run = 1) =>
  putDriftIssue(
    labelledIssues(
      openRest({ name: "GitHub", baseUrl: url, headers: { authorization: `Bearer ${standInToken}` }, pauseMs: 1 }),
      "example/data",
      "dimsync-drift",
    ),
    report,
    { marker: markerOf("drift", "", report.target), footer: `Written by dimsync in [this run](https://example.com/${run}).` },
  );
const nothing = plan({ kind: "DriftReport" });

test("one issue is opened, left as it is, updated and closed", async () => {
  const forge = await startForge();
  expect(await put(forge, nothing)).toBe("none");
  expect(await put(forge, driftReport, 1)).toBe("created");
  expect(await put(forge, driftReport, 2)).toBe("same");
  expect(await put(forge, { ...driftReport, manual: [] }, 3)).toBe("updated");
  expect(await put(forge, nothing, 4)).toBe("closed");
  expect(forge.issues).toMatchObject([
    { state: "closed", title: expect.stringContaining("Drift for prod"), comments: [expect.stringContaining("No drift")] },
  ]);
  expect(await put(forge, driftReport, 5)).toBe("created");
});

test("an incomplete report closes nothing", async () => {
  const forge = await startForge();
  await put(forge, driftReport);
  expect(await put(forge, plan({ kind: "DriftReport", complete: false, exit: { code: 1, reasons: ["incomplete"] } }))).toBe("none");
  expect(forge.issues[0]?.state).toBe("open");
});

test("each target has its own, also behind further pages", async () => {
  const forge = await startForge();
  for (const target of ["a", "b", "c", "d"]) await put(forge, { ...driftReport, target });
  expect(await put(forge, { ...nothing, target: "d" })).toBe("closed");
  expect(forge.issues.map(({ state }) => state)).toEqual(["open", "open", "open", "closed"]);
});

test("a policy that the live state breaks is told as well", async () => {
  const forge = await startForge();
  expect(await put(forge, { ...nothing, policy: driftReport.policy, exit: { code: 3, reasons: ["policy"] } })).toBe("created");
});
