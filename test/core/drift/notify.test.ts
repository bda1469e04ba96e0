// A notification has counts and names, and no value of the account.
import { describe, expect, test } from "vitest";
import type { Plan } from "../../../src/core/base/model/plan.ts";
import { Secret } from "../../../src/core/base/model/settings/secret.ts";
import { callWebhook, jsonHeaders, notification, notificationBody } from "../../../src/core/drift/notify.ts";
import { withSteps } from "../../support/steps.ts";
import { tracedReport } from "../render/html-report.ts";
import { change, item, plan } from "../render/plans.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

const bodyOf = (report: Plan, format: "json" | "slack" = "json", previous?: string): Readonly<Record<string, unknown>> =>
  JSON.parse(notificationBody(notification({ target: report.target, report, previous }), format));

describe("the body of a notification", () => {
  test("has text in Slack's markup, and the same as data", () => {
    const body = bodyOf(tracedReport, "json", "sha256:other");
    expect(body).toMatchObject({
      kind: "DriftNotification",
      formatVersion: "1.0",
      target: "prod",
      exit: 2,
      previousFingerprint: "sha256:other",
      counts: { byHand: 2 },
      origins: { conflict: 1 },
    });
    expect(body["byHand"]).toEqual([expect.objectContaining({ id: "h-3f2a91" }), expect.objectContaining({ id: "h-b07c11" })]);
    expect(body["text"]).toContain("*Drift in prod*");
    expect(body["text"]).toContain("`Schemas/orders` public.users.email is no longer hashed (dana@example.com, 2026-02-28 16:40 UTC)");
    expect(body["text"]).toContain("• `Integration/orders` paused differs (by hand)");
  });

  test("counts a column that was kept hashed and was renamed as exposed, and has the command that ends it", () => {
    const step = {
      address: "Schemas/orders",
      path: "/schemas/public/tables/users/columns/phone/hashed",
      obligation: true,
      instruction: "public.users.phone is gone, and mobile is new and readable. Give it up:",
      command: "dimsync resolve X",
    } as const;
    const body = bodyOf(withSteps(plan({ kind: "DriftReport", exit: { code: 2, reasons: ["drift"] } }), { byHand: [step] }));
    expect(body["counts"]).toMatchObject({ exposed: 1, byHand: 1 });
    expect(body["text"]).toContain("1 exposed, 1 by hand");
    expect(body["text"]).toContain("• :warning: `Schemas/orders` public.users.phone is gone, and mobile is new and readable");
    expect(body["byHand"]).toMatchObject([{ instruction: expect.stringMatching(/Give it up: dimsync resolve X$/u) }]);
  });

  test("names what is not compared", () => {
    const blocked = { address: "Integration/orders", code: "E_INTEGRATION_MISSING", message: "" } as const;
    const body = bodyOf(withSteps(plan({ kind: "DriftReport", exit: { code: 2, reasons: ["drift"] } }), { blocked: [blocked] }));
    expect(body["text"]).toContain("1 not compared");
    expect(body["text"]).toContain("• `Integration/orders` is not compared (E_INTEGRATION_MISSING)");
  });

  test("is only text in the format for Slack", () => {
    expect(Object.keys(bodyOf(tracedReport, "slack"))).toEqual(["text"]);
  });

  test("has no values from the account and no mentions, and is short", () => {
    const changes = Array.from({ length: 10_000 }, (_, index) =>
      change({ path: `/schemas/p/tables/<!channel>&${index}/columns/a\`b/hashed`, before: "canary-1", after: "canary-2" }),
    );
    const exit = { code: 2, reasons: ["drift"] } as const;
    const body = bodyOf(plan({ kind: "DriftReport", target: "<!here>", items: [item({ changes })], exit }));
    const text = String(body["text"]);
    expect(JSON.stringify(body)).not.toMatch(/canary/u);
    expect(text).not.toMatch(/<!|&(?!amp;|lt;|gt;)/u);
    expect(text.length).toBeLessThan(5_000);
    expect(text).toContain("and 9990 more differences");
  });
});

const request = () => ({ method: "POST", headers: jsonHeaders, body: "{}" }) as const;

describe("why a webhook does not accept a request is said without any part of the URL", () => {
  const failed = async (url: string, timeoutMs = 10_000): Promise<string> => {
    const why = (await callWebhook(new Secret(url), request, { env: {}, timeoutMs })) ?? "";
    expect(why).not.toMatch(/canary|127\.0\.0\.1|example/u);
    return why;
  };
  const receiver = async (status: Receiver["status"]): Promise<Receiver> => Object.assign(await startReceiver(), { status });

  test.each([
    [404, /status 404/u],
    [500, /status 500/u],
    [302, /a redirect, which dimsync does not follow/u],
  ])("status %i", async (status, message) => {
    const { url, received } = await receiver(status);
    expect(await failed(url)).toMatch(message);
    expect(received[0]?.headers["content-type"]).toBe("application/json; charset=utf-8");
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
    expect(await failed(url)).toMatch(message);
  });

  test("a host that DIMSYNC_ALLOWED_HOSTS does not list gets nothing", async () => {
    const { url, received } = await receiver(200);
    const call = (hosts: string) => callWebhook(new Secret(url), request, { env: { DIMSYNC_ALLOWED_HOSTS: hosts } });
    expect(await call("api.service.test")).toMatch(/its host is not in DIMSYNC_ALLOWED_HOSTS \(api\.service\.test\), so nothing was sent/u);
    expect(received).toHaveLength(0);
    expect(await call(`api.service.test,${new URL(url).host}`)).toBeUndefined();
    expect(received).toHaveLength(1);
  });

  test("an abort is not a failure: its reason is thrown", async () => {
    const { url } = await receiver("hang");
    const signal = AbortSignal.abort(new Error("stop"));
    await expect(callWebhook(new Secret(url), request, { env: {}, signal })).rejects.toThrow("stop");
  });
});
