import { expect, test } from "vitest";
import { type Context, wantsColor } from "../../src/cli/context.ts";
import { type Intervals, showProgress } from "../../src/cli/progress.ts";
import { capturedIo } from "../support/captured-io.ts";

const pace: Intervals = { redrawMs: 2, heartbeatMs: 2 };

/** A context that collects stderr, and a function that waits for its output. */
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
  let heard: () => void = () => {};
  const context: Context = {
    io: capturedIo({
      stdout: () => expect.unreachable("progress goes to stderr"),
      stderr: (text) => {
        printed.push(text);
        heard();
      },
      stdoutIsTty: isTty,
      stderrIsTty: isTty,
      stdinIsTty: isTty,
      columns,
      env,
    }).io,
    flags: { target: [], var: [], varFile: [], only: [], exclude: [], output: [], color: true, quiet },
    cwd: "/",
  };
  const next = (): Promise<void> =>
    new Promise((resolve) => {
      heard = resolve;
    });
  return { context, printed, next };
}

const step = { type: "step", phase: "read", done: 3, total: 41, label: "GET /v1/tags/t-1" } as const;

test("on a terminal one line is overwritten, and removed at the end", async () => {
  const { context, printed, next } = listening({ isTty: true });
  const { onProgress, end } = showProgress(context, pace);
  onProgress?.(step);
  await next();
  onProgress?.({ ...step, done: 4 });
  await next();
  end();
  expect(printed).toEqual(["\r\u001b[KReading 3 of 41 · GET /v1/tags/t-1", "\r\u001b[KReading 4 of 41 · GET /v1/tags/t-1", "\r\u001b[K"]);
});

test("on a narrow terminal the line is cut, so it never wraps", async () => {
  const { context, printed, next } = listening({ isTty: true, columns: 20 });
  const { onProgress, end } = showProgress(context, pace);
  onProgress?.(step);
  await next();
  end();
  expect(printed[0]).toBe("\r\u001b[KReading 3 of 41 · G");
});

test.each([
  ["without a terminal", { isTty: false }],
  ["with TERM=dumb", { isTty: true, env: { TERM: "dumb" } }],
])("%s there is a new line at intervals until the work ends", async (_, terminal) => {
  const { context, printed, next } = listening(terminal);
  const { onProgress, end } = showProgress(context, pace);
  onProgress?.({ type: "step", phase: "wait", done: 0, total: 0, label: "schema of Integration/returns" });
  await next();
  await next();
  end();
  const count = printed.length;
  expect(new Set(printed)).toEqual(new Set(["dimsync: Waiting · schema of Integration/returns\n"]));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(printed).toHaveLength(count);
});

test("a name with control characters can't move the cursor", async () => {
  const { context, printed, next } = listening({ isTty: false });
  const { onProgress, end } = showProgress(context, pace);
  onProgress?.({ ...step, label: "a\u001b[2Jb\nc" });
  await next();
  end();
  expect(printed[0]).not.toContain("\u001b");
  expect(printed[0]?.split("\n")).toHaveLength(2);
});

test("short work, and --quiet, show nothing", async () => {
  const quick = listening({ isTty: true });
  const { onProgress, end } = showProgress(quick.context);
  onProgress?.(step);
  end();
  const quiet = listening({ isTty: true, quiet: true });
  expect(showProgress(quiet.context, pace).onProgress).toBeUndefined();
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

test("waiting for the same thing is one event", () => {
  const events: object[] = [];
  const { onProgress, end } = showProgress(listening({ isTty: false }).context, { events: (event) => void events.push(event) });
  const wait = { type: "step", phase: "wait", done: 0, total: 2, label: "waiting for the schema of a new integration" } as const;
  for (const event of [wait, step, wait, { ...wait, total: 1 }]) onProgress?.(event);
  end();
  expect(events).toEqual([wait, step, { ...wait, total: 1 }]);
});
