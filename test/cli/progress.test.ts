// Progress is one line on a terminal, and lines at intervals elsewhere.
import { channel } from "node:diagnostics_channel";
import { expect, test } from "vitest";
import { type Context, wantsColor } from "../../src/cli/context.ts";
import { type Every, showProgress } from "../../src/cli/progress.ts";
import { capturedIo } from "../support/captured-io.ts";

/** A context that collects stderr, the intervals at which progress is drawn, and a function that lets one pass. */
function listening({
  isTty,
  quiet = false,
  columns = 100,
  env = {},
}: {
  readonly isTty: boolean;
  readonly quiet?: boolean;
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
}) {
  const printed: string[] = [];
  const intervals: number[] = [];
  let draw = (): void => {};
  const context: Context = {
    io: capturedIo({
      stdout: () => expect.unreachable("progress goes to stderr"),
      stderr: (text) => void printed.push(text),
      stdoutIsTty: isTty,
      stderrIsTty: isTty,
      stdinIsTty: isTty,
      columns,
      env,
    }).io,
    flags: { target: [], var: [], varFile: [], only: [], exclude: [], allowPath: [], output: [], color: true, quiet },
    cwd: "/",
  };
  const every: Every = (ms, run) => {
    intervals.push(ms);
    draw = run;
    return () => {
      draw = () => {};
    };
  };
  return { context, printed, intervals, every, tick: (): void => draw() };
}

const step = { type: "step", phase: "read", done: 3, total: 41, label: "GET /v1/tags/t-1" } as const;

test("on a terminal one line is overwritten, and removed at the end", () => {
  const { context, printed, every, tick } = listening({ isTty: true });
  const { onProgress, end } = showProgress(context, every);
  onProgress(step);
  tick();
  onProgress({ ...step, done: 4 });
  tick();
  end();
  expect(printed).toEqual(["\r\u001b[KReading 3 of 41 · GET /v1/tags/t-1", "\r\u001b[KReading 4 of 41 · GET /v1/tags/t-1", "\r\u001b[K"]);
});

test("on a narrow terminal the line is cut, so it never wraps", () => {
  const { context, printed, every, tick } = listening({ isTty: true, columns: 20 });
  const { onProgress, end } = showProgress(context, every);
  onProgress(step);
  tick();
  end();
  expect(printed[0]).toBe("\r\u001b[KReading 3 of 41 · G");
});

test("wide characters take two columns", () => {
  const { context, printed, every, tick } = listening({ isTty: true, columns: 22 });
  const { onProgress, end } = showProgress(context, every);
  onProgress({ ...step, label: "注文台帳" });
  tick();
  end();
  expect(printed[0]).toBe("\r\u001b[KReading 3 of 41 · 注");
});

test("requests are counted, also where nothing reports progress, and tables whose columns are read one by one", () => {
  const { context, printed, every, tick } = listening({ isTty: false });
  const { onProgress, clear, end } = showProgress(context, every);
  const shown = () => {
    printed.length = 0;
    tick();
    return printed[0];
  };
  for (let count = 0; count < 1_204; count += 1) channel("dimsync:request").publish({});
  expect(shown()).toBe("dimsync: Reading 1,204 requests\n");
  onProgress({ type: "step", phase: "columns", done: 1_200, total: 38_472, label: "tables" });
  onProgress(step);
  expect(shown()).toBe("dimsync: Reading 3 of 41, columns of 1,200 of 38,472 tables, 1,204 requests · GET /v1/tags/t-1\n");
  onProgress({ type: "step", phase: "apply", done: 1, total: 2, label: "Asset/lake done" });
  expect(shown()).toBe("dimsync: Applying 1 of 2 · Asset/lake done\n");
  clear();
  expect(shown()).toBeUndefined();
  onProgress({ type: "phase", phase: "apply", round: 1, total: 3 });
  expect(shown()).toBe("dimsync: Applying\n");
  end();
});

test.each([
  ["without a terminal", { isTty: false }],
  ["with TERM=dumb", { isTty: true, env: { TERM: "dumb" } }],
])("%s there is a new line at intervals until the work ends", (_, terminal) => {
  const { context, printed, intervals, every, tick } = listening(terminal);
  const { onProgress, end } = showProgress(context, every);
  onProgress({ type: "step", phase: "wait", done: 0, total: 0, label: "the schema of Integration/returns" });
  tick();
  tick();
  end();
  tick();
  expect(printed).toEqual([
    "dimsync: Waiting for the schema of Integration/returns\n",
    "dimsync: Waiting for the schema of Integration/returns\n",
  ]);
  expect(intervals).toEqual([10_000]);
});

test("a name with control characters can't move the cursor", () => {
  const { context, printed, every, tick } = listening({ isTty: false });
  const { onProgress, end } = showProgress(context, every);
  onProgress({ ...step, label: "a\u001b[2Jb\nc" });
  tick();
  end();
  expect(printed[0]).not.toContain("\u001b");
  expect(printed[0]?.split("\n")).toHaveLength(2);
});

test("short work, and --quiet, show nothing", () => {
  const quick = listening({ isTty: true });
  const { onProgress, end } = showProgress(quick.context, quick.every);
  onProgress(step);
  end();
  const quiet = listening({ isTty: true, quiet: true });
  showProgress(quiet.context, quiet.every).onProgress(step);
  expect([...quick.printed, ...quiet.printed]).toEqual([]);
});

test.each([
  [{}, true],
  [{ TERM: "dumb" }, false],
  [{ TERM: "dumb", FORCE_COLOR: "1" }, true],
])("on a terminal with %j, colors are %s", (env, is) => {
  const { context } = listening({ isTty: true, env });
  expect(wantsColor(context, true)).toBe(is);
});
