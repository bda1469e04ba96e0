import { describe, expect, test } from "vitest";
import type { StatusPage } from "../../../../src/features/controller/page/server.ts";
import { hasSession, pathWithin, refuseTokens, sessionCookie } from "../../../../src/features/controller/page/session.ts";
import { type Asking, ask, type Reply, started } from "./ask.ts";
import { now } from "./world.ts";

const token = "0123456789abcdef0123456789abcdef";
const minute = 60_000;
const day = 86_400_000;
const later = (ms: number): Date => new Date(now.getTime() + ms);
const cookieOf = ({ headers }: Reply): string => String(headers["set-cookie"]?.[0]);
const pairOf = (cookie: string): string => cookie.split(";")[0] ?? "";

const post = (page: StatusPage, path: string, form: Readonly<Record<string, string>>, headers: Asking["headers"] = {}): Promise<Reply> => {
  const body = new URLSearchParams(form).toString();
  return ask(page, path, {
    method: "POST",
    body,
    headers: { "content-type": "application/x-www-form-urlencoded", "content-length": String(Buffer.byteLength(body)), ...headers },
  });
};

describe("a person who has no session", () => {
  test.each([
    ["/", "/"],
    ["/accounts/shop-eu-west-000?page=2", "/accounts/shop-eu-west-000?page=2"],
    ["/?state=exposed&label=team%3Dsales", "/?state=exposed&amp;label=team%3Dsales"],
  ])("gets the form for %s, and goes there afterwards", async (path, next) => {
    const page = await started({ token });
    const { status, text } = await ask(page, path);
    expect(status).toBe(401);
    expect(text).toContain('<form method="post" action="/login">');
    expect(text).toContain(`<input type="hidden" name="next" value="${next}">`);
    const reply = await post(page, "/login", { token, next: path });
    expect([reply.status, reply.headers["location"], reply.headers["cache-control"]]).toEqual([303, path, "no-store"]);
    expect((await ask(page, path, { headers: { cookie: pairOf(cookieOf(reply)) } })).status).toBe(200);
  });

  test("gets the form at /login, and an error for a wrong token", async () => {
    const page = await started({ token });
    expect(await ask(page, "/login?next=/runs/x")).toMatchObject({ status: 200, text: expect.stringContaining('value="/runs/x"') });
    const wrong = await post(page, "/login", { token: `${token}x`, next: "/runs/x" });
    expect(wrong.status).toBe(401);
    expect(wrong.headers["set-cookie"]).toBeUndefined();
    expect(wrong.text).toContain("This is not the token of the controller.");
    expect(wrong.text).not.toContain(token);
  });

  test("gets no form without a token of the controller, and programs get JSON", async () => {
    const page = await started();
    expect((await ask(page, "/login")).status).toBe(404);
    expect((await post(page, "/login", { token: "" })).status).toBe(405);
    expect((await ask(await started({ token }), "/api/v1/accounts")).type).toBe("application/problem+json");
    const behind = await ask(await started({ trustProxyHeader: "X-User" }), "/");
    expect([behind.status, behind.text.includes("<form")]).toEqual([401, false]);
  });

  test("who follows a link of another site is sent to the page again, so that the browser sends the cookie", async () => {
    const page = await started({ token, base: "/dimsync" });
    const refresh = async (headers: Asking["headers"]) =>
      /<meta http-equiv="refresh" content="(.*?)">/u.exec((await ask(page, "/dimsync/accounts/x", { headers: headers ?? {} })).text)?.[1];
    expect(await refresh({ "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" })).toBe("0;url=/dimsync/accounts/x");
    expect(await refresh({ "sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate" })).toBeUndefined();
    expect(await refresh({})).toBeUndefined();
  });
});

