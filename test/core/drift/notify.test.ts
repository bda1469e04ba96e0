import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { notify, parseNotify } from "../../../src/core/drift/notify.ts";
import { driftSummary } from "../../../src/core/drift/summary.ts";
import type { Plan } from "../../../src/core/model/plan.ts";
import { Secret } from "../../../src/core/model/settings/secret.ts";
import { postJson } from "../../../src/core/service/send-request.ts";
import { tracedReport } from "../render/html-report.ts";
import { change, item, plan } from "../render/plans.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

/** The input of the function under test, and the requests that have arrived. */
async function receiver(status: Receiver["status"] = 200) {
  const started = await startReceiver();
  started.status = status;
  return { url: new Secret(started.url), received: started.received };
}

const post = (url: URL, body: string, timeoutMs: number) => postJson(url, body, { timeoutMs, env: {} });
const input = (report: Plan = tracedReport, previous?: string) => ({
  report,
  post,
  summary: driftSummary(report),
  ...(previous === undefined ? {} : { previous }),
});
const clean = plan({ kind: "DriftReport" });

describe("the webhook is notified only if the drift changed", () => {
  const same = driftSummary(tracedReport).fingerprint;
  test.each<[string, Plan, string | undefined, "sent" | "unchanged"]>([
    ["first drift", tracedReport, undefined, "sent"],
    ["first report without drift", clean, undefined, "unchanged"],
    ["the same drift again", tracedReport, same, "unchanged"],
    ["other drift", tracedReport, "sha256:other", "sent"],
    ["drift that is resolved", clean, same, "sent"],
  ])("%s", async (_, report, previous, outcome) => {
    const { url, received } = await receiver();
    expect(await notify({ ...input(report, previous), url })).toEqual({ outcome });
    expect(received).toHaveLength(outcome === "sent" ? 1 : 0);
  });
});

describe("the body of a notification", () => {
  test("has text in Slack's markup, and the same as data", async () => {
    const { url, received } = await receiver(204);
    await notify({ ...input(tracedReport, "sha256:other"), url });
    const [{ body, headers } = { body: {}, headers: {} }] = received;
    expect(headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(body).toMatchObject({
      kind: "DriftNotification",
      formatVersion: "1.0",
      target: "prod",
      exit: 2,
      previousFingerprint: "sha256:other",
      counts: { manual: 2 },
      origins: { conflict: 1 },
    });
    expect(body["manual"]).toEqual([expect.objectContaining({ id: "m-3f2a91" }), expect.objectContaining({ id: "m-b07c11" })]);
    expect(body["text"]).toContain("*Drift in prod*");
    expect(body["text"]).toContain("`Schemas/orders public.users.email hashed` (drift; dana@example.com)");
    expect(body["text"]).toContain("manual: `Integration/orders paused`");
  });

  test("is only text in the format for Slack", async () => {
    const { url, received } = await receiver();
    await notify({ ...input(), url, format: "slack" });
    expect(Object.keys(received[0]?.body ?? {})).toEqual(["text"]);
  });

  test("has no values from the account and no mentions, and is short", async () => {
    const { url, received } = await receiver();
    const changes = Array.from({ length: 10_000 }, (_, index) =>
      change({ path: `/schemas/p/tables/<!channel>&${index}/columns/a\`b/hashed`, before: "canary-1", after: "canary-2" }),
    );
    await notify({
      ...input(plan({ kind: "DriftReport", target: "<!here>", items: [item({ changes })], exit: { code: 2, reasons: ["drift"] } })),
      url,
    });
    const text = String(received[0]?.body["text"]);
    expect(JSON.stringify(received[0]?.body)).not.toMatch(/canary/u);
    expect(text).not.toMatch(/<!|&(?!amp;|lt;|gt;)/u);
    expect(text.length).toBeLessThan(5_000);
    expect(text).toContain("and 9990 more");
  });
});

describe("a failure is a warning without any part of the URL", () => {
  const failed = async (url: Secret, timeoutMs = 10_000): Promise<string> => {
    const outcome = await notify({ ...input(), url, timeoutMs });
    expect(outcome.outcome).toBe("failed");
    expect(inspect(outcome)).not.toMatch(/canary|127\.0\.0\.1|example/u);
    return outcome.outcome === "failed" ? outcome.warning : "";
  };

  test.each([
    [404, /status 404/u],
    [500, /status 500/u],
    [302, /a redirect, which dimsync does not follow/u],
  ])("status %i", async (status, message) => {
    const { url, received } = await receiver(status);
    expect(await failed(url)).toMatch(message);
    expect(received).toHaveLength(1);
  });

  test("no response in time", async () => {
    expect(await failed((await receiver("hang")).url, 200)).toContain("timeout");
  });

  test.each([
    ["http://example.com/canary", /must begin with https/u],
    ["ftp://127.0.0.1/canary", /must begin with https/u],
    ["canary", /is not a URL/u],
    ["http://127.0.0.1:1/canary", /ECONNREFUSED/u],
  ])("%s", async (url, message) => {
    expect(await failed(new Secret(url))).toMatch(message);
  });

  test("an abort is not a failure: its reason is thrown", async () => {
    const { url } = await receiver("hang");
    const signal = AbortSignal.abort(new Error("stop"));
    const stopped = (to: URL, body: string, timeoutMs: number) => postJson(to, body, { timeoutMs, env: {}, signal });
    await expect(notify({ ...input(), url, post: stopped })).rejects.toThrow("stop");
  });
});

describe("--notify says where the URL is stored", () => {
  test("env and file", () => {
    expect(parseNotify("env:DRIFT_WEBHOOK")).toEqual({ $secret: { env: "DRIFT_WEBHOOK" } });
    expect(parseNotify("file:/run/secrets/hook")).toEqual({ $secret: { file: "/run/secrets/hook" } });
  });
  test.each(["https://hooks.example.com/canary", "env:", "env:a=canary", "canary", "file:", ""])(
    "%s is refused without being repeated",
    (text) => {
      expect(() => parseNotify(text)).toThrow(/takes env:NAME or file:PATH/u);
      expect(() => parseNotify(text)).not.toThrow(/canary/u);
    },
  );
});
