// An entry of allow covers what its address and its day say.
import { expect, test } from "vitest";
import type { AllowEntry } from "../../../../src/core/base/model/settings/config.ts";
import { allowances } from "../../../../src/core/plan/checks/allow.ts";

test.each<[until: string, isCurrent: boolean, code: string | undefined]>([
  ["2026-11-22", false, "W_UNUSED"],
  ["2026-11-23", true, undefined],
  ["2026-12-23", true, undefined],
  ["2026-12-24", false, "E_DATE_TOO_LATE"],
])("on 2026-11-23, an entry until %s", (until, isCurrent, code) => {
  const place = { file: "dimsync.yaml", document: 0, pointer: "/allow/0" };
  const entry: AllowEntry = { guard: "maxCreates", address: "Asset/*", reason: "DPIA-41", until, place };
  const { current, problems } = allowances([entry], "2026-11-23");
  expect(current).toEqual(isCurrent ? [entry] : []);
  expect(problems.map((problem) => [problem.code, problem.place, /the guard \S+ for \S+/u.exec(problem.message)?.[0]])).toEqual(
    code === undefined ? [] : [[code, { ...place, pointer: "/allow/0/until" }, "the guard maxCreates for Asset/*"]],
  );
});