describe("the cookie", () => {
  const signedIn = async (members: Parameters<typeof started>[0] = {}, headers: Asking["headers"] = {}): Promise<string> =>
    cookieOf(await post(await started({ token, ...members }), "/login", { token }, headers));

  test("is only for this site and path, not for scripts, and has no part of the token", async () => {
    const cookie = await signedIn();
    expect(cookie).toMatch(/^dimsync_session=\d+\.[\w-]{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Strict$/u);
    for (let index = 0; index < token.length - 5; index++) expect(cookie).not.toContain(token.slice(index, index + 6));
    expect(await signedIn({ base: "/dimsync" })).toContain("; Path=/dimsync; ");
  });

  test.each<[string, Parameters<typeof started>[0], Asking["headers"], boolean]>([
    ["over http", {}, {}, false],
    ["behind a proxy that ends https", {}, { "x-forwarded-proto": "https" }, true],
    ["with a public URL of https", { isHttps: true }, {}, true],
  ])("%s, is Secure: %s", async (_, members, headers, isSecure) => {
    expect((await signedIn(members, headers)).endsWith("; Secure")).toBe(isSecure);
  });

  test("ends after seven days, with another token, and if someone changes it", () => {
    const cookie = pairOf(sessionCookie(token, now, { base: "", isSecure: false }));
    const [, end = "", signature = ""] = /=(\d+)\.(.*)$/u.exec(cookie) ?? [];
    expect(hasSession(token, cookie, later(7 * day - minute))).toBe(true);
    expect(hasSession(token, `theme=dark; ${cookie}; x=y`, now)).toBe(true);
    expect(hasSession(token, `dimsync_session=1.x; ${cookie}`, now)).toBe(true);
    expect(hasSession(token, cookie, later(7 * day))).toBe(false);
    expect(hasSession(`${token}0`, cookie, now)).toBe(false);
    for (const other of [
      undefined,
      "",
      "dimsync_session=",
      `x${cookie}`,
      `dimsync_session=${Number(end) + 1}.${signature}`,
      `dimsync_session=0${end}.${signature}`,
      `dimsync_session=${end}.${signature}x`,
      `dimsync_session=${end}.${signature.slice(1)}A`,
    ])
      expect([other, hasSession(token, other, now)]).toEqual([other, false]);
  });

  test("is deleted by Sign out, which only who is signed in sees", async () => {
    const page = await started({ token, base: "/dimsync" });
    const cookie = pairOf(await signedIn());
    expect((await ask(page, "/", { headers: { cookie } })).text).toContain('<form method="post" action="/dimsync/logout">');
    expect((await ask(page, "/", { headers: { authorization: `Bearer ${token}` } })).text).not.toContain("logout");
    const out = await post(page, "/dimsync/logout", {}, { cookie });
    expect([out.status, out.headers["location"]]).toEqual([303, "/dimsync/login"]);
    expect(cookieOf(out)).toBe("dimsync_session=; Path=/dimsync; Max-Age=0; HttpOnly; SameSite=Strict");
  });

  test("reads everything and writes nothing", async () => {
    const page = await started({ token });
    const headers = { cookie: pairOf(await signedIn()) };
    for (const path of ["/", "/api/v1/accounts", "/metrics"]) {
      expect([path, (await ask(page, path, { headers })).status]).toEqual([path, 200]);
      for (const method of ["POST", "PUT", "PATCH", "DELETE"]) expect((await ask(page, path, { method, headers })).status).toBe(405);
    }
    for (const method of ["PUT", "DELETE"]) expect((await ask(page, "/login", { method })).status).toBe(405);
  });
});

describe("a form that should not be accepted:", () => {
  test.each(["cross-site", "same-site", "none"])("one with Sec-Fetch-Site: %s", async (site) => {
    const page = await started({ token });
    for (const path of ["/login", "/logout"]) {
      const reply = await post(page, path, { token }, { "sec-fetch-site": site });
      expect([reply.status, reply.headers["set-cookie"]]).toEqual([403, undefined]);
    }
    expect((await post(page, "/login", { token }, { "sec-fetch-site": "same-origin" })).status).toBe(303);
  });

  test("a long one", async () => {
    const page = await started({ token });
    expect((await post(page, "/login", { token: "x".repeat(9_000) })).status).toBe(413);
    expect((await ask(page, "/login", { method: "POST", body: "token=x", headers: { "transfer-encoding": "chunked" } })).status).toBe(413);
  });
});

describe("an address that sent ten wrong tokens within a minute", () => {
  const bearer = (given: string) => ({ headers: { authorization: `Bearer ${given}` } });
  const wrongForm = async (page: StatusPage) => (await post(page, "/login", { token: "wrong" })).status;
  const wrongBearer = (path: string) => async (page: StatusPage) => (await ask(page, path, bearer("wrong"))).status;

  test.each([
    ["in the form", wrongForm],
    ["for the page", wrongBearer("/")],
    ["for the API", wrongBearer("/api/v1/accounts")],
    ["for the metrics", wrongBearer("/metrics")],
  ])("%s gets 429 for other wrong tokens until the minute ends, and answers for the right token, in the form too", async (_, attempt) => {
    let time = now;
    const page = await started({ token, now: () => time });
    for (let tries = 0; tries < 10; tries++) expect(await attempt(page)).toBe(401);
    for (const reply of [
      await post(page, "/login", { token: "wrong" }),
      await ask(page, "/", bearer("wrong")),
      await ask(page, "/api/v1/accounts", bearer(`${token}x`)),
      await ask(page, "/metrics", bearer("wrong")),
    ])
      expect([reply.status, reply.headers["retry-after"]]).toEqual([429, "60"]);
    expect([(await ask(page, "/metrics", bearer(token))).status, (await post(page, "/login", { token })).status]).toEqual([200, 303]);
    // Nobody guesses there: a person without a session gets the form, and probes get their answer.
    expect([(await ask(page, "/")).status, (await ask(page, "/healthz")).status]).toEqual([401, 200]);
    time = later(minute);
    expect(await attempt(page)).toBe(401);
    expect((await post(page, "/login", { token })).status).toBe(303);
  });

  test("is not counted for other addresses", () => {
    const refuse = refuseTokens();
    for (let tries = 0; tries < 10; tries++) refuse("a", now);
    expect([refuse("a", now), refuse("b", now), refuse("a", later(minute))]).toEqual(["blocked", "unauthorized", "unauthorized"]);
  });
});

test.each([
  ["/", "/"],
  ["/accounts/a%2Fb?page=2", "/accounts/a%2Fb?page=2"],
  ["/a/../b", "/b"],
  ["//evil.example.com", "/"],
  ["/\\evil.example.com", "/"],
  ["/..//evil.example.com", "/"],
  ["/.//evil.example.com", "/"],
  ["/\t/evil.example.com", "/"],
  ["/x\r\nset-cookie: a=b", "/"],
  ["https://evil.example.com/", "/"],
  ["javascript:alert(1)", "/"],
  ["evil", "/"],
  ["", "/"],
  [`/${"x".repeat(3_000)}`, "/"],
])("after signing in, %j leads to %s", async (next, expected) => {
  expect(pathWithin(next)).toBe(expected);
  expect((await post(await started({ token }), "/login", { token, next })).headers["location"]).toBe(expected);
});
