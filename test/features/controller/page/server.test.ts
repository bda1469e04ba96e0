import { createHash } from "node:crypto";
import { connect } from "node:net";
import { describe, expect, test, vi } from "vitest";
import { DimsyncError } from "../../../../src/core/model/errors.ts";
import { startPage } from "../../../../src/features/controller/page/server.ts";
import { ask, started } from "./ask.ts";
import { accountsOf, bundle, run, worldOf } from "./world.ts";

const token = "0123456789abcdef0123456789abcdef";
const pages = ["/", "/accounts/shop-eu-west-000", `/runs/${run.id}`, `/bundles/${bundle.digest}`];
const apis = [
  "/api/v1/accounts",
  "/api/v1/accounts/shop-eu-west-000",
  "/api/v1/runs?account=shop-eu-west-000",
  `/api/v1/runs/${run.id}`,
  `/api/v1/bundles/${bundle.digest}`,
  "/api/v1/findings",
  "/api/v1/closed",
  "/api/v1/openapi.json",
  "/metrics",
];

test.each([...pages, ...apis, "/nothing"])("%s needs the token", async (path) => {
  const page = await started({ token });
  const refused = await ask(page, path);
  expect(refused.status).toBe(401);
  expect(refused.headers["www-authenticate"]).toBe('Bearer realm="dimsync controller"');
  // The form only repeats the address that was asked for.
  expect(refused.text.replaceAll(path, "")).not.toContain("shop-");
  expect((await ask(page, path, { headers: { authorization: `Bearer ${token}` } })).status).toBe(path === "/nothing" ? 404 : 200);
});

test.each(["/healthz", "/readyz"])("%s needs no token and shows nothing", async (path) => {
  expect(await ask(await started({ token }), path)).toMatchObject({ status: 200, text: "ok\n" });
});

test("readyz fails without the database, and its details are not shown", async () => {
  const reads = worldOf([], { ready: () => Promise.reject(new DimsyncError("E_CONTROLLER_DATABASE", "postgres://user:hunter2@db")) });
  expect(await ask(await started({ reads }), "/readyz")).toMatchObject({ status: 503, text: "not ready: E_CONTROLLER_DATABASE\n" });
});

describe("nothing can be written", () => {
  test.each(["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])("%s gets 405", async (method) => {
    const page = await started();
    for (const path of [...pages, ...apis, "/healthz"]) {
      const { status, headers } = await ask(page, path, { method });
      expect([path, status, headers["allow"], headers["connection"]]).toEqual([path, 405, "GET, HEAD", "close"]);
    }
  });

  test("and the HTML has a form only for the filter, which uses GET", async () => {
    const page = await started();
    for (const path of pages) {
      const { text } = await ask(page, path);
      expect([...text.matchAll(/<form method="(\w+)"/gu)].map(([, method]) => method)).toEqual(path === "/" ? ["get"] : []);
    }
  });
});

test("HEAD gets the headers of GET without a body", async () => {
  const page = await started();
  for (const path of ["/", "/api/v1/accounts"]) {
    const [head, get] = await Promise.all([ask(page, path, { method: "HEAD" }), ask(page, path)]);
    expect(head.text).toBe("");
    expect(head.headers["content-length"]).toBe(String(Buffer.byteLength(get.text)));
    expect(head.headers["etag"]).toBe(get.headers["etag"]);
  }
});

describe("limits", () => {
  test("a request with a body is refused", async () => {
    const page = await started();
    expect((await ask(page, "/", { body: "x", headers: { "content-length": "1" } })).status).toBe(413);
    expect((await ask(page, "/api/v1/accounts", { body: "x", headers: { "transfer-encoding": "chunked" } })).type).toBe(
      "application/problem+json",
    );
  });

  test("headers and addresses of more than 16 KiB are refused", async () => {
    const page = await started();
    expect((await ask(page, "/", { headers: { "x-large": "a".repeat(17 * 1024) } })).status).toBe(431);
    expect((await ask(page, `/accounts/${"a".repeat(17 * 1024)}`)).status).toBe(431);
  });

  test("a text that is not HTTP gets 400, and the page continues", async () => {
    const page = await started();
    const text = await new Promise<string>((resolve) => {
      let received = "";
      const socket = connect(page.port, "127.0.0.1", () => socket.write("\u0016\u0003\u0001 hello\r\n\r\n"));
      socket.on("data", (chunk) => {
        received += chunk.toString();
      });
      socket.on("close", () => resolve(received));
    });
    expect(text).toMatch(/^HTTP\/1\.1 400 /u);
    expect((await ask(page, "/healthz")).status).toBe(200);
  });
});

