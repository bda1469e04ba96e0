import { expect, test } from "vitest";
import { basePath, basePathOf, requestBase, withoutBase } from "../../../../src/features/controller/page/base-path.ts";
import { ask, started } from "./ask.ts";
import { bundle, run } from "./world.ts";

test.each([
  ["/dimsync", "/dimsync"],
  ["/data/dimsync/", "/data/dimsync"],
  ["/a.b~c_d-e", "/a.b~c_d-e"],
  ["/", ""],
])("--base-path %s", (text, path) => {
  expect(basePath(text)).toBe(path);
});

test.each([
  "",
  "dimsync",
  "//evil.example.com",
  "/\\evil.example.com",
  "/a//b",
  "/..",
  "/a/../b",
  "/a?b",
  "/a#b",
  "/a b",
  '/"><script>',
  "https://x/",
])("--base-path %j is refused", (text) => {
  expect(() => basePath(text)).toThrow(
    `Invalid --base-path ${JSON.stringify(text)}. Use a path of the status page's URL, such as /dimsync.`,
  );
  if (text !== "") expect(basePathOf(text)).toBeUndefined();
});

test.each([
  ["/dimsync/accounts/x", "/accounts/x"],
  ["/dimsync", "/"],
  ["/dimsync/", "/"],
  ["/accounts/x", "/accounts/x"],
  ["/dimsyncs", "/dimsyncs"],
])("below /dimsync, %s is %s", (path, expected) => {
  expect(withoutBase(path, "/dimsync")).toBe(expected);
});

test.each<[string, string | undefined, string | undefined, string]>([
  ["is used behind a proxy that is trusted", "/proxied/", "X-User", "/proxied"],
  ["is ignored otherwise", "/proxied", undefined, "/flag"],
  ["is ignored if it leads elsewhere", "//evil.example.com", "X-User", "/flag"],
  ["can be absent", undefined, "X-User", "/flag"],
])("X-Forwarded-Prefix %s", (_, prefix, trustProxyHeader, expected) => {
  expect(requestBase(prefix === undefined ? {} : { "x-forwarded-prefix": prefix }, { base: "/flag", trustProxyHeader })).toBe(expected);
});

test("every link is below the base, whether the proxy removes it or not", async () => {
  const page = await started({ base: "/dimsync" });
  expect(page.url).toMatch(/:\d+\/dimsync$/u);
  for (const path of ["/", "/?name=shop", "/accounts/shop-eu-west-000", `/runs/${run.id}`, `/bundles/${bundle.digest}`, "/nothing"]) {
    const { text, status } = await ask(page, `/dimsync${path}`);
    expect([path, status]).toEqual([path, path === "/nothing" ? 404 : 200]);
    const links = [...text.matchAll(/ (?:href|action)="([^"]*)"/gu)].map(([, link = ""]) => link);
    expect(links.filter((link) => !/^(?:\/dimsync\/|#|https:)/u.test(link))).toEqual([]);
    expect(links.some((link) => link.startsWith("/dimsync/"))).toBe(true);
    expect((await ask(page, path)).text).toBe(text);
  }
  const behind = await started({ trustProxyHeader: "X-User" });
  const { text } = await ask(behind, "/", { headers: { "x-user": "dana", "x-forwarded-prefix": "/team/dimsync" } });
  expect(text).toContain('href="/team/dimsync/accounts/shop-eu-west-000"');
  expect(text).toContain('action="/team/dimsync/#accounts"');
});

test("OpenAPI and the next part of a list are below the base", async () => {
  const page = await started({ base: "/dimsync" });
  expect(JSON.parse((await ask(page, "/dimsync/api/v1/openapi.json")).text).servers).toEqual([{ url: "/dimsync" }]);
  expect((await ask(page, "/dimsync/api/v1/accounts?limit=1")).headers["link"]).toBe(
    '</dimsync/api/v1/accounts?limit=1&offset=1>; rel="next"',
  );
});

test("the base is not a way around the token", async () => {
  const page = await started({ base: "/dimsync", token: "0123456789abcdef0123456789abcdef" });
  for (const path of ["/dimsync", "/dimsync/healthz/../accounts/x", "/dimsync/dimsync/healthz", "/dimsync/metrics", "//metrics"])
    expect([path, (await ask(page, path)).status]).toEqual([path, 401]);
  expect((await ask(page, "/dimsync/healthz")).status).toBe(200);
});
