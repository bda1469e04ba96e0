import { expect, test } from "vitest";
import { Secret } from "../../src/model/secret.ts";
import { type Format, renderers } from "../../src/render/index.ts";
import { change, item, plan } from "./plans.ts";

const withValue = (path: string, after: never) =>
  plan({ items: [item({ changes: [change({ path, after })] })], deferred: [{ address: "A/a", waitsFor: [], desired: { wish: after } }] });

const references: readonly (readonly [reference: object, shown: string])[] = [
  [{ $secret: { env: "DB_PASSWORD" } }, "(secret env:DB_PASSWORD)"],
  [{ $secret: { file: "/run/secrets/key.p8", pointer: "/key" } }, "(secret file:/run/secrets/key.p8)"],
  [{ $secret: { exec: ["vault", "read", "kv"] } }, "(secret exec:vault)"],
];

test.each(references)("%j is shown as where it comes from", (reference, shown) => {
  for (const format of ["human", "markdown"] as const) {
    for (const path of ["/connection/password", "/connection"]) {
      const value = path === "/connection" ? { password: reference, port: 1 } : reference;
      // A reference is JSON; `never` spares naming every shape of it.
      const text = renderers[format](withValue(path, value as never), { color: false, verbose: true });
      expect(text.replaceAll("&#58;", ":").replaceAll("&#95;", "_")).toContain(shown);
      expect(text).not.toContain("$secret");
    }
  }
});

test("where a secret comes from is not cut, however narrow the terminal", () => {
  const reference = { $secret: { file: "/run/secrets/a-rather-long-name-of-a-key-file.p8" } };
  const text = renderers.human(
    plan({ items: [item({ changes: [change({ path: "/connection/private_key", before: "x".repeat(90), after: reference })] })] }),
    { color: false, verbose: false, width: 40 },
  );
  expect(text.replaceAll(/\s+/gu, " ")).toContain("(secret file:/run/secrets/a-rather-long-name-of-a-key-file.p8)");
});

test.each<Format>(["human", "markdown"])("a literal under a secret's name is not shown in %s, at any depth", (format) => {
  const value = { password: "canary-1", list: [{ api_key: ["canary-2"] }], port: 5432 };
  for (const path of ["/connection", "/connection/client_token"]) {
    const after = path === "/connection" ? value : "canary-3";
    const text = renderers[format](withValue(path, after as never), { color: false, verbose: true });
    expect(text).toContain("(secret)");
    expect(text.replaceAll(`wish: ${after}`, "")).not.toMatch(/canary/u);
  }
});

test("a resolved secret that strays into a document is not written by any format", () => {
  const stray = new Secret("canary") as never;
  for (const format of ["human", "json", "markdown"] as const) {
    expect(renderers[format](withValue("/connection/port", stray), { color: false, verbose: true })).not.toContain("canary");
  }
});