describe("a page of another origin", () => {
  test("cannot read it through a name that resolves to 127.0.0.1", async () => {
    const page = await started();
    for (const path of [...pages, ...apis]) {
      const { status, text } = await ask(page, path, { headers: { host: "rebound.example.com" } });
      expect([path, status, text.includes("shop-")]).toEqual([path, 421, false]);
    }
  });

  test("cannot embed or read it", async () => {
    const page = await started();
    for (const path of [...pages, ...apis]) {
      const { headers } = await ask(page, path);
      expect(headers).toMatchObject({
        "cross-origin-resource-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "no-referrer",
      });
      expect(Object.keys(headers).filter((name) => /^(?:access-control|set-cookie)/u.test(name))).toEqual([]);
    }
  });
});

test("the policy allows only the style and the script of the page, by their hashes", async () => {
  const page = await started();
  for (const path of [...pages, "/nothing"]) {
    const { text, headers } = await ask(page, path);
    const hashes = (pattern: RegExp): readonly string[] =>
      [...text.matchAll(pattern)].map(([, content = ""]) => `'sha256-${createHash("sha256").update(content).digest("base64")}'`);
    const [style] = hashes(/<style>(.*?)<\/style>/gsu);
    const [script] = hashes(/<script>(.*?)<\/script>/gsu);
    const scripts = script === undefined ? "" : ` script-src ${script}; connect-src 'self';`;
    expect(headers["content-security-policy"]).toBe(
      `default-src 'none'; style-src ${style};${scripts} base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
    );
    expect(text).not.toMatch(/ on\w+="| style="|<script src|<link /u);
  }
});

describe("caching", () => {
  test.each([...pages, ...apis.slice(0, -2)])("%s is not stored, and gets 304 for its own ETag", async (path) => {
    const page = await started();
    const { headers } = await ask(page, path);
    expect(headers["cache-control"]).toBe("no-store");
    const etag = String(headers["etag"]);
    expect(await ask(page, path, { headers: { "if-none-match": `"other", ${etag}` } })).toMatchObject({ status: 304, text: "" });
    expect((await ask(page, path, { headers: { "if-none-match": '"other"' } })).status).toBe(200);
  });
});

describe("a failure", () => {
  const reads = worldOf(accountsOf(3), {
    accounts: () => Promise.reject(new Error("password authentication failed for postgres://u:hunter2@db")),
  });

  test("of the database is 503 without details, as a page and as JSON, and is reported", async () => {
    const onError = vi.fn();
    const page = await started({ reads, onError });
    const [html, json] = await Promise.all([ask(page, "/"), ask(page, "/api/v1/accounts")]);
    expect([html.status, html.type, html.headers["retry-after"]]).toEqual([503, "text/html; charset=utf-8", "15"]);
    expect(html.text).toContain("The controller could not read its database.");
    expect(JSON.parse(json.text)).toMatchObject({ status: 503, title: "State not available" });
    expect(html.text + json.text).not.toContain("hunter2");
    expect(onError).toHaveBeenCalledTimes(2);
  });

  test("to listen names the address and the flag", async () => {
    const { port } = await started();
    const options = { reads, host: "127.0.0.1", port };
    await expect(startPage(options)).rejects.toThrow(`cannot listen on 127.0.0.1:${port}`);
    await expect(startPage(options)).rejects.toThrow("Use another --listen.");
  });
});

test("close ends connections that are open", async () => {
  const page = await startPage({ reads: worldOf([]), host: "127.0.0.1", port: 0 });
  const socket = connect(page.port, "127.0.0.1");
  await new Promise((resolve) => socket.once("connect", resolve));
  const ended = new Promise((resolve) => socket.once("close", resolve));
  socket.on("error", () => undefined);
  await page.close();
  await ended;
});
