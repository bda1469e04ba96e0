import { expect, test } from "vitest";
import { lastSuccesses, metricsText, type RunTimes } from "../../../../src/core/render/machine/metrics.ts";
import fc from "../../../support/fast-check.ts";
import { driftReport, fullPlan } from "../full-plan.ts";
import { plan } from "../plans.ts";
import { fullResult } from "../results.ts";

const times: RunTimes = { finishedAtSeconds: 1_772_000_000, durationSeconds: 2.5, lastSuccessSeconds: new Map() };

// The grammar of Prometheus' text format 0.0.4 for one sample.
const sample = /^[a-zA-Z_:][a-zA-Z0-9_:]*\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*",?)*\} -?[0-9]+(?:\.[0-9]+)?$/u;
const sampleOf = (text: string, name: string, labels = ""): string | undefined =>
  text
    .split("\n")
    .find((line) => line.startsWith(`${name}{`) && line.includes(labels))
    ?.split(" ")
    .at(-1);

test("every line is a comment or a sample, whatever the target's name", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'a"\\\n{}, ü'), maxLength: 10 }), (target) => {
      const text = metricsText(
        [
          { ...fullPlan, target },
          { ...fullResult, target },
          { ...driftReport, target },
        ],
        times,
      );
      for (const line of text.trimEnd().split("\n")) if (!line.startsWith("# ")) expect(line).toMatch(sample);
    }),
    { numRuns: 50 },
  );
});

test("each metric has one HELP and one TYPE, and its samples follow each other without duplicates", () => {
  const lines = metricsText([fullPlan, { ...fullPlan, target: "test" }, fullResult], times)
    .trimEnd()
    .split("\n");
  const samples = lines.filter((line) => !line.startsWith("#"));
  const names = samples.map((line) => line.slice(0, line.indexOf("{")));
  expect(names.filter((name, index) => name !== names[index - 1])).toEqual([...new Set(names)]);
  expect(lines.filter((line) => line.startsWith("# TYPE"))).toHaveLength(new Set(names).size);
  const series = samples.map((line) => line.slice(0, line.lastIndexOf(" ")));
  expect(new Set(series).size).toBe(series.length);
});

test("counts are those of the document", () => {
  const text = metricsText([driftReport], times);
  expect(sampleOf(text, "dimsync_objects", 'state="manual"')).toBe(String(driftReport.manual.length));
  expect(sampleOf(text, "dimsync_changes", 'risk="exposed"')).toBe("4");
  expect(sampleOf(text, "dimsync_changes", 'risk="stricter"')).toBe("1");
  expect(text).not.toMatch(/protects"|exposes"/u);
  expect(sampleOf(metricsText([fullPlan], times), "dimsync_changes", 'risk="exposes"')).toBe("1");
  expect(sampleOf(text, "dimsync_unmanaged", 'kind="column"')).toBe("612");
  expect(sampleOf(text, "dimsync_calls", 'method="GET"')).toBe("41");
  expect(sampleOf(metricsText([fullResult], times), "dimsync_outcomes", 'outcome="failed"')).toBe("1");
});

test("a failed run keeps the time of the last success, a successful one updates it", () => {
  const target = 'p"r\\od\n';
  const first = metricsText([{ ...plan(), target }], times);
  expect(lastSuccesses(first)).toEqual(new Map([[target, times.finishedAtSeconds]]));
  const failed = { ...plan({ complete: false, exit: { code: 1, reasons: ["incomplete"] } }), target };
  const later = metricsText([failed], { ...times, finishedAtSeconds: 1_773_000_000, lastSuccessSeconds: lastSuccesses(first) });
  expect(lastSuccesses(later)).toEqual(new Map([[target, times.finishedAtSeconds]]));
  expect(sampleOf(later, "dimsync_last_run_timestamp_seconds")).toBe("1773000000");
  expect(sampleOf(metricsText([failed], times), "dimsync_last_success_timestamp_seconds")).toBeUndefined();
  expect(lastSuccesses("nonsense\n")).toEqual(new Map());
});
